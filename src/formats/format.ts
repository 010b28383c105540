import type { GoneRule } from '../core/model/merge.ts';
import type { RunModel } from '../core/model/run-model.ts';

/**
 * Another tool's files. A format reads leniently (every variant found in real repositories) and writes strictly (the
 * newest form for a new file; an existing one is edited in place, in its own variant). Text in, text out: no I/O, no
 * clock.
 *
 * Laws, checked by `format.suite.ts` on every format:
 * - `parse` never throws and never hangs: damage gives problems with line numbers. Time is linear in size.
 * - `parse` reads back everything that `render` can write; `loses` lists what it cannot write.
 * - Rendering a run model over the files it came from changes no byte; rendering twice gives the same bytes.
 * - A change of one field leaves all other bytes alone: keys, sections, order, comments, line ends, BOM.
 */
export interface Format {
  name: FormatName;
  /** Finds this format's runs in a tree by paths, and by content where a name is shared. */
  detect(tree: Tree): Found[];
  parse(found: Found, files: Files): Parsed;
  /** The full text of every file that changes. */
  render(model: RunModel, place: Found, previous: Files, now: string): Files;
  /** The location of a new file by the format's convention, which may depend on the folders that exist. */
  home(model: RunModel, isThere?: (folder: string) => boolean, folders?: boolean): Found;
  /** It also has a form with a file for each entry. */
  hasFolders?: true;
  /** Its tool knows one unfinished run at a time. */
  oneAtATime?: true;
  /**
   * What the format cannot hold, as paths into a run model (`losses.ts`): `messages`, `steps.wave`,
   * `items[kind=error]`.
   */
  loses: readonly string[];
  /** The paths it may write, as patterns (`declared-paths.ts`). Nothing else is written in its name. */
  writes: readonly string[];
  /** Where its document asks for a copy of the last state file; other backups are kept in the data folder. */
  backupOf?(main: string): string;
  /** What it means when someone removes an entry from a file. */
  gone: GoneRule;
  /** Where its users move a finished file of this text; null where there is no such convention. */
  archivedAs?(main: string, text: string): string | null;
  /** Why no step may be worked on beside a file of this text; null if it may. */
  noWork?(text: string): string | null;
  /** Repairs a run model from the files around a damaged one; null when there is nothing. */
  repair(found: Found, tree: Tree): Repaired | null;
}

export type FormatName = 'apex' | 'snap' | 'codewalk' | 'gsd' | 'maestro';

/** Files by path, relative to the tree's root with forward slashes, as text. A byte order mark is kept in it. */
export type Files = ReadonlyMap<string, string>;

export interface Tree {
  /** All files that could matter, relative paths with forward slashes, sorted. */
  paths: readonly string[];
  /** The text of a file, or null if it is missing or not UTF-8. */
  read(path: string): string | null;
}

/** The files of one run. */
export interface Found {
  format: FormatName;
  /** The file that holds the state; it identifies the run. */
  main: string;
  /** All files to read, `main` included. */
  files: readonly string[];
}

export interface Parsed {
  /** Null when nothing could be read. */
  model: RunModel | null;
  /** The variant, as the format names it: `3.0`, `G4`, `1.6`. */
  version: string | null;
  /** False when it must not be written: a newer version, or damage that a write would make worse. */
  writable: boolean;
  problems: Problem[];
  /** Keys and sections that have no place in a run model. */
  unknown?: readonly Unknown[];
}

/** A part of a file that stays as it is and is not in the run model. */
export interface Unknown {
  name: string;
  path: string;
  /** From 1. */
  line: number;
}

export interface Problem {
  /** A stable code: `not_json`, `unknown_status`, `percent_disagrees`, `conflict_markers`. */
  code: string;
  /** An error lost something or prevents writing; a warning is a contradiction or a deviation that was understood. */
  level: 'error' | 'warning';
  path: string;
  /** From 1. */
  line: number | null;
  message: string;
}

export interface Repaired {
  model: RunModel;
  /** The source files, best first. */
  sources: readonly string[];
  /** The confidence in the status of each step. */
  confidence: readonly { step: string; confidence: 'high' | 'medium' | 'low'; from: string }[];
}
