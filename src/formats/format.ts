import type { RunModel } from '../core/model/run-model.ts';

/**
 * Another tool's files. A format reads leniently (every variant that occurs) and writes strictly (the newest form for a
 * new file; an existing one is edited in place, in its own variant). Text in, text out: no I/O, no clock.
 *
 * Laws, checked by `format.suite.ts` on every format:
 * - `parse` never throws and never hangs: damage gives problems with line numbers. Time is linear in size.
 * - What `render` can say, `parse` gives back; what it cannot say is listed in `loses`.
 * - Rendering an account over the files it came from changes no byte; rendering twice gives the same bytes.
 * - A change of one field leaves the other bytes alone: keys, sections, order, comments, line ends, BOM.
 */
export interface Format {
  name: FormatName;
  /** Finds this format's runs in a tree by paths, and by content where a name is shared. */
  detect(tree: Tree): Found[];
  parse(found: Found, files: Files): Parsed;
  /** The files that are to be written, whole; those that stay as they are are left out. */
  render(model: RunModel, place: Found, previous: Files, now: string): Files;
  /** Where a new one belongs by the format's own convention. */
  home(model: RunModel): Found;
  /** What the format cannot say, as paths into an account (`losses.ts`): `messages`, `steps.wave`, `items[kind=error]`. */
  loses: readonly string[];
  /** What can be put together from what lies around a damaged file; null when nothing does. */
  repair(found: Found, tree: Tree): Repaired | null;
}

export type FormatName = 'apex' | 'snap' | 'codewalk' | 'gsd' | 'maestro';

/** Files by path, relative to the tree's root with forward slashes, as text. A byte order mark is kept in it. */
export type Files = ReadonlyMap<string, string>;

export interface Tree {
  /** All files that could matter, relative paths with forward slashes, sorted. */
  paths: readonly string[];
  /** The text of a file, or null if it is not there or is no UTF-8 text. */
  read(path: string): string | null;
}

/** One run's worth of files. */
export interface Found {
  format: FormatName;
  /** The file that holds the state; the run is known by it. */
  main: string;
  /** Everything to read for it, `main` among them. */
  files: readonly string[];
}

export interface Parsed {
  /** Null when nothing can be said. */
  model: RunModel | null;
  /** The variant as the format names it: `3.0`, `G4`, `1.6`. */
  version: string | null;
  /** False when it must not be written: a newer version, or damage that a write would make worse. */
  writable: boolean;
  problems: Problem[];
}

export interface Problem {
  /** A word that stays the same: `not_json`, `unknown_status`, `percent_disagrees`, `conflict_markers`. */
  code: string;
  /** An error lost something or stops writing; a warning is a contradiction or a drift that was understood. */
  level: 'error' | 'warning';
  path: string;
  /** From 1. */
  line: number | null;
  message: string;
}

export interface Repaired {
  model: RunModel;
  /** Where it was taken from, best first. */
  sources: readonly string[];
  /** How sure the status of each step is. */
  confidence: readonly { step: string; confidence: 'high' | 'medium' | 'low'; from: string }[];
}
