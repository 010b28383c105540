import type { Decision, Effect, FileRow, Session } from '../fold/state.ts';
import type { TreeMark } from '../journal/event.ts';
import type { SeenTree } from '../views/freshness.ts';
import type { FileLines, History, OtherRuns, ValueFact } from './facts.ts';
import type { FileAdvice } from './reading.ts';

/** The rows of the run that a brief needs beside folded state. */
export interface BriefRows {
  /** The last sessions, active ones included. */
  sessions: readonly Session[];
  /** Ended commands, the last one first, each with the version of its end. */
  commands: readonly { effect: Effect; version: number }[];
  /** Files that were written, the last one first. */
  files: readonly FileRow[];
  /** Those relevant to the position, the most important first. */
  decisions: readonly Decision[];
  results: readonly { text: string }[];
  /** Of a program's state. */
  values?: readonly ValueFact[];
}

/** What was looked up outside of the journal. What is left out was not looked at. */
export interface Observed {
  /** Where the reader is. */
  mark?: TreeMark | undefined;
  host: string | null;
  machine?: string | null | undefined;
  clone?: string | null | undefined;
  seen?: SeenTree | undefined;
  files?: readonly FileAdvice[] | undefined;
  /** By effect. */
  processes?: ReadonlyMap<string, ObservedProcess> | undefined;
  /** Whether the client of a session runs, by session. */
  clients?: ReadonlyMap<string, 'alive' | 'dead'> | undefined;
  changes?: TreeChanges | null | undefined;
  /** By session: what its agent said last, by the transcript of its client. */
  said?: ReadonlyMap<string, string> | undefined;
  others?: OtherRuns | undefined;
  history?: History | null | undefined;
  /** Nothing is unfinished here, and this run was finished last. */
  isLastFinished?: boolean | undefined;
}

export type ObservedProcess = { is: 'alive'; pid: number; since: string } | { is: 'none' } | { is: 'unlisted' };

/** The working tree against its last commit. */
export interface TreeChanges {
  /** Changed paths with git's word; a new folder is one entry that ends in a slash. */
  dirty: ReadonlyMap<string, string>;
  /** Of the files that a brief may name. */
  lines: ReadonlyMap<string, FileLines>;
  /** When each of these files was written last. */
  modifiedAt: ReadonlyMap<string, string>;
  /** Since the run began in this working tree, the newest first; null if unknown. */
  commits: readonly { at: string; paths: readonly string[] }[] | null;
}
