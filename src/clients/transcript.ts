import { basename, isAbsolute, join, relative, sep } from 'node:path';
import type { JsonObject } from './json-value.ts';
import type { TranscriptEntry } from './reconstruction.ts';

/** One conversation as its client left it. */
export interface Transcript {
  /** The client's name in the list of clients. */
  client: string;
  /** The client's own id of the conversation. */
  id: string;
  path: string;
  writtenMs: number;
}

/** A conversation and the folder it is about. */
export interface LocatedTranscript extends Transcript {
  folder: string | null;
}

/** A subagent of a conversation that has a file of its own. */
export interface SubagentTranscript extends Transcript {
  subagent: { id: string; type: string | null };
}

/** Which transcripts are wanted. */
export interface Wanted {
  /** The folder of the workspace; null for any. */
  folder: string | null;
  /** The client's id of a conversation; null for all. */
  id: string | null;
}

/** The files that transcripts are in. Nothing here throws but `openDatabase`: what cannot be read is empty or null. */
export interface TranscriptFiles {
  /** The names of the files or the folders in a folder. */
  namesIn(folder: string, kind: 'file' | 'folder'): string[];
  /** When a file was last written; null unless it is a regular file. */
  writtenMs(path: string): number | null;
  /** The path without links; the path itself where that is not known. */
  realPath(path: string): string;
  /** The first bytes of a file as text. */
  readHead(path: string, limitBytes?: number): string;
  /** The objects of a file with one JSON value a line, one line in memory at a time. */
  readEntries(path: string, isSkipped?: (text: string) => boolean): Iterable<EntryLine>;
  /** A file that is one JSON object. */
  readDocument(path: string): JsonObject | null;
  openDatabase(path: string): ReadDatabase;
  /** Cursor names folders by it. */
  md5(text: string): string;
}

/** A line of a transcript that is an object, or why it is not one. */
export type EntryLine =
  | { line: number; entry: JsonObject; problem?: never }
  | { line: number; entry?: never; problem: string };

/** The part of a database that readers need. */
export interface ReadDatabase {
  all(sql: string, ...values: (string | number | null)[]): unknown[];
  iterate(sql: string, ...values: (string | number | null)[]): Iterable<unknown>;
  close(): void;
}

/** One client's transcripts. Nothing here throws because of what a file contains. */
export interface ClientTranscript {
  /** The folder in which the client keeps its own files. */
  home(environment: Readonly<Record<string, string | undefined>>, userHome: string): string;
  find(home: string, wanted: Wanted, files: TranscriptFiles): Transcript[];
  read(transcript: Transcript | SubagentTranscript, files: TranscriptFiles): Iterable<TranscriptEntry>;
  /** The files of the subagents of a conversation, for clients that keep them apart. */
  subagents?(transcript: Transcript, files: TranscriptFiles): SubagentTranscript[];
  /** Whether a file that a user names, with this beginning, is one of its transcripts. */
  recognises(path: string, head: string): boolean;
  /** Files are offered to the client with the highest value first: the forms of several clients overlap. */
  specificity: number;
  /** The id of the conversation in a file that a user names; by default its `sessionId`, else the name of the file. */
  idIn?(path: string, head: string): string | null;
  /** The conversations in a file that holds several; null for one that does not. */
  conversationsIn?(path: string, files: TranscriptFiles): LocatedTranscript[] | null;
}

/** Whether a folder that a client names is the workspace or inside it. */
export function isWithin(files: TranscriptFiles, folder: string, path: string | null): boolean {
  if (path === null || !isAbsolute(path)) return false;
  return [folder, files.realPath(folder)].some((root) =>
    [path, files.realPath(path)].some((one) => isBelow(root, one)),
  );
}

function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside === '' || (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside));
}

/** The spellings of a folder that a client may have been started in. */
export function spellingsOf(files: TranscriptFiles, folder: string): string[] {
  return [...new Set([folder, files.realPath(folder)])];
}

export function transcriptAt(files: TranscriptFiles, client: string, id: string, path: string): Transcript | null {
  const writtenMs = files.writtenMs(path);
  return writtenMs === null ? null : { client, id, path, writtenMs };
}

/** The files of a folder as transcripts whose id is the name of the file. */
export function transcriptsIn(files: TranscriptFiles, client: string, folder: string, ending: string): Transcript[] {
  return files
    .namesIn(folder, 'file')
    .filter((name) => name.endsWith(ending))
    .flatMap((name) => transcriptAt(files, client, basename(name, ending), join(folder, name)) ?? []);
}

/** Folders that several clients name after the path of the project. */
export function projectFolders(
  files: TranscriptFiles,
  parent: string,
  folder: string | null,
  nameOf: (path: string) => string = projectName,
): string[] {
  const names = files.namesIn(parent, 'folder');
  if (folder === null) return names.map((name) => join(parent, name));
  const wanted = spellingsOf(files, folder).map(nameOf);
  // The name of a subfolder starts with that of its parent; the transcript has the exact folder.
  const isOurs = (name: string): boolean =>
    wanted.some((one) => name === one || name.startsWith(`${one}-`) || name.startsWith(one.slice(0, 190).padEnd(190)));
  return names.filter(isOurs).map((name) => join(parent, name));
}

/** The transcripts in the folders of projects, which hold the folder of the conversation as `cwd`. */
export function findInProjects(
  files: TranscriptFiles,
  client: string,
  home: string,
  { folder, id }: Wanted,
  inside = '',
): Transcript[] {
  const found = projectFolders(files, join(home, 'projects'), id === null ? folder : null).flatMap((place) =>
    transcriptsIn(files, client, join(place, inside), '.jsonl'),
  );
  if (id !== null) return found.filter((one) => one.id === id);
  return found.filter(({ path }) => folder === null || isWithin(files, folder, fieldIn(files.readHead(path), 'cwd')));
}

/** The name of a project's folder: its path with dashes for everything but letters and digits. */
export function projectName(path: string): string {
  return path.replace(/[^A-Za-z0-9]/g, '-');
}

/** Reads a file with one entry a line; lines that cannot be read become problems. */
export function* readByLine(
  files: TranscriptFiles,
  path: string,
  entriesOf: (entry: JsonObject) => Iterable<TranscriptEntry>,
  isSkipped?: (text: string) => boolean,
): Generator<TranscriptEntry> {
  for (const { line, entry, problem } of files.readEntries(path, isSkipped)) {
    if (entry) yield* entriesOf(entry);
    else yield { kind: 'problem', line, message: problem };
  }
}

/** The first value of a field in a text of JSON objects, at any depth. */
export function fieldIn(text: string, field: string): string | null {
  const found = new RegExp(`"${field}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(text)?.[1];
  try {
    return found === undefined ? null : (JSON.parse(found) as string);
  } catch {
    return null;
  }
}

/** A time that a client wrote as a number or as text. */
export function timeOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  const ms = value < 1e11 ? value * 1000 : value;
  return ms > 0 && ms < 253402300799000 ? new Date(ms).toISOString() : null;
}
