import { evolve } from '../core/fold/evolve.ts';
import { type ProjectedRow, rowsOf } from '../core/fold/row.ts';
import type { State } from '../core/fold/state.ts';
import { emptyState } from '../core/fold/state-tables.ts';
import type { RowKind, Rows, Touch } from '../core/fold/touch.ts';
import type { Event } from '../core/journal/event.ts';
import { type ChainProblem, chainVerifier } from '../core/journal/verify.ts';
import type { Journal } from '../store/journal.ts';
import { eventPages } from './event-pages.ts';

/** A run folded from its first event, with everything derived from it. */
export interface FoldedRun {
  state: State;
  rows: Map<string, ProjectedRow>;
  chain: ChainProblem[];
  lastHash: string;
  /** Folds one more event. */
  fold(event: Event): readonly Touch[];
}

interface FoldOptions {
  /** Stop after this version. */
  upTo?: number;
  /** Called with each event before it is folded; may return another one in its place. */
  rewrite?: (event: Event) => Event;
  /** Called with each event after it was folded. */
  visit?: (event: Event, touches: readonly Touch[]) => void;
}

export async function foldRun(journal: Journal, run: string, options: FoldOptions = {}): Promise<FoldedRun> {
  const { upTo = Number.POSITIVE_INFINITY, rewrite, visit } = options;
  const verifier = chainVerifier();
  const rows = new Map<string, ProjectedRow>();
  const recall = <K extends RowKind>(kind: K, id: string): Rows[K] | null =>
    (rows.get(`${kind}:${id}`)?.doc as Rows[K] | undefined) ?? null;
  const state = emptyState();
  let lastHash = '';
  const fold = (event: Event): readonly Touch[] => {
    const touches = evolve(state, event, recall);
    for (const row of rowsOf([{ event, touches }])) rows.set(`${row.kind}:${row.id}`, row);
    return touches;
  };
  for await (const page of eventPages(journal, run, { upTo })) {
    for (const recorded of page) {
      verifier.push(recorded);
      const event = rewrite ? rewrite(recorded) : recorded;
      const touches = fold(event);
      visit?.(event, touches);
      lastHash = event.hash;
    }
  }
  return { state, rows, chain: verifier.finish(), lastHash, fold };
}
