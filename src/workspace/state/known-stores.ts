import { sha256 } from '../../core/sha256.ts';
import type { OwnFiles } from '../own-files.ts';

/**
 * What this user's machine knows of a journal, kept in the state folder: someone who can write the journal cannot write this.
 * So a journal that went back, or was replaced, is noticed by the next process that uses it.
 */
export interface KnownStore {
  store: string;
  epoch: string;
  /** Where it was used last: a file, or an address without secrets. */
  place: string;
  usedAt: string;
  /** The last known event of each run, those used last at the end. */
  runs: Map<string, KnownHead>;
  /** Known events that are gone, until a person accepts that. */
  lost: LostEvents[];
  /** The journal that was at this place before, until a person accepts that it is gone. */
  before?: FormerStore;
  /** Who accepted the last loss. */
  accepted?: { by: string; evidence: string; at: string };
}

export interface KnownHead {
  version: number;
  hash: string;
  /** When it was recorded. */
  at: string;
  workspace: string;
  /** The clone on this machine that recorded in it last. */
  clone?: string | undefined;
}

export interface LostEvents {
  run: string;
  workspace: string;
  /** As far as is known; more may be gone. */
  first: number;
  last: number;
  /** Of the last one, and when it was recorded. */
  hash: string;
  at: string;
  noticedAt: string;
}

export interface FormerStore {
  store: string;
  runs: string[];
  usedAt: string;
  noticedAt: string;
  /** The new journal has a record of it. */
  isRecorded: boolean;
}

const FOLDER = 'stores';
const RUNS = 200;
const LOST = 200;
const STORES = 10_000;
const LIMIT_BYTES = 1024 * 1024;

const fileOf = (store: string): string => `${FOLDER}/${store}.json`;
const placeFile = (place: string): string => `${FOLDER}/at-${sha256(place).slice(0, 16)}`;

/** Null for a journal that was never used here. */
export function readKnownStore(state: OwnFiles, store: string): KnownStore | null {
  try {
    const found = JSON.parse(state.read(fileOf(store), LIMIT_BYTES) ?? 'null') as Saved | null;
    return found?.store === store ? { ...found, runs: new Map(found.runs) } : null;
  } catch {
    return null;
  }
}

type Saved = Omit<KnownStore, 'runs'> & { runs: [string, KnownHead][] };

/** If it is lost in a crash, less is known, and nothing that is known is wrong: not worth waiting for the disk. */
export function saveKnownStore(state: OwnFiles, known: KnownStore): void {
  const saved: Saved = { ...known, runs: [...known.runs].slice(-RUNS), lost: known.lost.slice(-LOST) };
  state.replace(fileOf(known.store), `${JSON.stringify(saved)}\n`, 'derived');
}

/** The journal that was used last at a place. */
export function storeAt(state: OwnFiles, place: string): string | null {
  const store = state.read(placeFile(place), 100)?.trim();
  return store !== undefined && /^s-[0-9a-f]{12}$/.test(store) ? store : null;
}

export function takePlace(state: OwnFiles, place: string, store: string): void {
  state.replace(placeFile(place), `${store}\n`, 'derived');
}

/** Whether an event was the last known one of a run in a journal that was used here. */
export function isKnownHead(state: OwnFiles, run: string, event: { version: number; hash: string }): boolean {
  const isSame = ({ version, hash }: { version: number; hash: string }): boolean =>
    version === event.version && hash === event.hash;
  return state.list(FOLDER, STORES).some((name) => {
    const known = readKnownStore(state, name.replace(/\.json$/, ''));
    const heads = known ? [known.runs.get(run) ?? [], known.lost.filter((one) => one.run === run)].flat() : [];
    return heads.some((one) => isSame('last' in one ? { version: one.last, hash: one.hash } : one));
  });
}
