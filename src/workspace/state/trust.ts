import type { ClonePlace } from '../clone.ts';
import type { OwnFiles } from '../own-files.ts';
import type { Proposals } from './proposals.ts';
import type { WorkspaceConfig } from './workspace-settings.ts';

/** What a person agreed to for one clone, kept in the state folder. */
export interface Trust {
  clone: string;
  place: ClonePlace;
  /** Of the bytes of `holdfast.json`; null when there was none: then only runs of other clones were agreed to. */
  hash: string | null;
  /** A copy: the file itself is never used. */
  settings: WorkspaceConfig;
  at: string;
  by: string;
  evidence: string;
}

/** Whether the settings in `holdfast.json` are in force here. */
export type TrustState = 'nothing' | 'new' | 'changed' | 'trusted';

const FOLDER = 'trust';
const fileOf = (clone: string): string => `${FOLDER}/${clone}.json`;

/** The id of a clone stands in a file that an agent may write, so the place must match too. */
export function readTrust(state: OwnFiles | null, clone: string, here: ClonePlace): Trust | null {
  const trust = state && parse(state.read(fileOf(clone)));
  return trust && (trust.place.path === here.path || trust.place.inode === here.inode) ? trust : null;
}

export function stateOfTrust(proposals: Proposals | null, trust: Trust | null): TrustState {
  if (proposals === null) return trust?.hash ? 'changed' : 'nothing';
  if (trust?.hash === proposals.hash) return 'trusted';
  return trust?.hash ? 'changed' : 'new';
}

export function listTrust(state: OwnFiles): Trust[] {
  return state.list(FOLDER).flatMap((name) => parse(state.read(`${FOLDER}/${name}`)) ?? []);
}

export function saveTrust(state: OwnFiles, trust: Trust): void {
  state.replace(fileOf(trust.clone), `${JSON.stringify(trust, null, 2)}\n`);
}

export const revokeTrust = (state: OwnFiles, clone: string): boolean => state.remove(fileOf(clone));

function parse(text: string | null): Trust | null {
  try {
    const found = JSON.parse(text ?? 'null') as Partial<Trust> | null;
    if (typeof found?.clone !== 'string' || typeof found.place?.path !== 'string') return null;
    return { ...(found as Trust), settings: found.settings ?? {}, hash: found.hash ?? null };
  } catch {
    return null;
  }
}
