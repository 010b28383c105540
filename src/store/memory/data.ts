import type { StoredValue } from '../../core/journal/value.ts';
import type { Head, Tombstone } from '../journal.ts';
import type { Token } from '../presence.ts';
import type { Cached } from '../projection.ts';

/** Events and rows are kept as JSON text, so that nothing is shared with the caller. */
export interface Data {
  runs: Map<string, Run>;
  /** Every event in the order of recording, by its index in its run; null where its run was dropped. */
  order: ({ run: Run; index: number } | null)[];
  tombstones: Tombstone[];
  beats: Map<string, Map<string, string>>;
  /** By hash. */
  tokens: Map<string, Token>;
  listeners: Set<() => void>;
}

export interface Run {
  head: Head;
  /** The length of `order` when the run last changed. */
  touched: number;
  events: string[];
  rows: Map<string, string>;
  cache: (Cached & { format: number }) | null;
  /** By hash. */
  values: Map<string, StoredValue>;
}

export function copy<T>(value: T): T {
  return parse<T>(JSON.stringify(value));
}

export function parse<T>(text: string): T {
  return JSON.parse(text) as T;
}
