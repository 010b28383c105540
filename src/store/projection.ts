import type { ProjectedRow } from '../core/fold/row.ts';
import type { SearchQuery } from '../core/search/query.ts';
import type { TermCounts } from '../core/search/rank.ts';
import type { RunFacts } from '../core/views/run-facts.ts';

/** What is derived from the events: saved state and rows. It is written with `Journal.append` and can be rebuilt. */
export interface Projection {
  /** Folded state as it was last saved with a batch, if it has this format. */
  cached(run: string, format: number): Promise<Cached | null>;

  /** Rows by reference: each matches by id or alias, in any kind. Unknown references are left out. */
  recall(run: string, references: readonly string[]): Promise<StoredRow[]>;

  /** Rows of a kind, last changed first. */
  rows(run: string, filter: RowFilter): Promise<StoredRow[]>;

  /** The number of rows of a kind, by status. */
  count(run: string, kind: string): Promise<Record<string, number>>;

  /**
   * Rows of the given runs that a query may mean: those whose words are rare in these runs first, or the last changed. The
   * same rows in the same order in every store; `core/search/rank.ts` orders the best of them.
   */
  search(runs: readonly string[], query: SearchQuery, filter: SearchFilter): Promise<Recruited>;

  /** Replaces everything derived from a run, in one transaction, if the run is still at `version`; else returns false. */
  replaceDerived(run: string, version: number, derived: Derived): Promise<boolean>;
}

/** One named thing as it is after the last event that changed it. */
export interface StoredRow extends ProjectedRow {
  run: string;
}

export interface RowFilter {
  kind: string;
  status?: string;
  tag?: string;
  /** For the next page: only rows last changed before this version. Rows changed by one event share a page, even past the limit. */
  before?: number;
  limit: number;
}

export interface SearchFilter {
  kinds?: readonly string[] | undefined;
  statuses?: readonly string[] | undefined;
  /** Changed at this time or later. */
  since?: string | undefined;
  offset: number;
  limit: number;
}

export interface Recruited {
  rows: StoredRow[];
  counts: TermCounts;
  /** Runs that have events after their state was last saved, whose rows may not be saved yet. */
  behind: string[];
}

export interface HeadColumns {
  workspace: string;
  title: string;
  status: string;
  /** What the Codewalk view `initiative_state` shows (phase, plan, task, wave, status, progress), and what its state follows from. */
  position: HeadPosition;
}

export interface HeadPosition {
  /** The id of the run in another tool's file, else its own; left out by version 0.1. */
  initiative?: string;
  phase: number | null;
  plan: number | null;
  task: string | null;
  wave: number | null;
  status: string;
  progress: unknown;
  /** Left out by version 0.1; of another format it is not used. */
  facts?: RunFacts;
  /** It was imported, and nothing was recorded in it here since. */
  isUntouched?: boolean;
  /** It came with a copied folder. */
  isCopied?: boolean;
  /** The version before the first event of an import that is under way, or was cut off. */
  importing?: number;
}

export interface CacheColumns {
  format: number;
  state: string;
}

export interface Cached {
  version: number;
  hash: string;
  state: string;
}

export interface Derived {
  head: HeadColumns;
  rows: readonly StoredRow[];
  cache: CacheColumns;
}
