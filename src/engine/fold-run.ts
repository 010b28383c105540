import { evolve } from '../core/fold/evolve.ts';
import { type ProjectedRow, rowsOf } from '../core/fold/row.ts';
import type { State } from '../core/fold/state.ts';
import { emptyState } from '../core/fold/state-tables.ts';
import type { RowKind, Rows, Touch } from '../core/fold/touch.ts';
import type { Event } from '../core/journal/event.ts';
import { type ChainProblem, chainVerifier } from '../core/journal/verify.ts';
import type { Store } from '../store/store.ts';
import { breathe } from './breathe.ts';

/** A run folded from its first event, with all that follows from it. */
export interface Refolded {
  state: State;
  rows: Map<string, ProjectedRow>;
  chain: ChainProblem[];
  lastHash: string;
}

interface RefoldOptions {
  /** Stop after this version. */
  upTo?: number;
  /** Looks at each event before it is folded, and may put another in its place. */
  rewrite?: (event: Event) => Event;
  /** Looks at each event after it was folded. */
  visit?: (event: Event, touches: readonly Touch[]) => void;
}

const PAGE = 2000;

export async function refold(store: Store, run: string, options: RefoldOptions = {}): Promise<Refolded> {
  const { upTo = Number.POSITIVE_INFINITY, rewrite, visit } = options;
  const verifier = chainVerifier();
  const rows = new Map<string, ProjectedRow>();
  const recall = <K extends RowKind>(kind: K, id: string): Rows[K] | null =>
    (rows.get(`${kind}:${id}`)?.doc as Rows[K] | undefined) ?? null;
  const state = emptyState();
  let lastHash = '';
  for (let more = true; more; ) {
    const events = await store.read(run, state.version, PAGE);
    more = events.length === PAGE;
    for (const recorded of events) {
      if (recorded.version > upTo) {
        more = false;
        break;
      }
      verifier.push(recorded);
      const event = rewrite ? rewrite(recorded) : recorded;
      const touches = evolve(state, event, recall);
      visit?.(event, touches);
      for (const row of rowsOf([{ event, touches }])) rows.set(`${row.kind}:${row.id}`, row);
      lastHash = event.hash;
    }
    if (more) await breathe();
  }
  return { state, rows, chain: verifier.finish(), lastHash };
}
