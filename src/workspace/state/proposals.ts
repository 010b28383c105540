import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../core/sha256.ts';
import { parseStoreAddress } from '../../core/store-address.ts';
import type { CaptureConfig, WorkspaceConfig } from './workspace-settings.ts';

/** The settings that a team proposes in the tracked file `holdfast.json`. They are in force after `holdfast trust` only. */
export interface Proposals {
  /** SHA-256 of the bytes. */
  hash: string;
  settings: WorkspaceConfig;
  /** Keys that are not known here; they are shown and ignored. */
  unknown: string[];
  /** Why the file cannot be agreed to. */
  problem: string | null;
}

export const PROPOSALS_FILE = 'holdfast.json';
const LIMIT_BYTES = 64 * 1024;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Read once: the same bytes are hashed, shown and kept. Null when there is no such file; a link is none. */
export function readProposals(tree: string): Proposals | null {
  const text = readOnce(join(tree, PROPOSALS_FILE));
  if (text === null) return null;
  const hash = sha256(text);
  try {
    const { settings, unknown } = parse(text);
    return { hash, settings, unknown, problem: null };
  } catch (thrown) {
    return { hash, settings: {}, unknown: [], problem: (thrown as Error).message };
  }
}

function readOnce(file: string): string | null {
  let handle: number;
  try {
    handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const found = fstatSync(handle);
    return found.isFile() && found.size <= LIMIT_BYTES ? readFileSync(handle, 'utf8') : null;
  } finally {
    closeSync(handle);
  }
}

function parse(text: string): { settings: WorkspaceConfig; unknown: string[] } {
  const found = JSON.parse(text) as unknown;
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw new Error('it is not a JSON object');
  const { store, notify, capture, ...others } = found as Record<string, unknown>;
  return {
    settings: {
      ...(store === undefined ? {} : { store: storeOf(store) }),
      ...(notify === undefined ? {} : { notify: notifyOf(notify) }),
      ...(capture === undefined ? {} : { capture: captureOf(capture) }),
    },
    unknown: Object.keys(others).slice(0, 50),
  };
}

/** Credentials do not belong into a file that everyone who has the repository can read. */
function storeOf(value: unknown): string {
  if (typeof value !== 'string' || !/^postgres(ql)?:\/\/[^\s]+$/.test(value)) {
    throw new Error('`store` must be the address of a PostgreSQL database');
  }
  for (const { hostname, password, searchParams } of parseStoreAddress(value).each) {
    if (hostname === '') throw new Error('`store` must name a host');
    if (password !== '' || searchParams.has('password')) throw new Error('`store` must not contain a password');
  }
  return value;
}

function notifyOf(value: unknown): string | string[] {
  if (typeof value === 'string' && /^https?:\/\/[^\s]+$/.test(value)) return value;
  if (isWords(value) && value.length > 0) return value;
  throw new Error('`notify` must be an address, or a program with its arguments as a list');
}

/** A proposal can only leave more out; it cannot switch recording off, nor weaken redaction. */
function captureOf(value: unknown): CaptureConfig {
  const { ignorePaths = [], ignoreCommands = [], ...others } = (value ?? {}) as Record<string, unknown>;
  if (!isWords(ignorePaths) || !isWords(ignoreCommands) || Object.keys(others).length > 0) {
    throw new Error('`capture` takes the lists `ignorePaths` and `ignoreCommands`, and nothing else');
  }
  return { ignorePaths, ignoreCommands };
}

const isWords = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((word) => typeof word === 'string' && word.length <= 1000);
