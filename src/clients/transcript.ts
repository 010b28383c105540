import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import type { ClientName } from './conversation.ts';
import type { TranscriptEntry } from './reconstruction.ts';

/** One conversation as its client left it. */
export interface Transcript {
  client: ClientName;
  /** The client's own id of the conversation. */
  id: string;
  path: string;
  writtenMs: number;
}

/** Which transcripts are looked for. */
export interface Wanted {
  /** The folder of the workspace; null for any. */
  folder: string | null;
  /** The client's id of a conversation; null for all. */
  id: string | null;
}

/** The part of a database that readers need; where it comes from is the caller's business. */
export interface ReadDatabase {
  all(sql: string, ...values: (string | number | null)[]): unknown[];
  iterate(sql: string, ...values: (string | number | null)[]): Iterable<unknown>;
  close(): void;
}
export type OpenDatabase = (file: string) => ReadDatabase;

/** What a subagent of a conversation left: a file of its own. */
export interface SubagentTranscript extends Transcript {
  subagent: { id: string; type: string | null };
}

/** What is known of one client's transcripts. Nothing here throws on what a file says. */
export interface TranscriptClient {
  /** The files of the subagents of a conversation, for clients that keep them apart. */
  subagents?(transcript: Transcript): SubagentTranscript[];
  find(home: string, wanted: Wanted, open: OpenDatabase): Transcript[];
  read(transcript: Transcript | SubagentTranscript, open: OpenDatabase): Iterable<TranscriptEntry>;
  /** Whether a file that somebody names, with this beginning, is one of its transcripts. */
  recognises(path: string, head: string): boolean;
}

/** Whether a folder that a client names is the workspace or lies in it. */
export function isWithin(folder: string, path: string | null): boolean {
  if (path === null || !isAbsolute(path)) return false;
  return [folder, realOf(folder)].some((root) => [path, realOf(path)].some((one) => isBelow(root, one)));
}

function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside === '' || (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside));
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The spellings of a folder that a client may have been started in. */
export function spellingsOf(folder: string): string[] {
  return [...new Set([folder, realOf(folder)])];
}

/** The names in a folder, those of folders or of files; none when it is not there. */
export function namesIn(folder: string, kind: 'file' | 'folder'): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => (kind === 'file' ? entry.isFile() : entry.isDirectory()))
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

export function transcriptAt(client: ClientName, id: string, path: string): Transcript | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? { client, id, path, writtenMs: found.mtimeMs } : null;
}

/** The files of a folder as transcripts whose id is the name of the file. */
export function transcriptsIn(client: ClientName, folder: string, ending: string): Transcript[] {
  return namesIn(folder, 'file')
    .filter((name) => name.endsWith(ending))
    .flatMap((name) => transcriptAt(client, basename(name, ending), join(folder, name)) ?? []);
}

/** Folders that several clients name after the path of the project, each in its own way. */
export function projectFolders(parent: string, folder: string | null, nameOf: (path: string) => string): string[] {
  const names = namesIn(parent, 'folder');
  if (folder === null) return names.map((name) => join(parent, name));
  const wanted = spellingsOf(folder).map((path) => nameOf(path));
  // A client that was started further down has a name that begins like this one's; where it was is in the transcript.
  const isOurs = (name: string): boolean =>
    wanted.some((one) => name === one || name.startsWith(`${one}-`) || name.startsWith(one.slice(0, 190).padEnd(190)));
  return names.filter(isOurs).map((name) => join(parent, name));
}

/** A time that a client wrote as a number or as text. */
export function timeOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  const ms = value < 1e11 ? value * 1000 : value;
  return ms > 0 && ms < 253402300799000 ? new Date(ms).toISOString() : null;
}
