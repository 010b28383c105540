import { Fault, quoted } from '../core/fault.ts';
import type { ProjectedRow } from '../core/fold/row.ts';
import { STATE_FORMAT, serializeState } from '../core/fold/state-tables.ts';
import type { Event } from '../core/journal/event.ts';
import type { ChainProblem } from '../core/journal/verify.ts';
import type { StoredRow } from '../store/projection.ts';
import type { Store } from '../store/store.ts';
import { foldRun } from './fold-run.ts';
import { headOf } from './head-columns.ts';
import { rowMayWait, storedRows } from './pending-rows.ts';
import { contentOf, namedValues } from './values.ts';

export interface Audit {
  events: number;
  chain: ChainProblem[];
  /** Derived data that differs from what the events give. */
  derived: string[];
  /** Values whose bytes are missing or not those that were recorded. */
  values: ValueProblem[];
  /** Whether the events reach the version of the head; only then can derived data be rebuilt. */
  complete: boolean;
}

/** Called with the number of events that were read: a long run takes a while. */
export type Watch = (events: number) => void;

const watching = (watch: Watch | undefined) => (watch ? { visit: ({ version }: Event) => watch(version) } : {});

/** Reads a whole run and compares what is stored with what follows from its events. */
export async function auditRun(store: Store, run: string, watch?: Watch): Promise<Audit> {
  const cached = await store.projection.cached(run, STATE_FORMAT);
  const derived: string[] = [];
  const compareSaved = (version: number, state: string): void => {
    if (cached?.version === version && cached.state !== state) {
      derived.push(`The saved state at event ${version} differs from what the events give.`);
    }
  };
  const { state, rows, chain, lastHash } = await foldRun(store.journal, run, watching(watch));
  if (cached?.version === state.version) compareSaved(state.version, serializeState(state));
  else if (cached)
    compareSaved(cached.version, serializeState((await foldRun(store.journal, run, { upTo: cached.version })).state));
  const [head] = await store.journal.heads({ run });
  if (head && head.version < state.version) {
    derived.push(`The head of the run names event ${head.version}; the journal ends at ${state.version}.`);
  } else if (head && (head.version > state.version || head.hash !== lastHash)) {
    chain.push({
      version: head.version,
      message: `The run was at event ${head.version}, and the journal ends at ${state.version} or with another event: the last events are lost.`,
    });
  }
  return {
    events: state.version,
    chain,
    complete: head?.version === state.version,
    values: await valueProblems(store, run, rows.values()),
    derived: [...derived, ...(await differingRows(store, run, rows, cached?.version ?? 0))],
  };
}

export interface ValueProblem {
  key: string;
  version: number;
  problem: 'missing' | 'changed';
}

async function valueProblems(
  { journal }: Store,
  run: string,
  rows: Iterable<{ kind: string; doc: unknown }>,
): Promise<ValueProblem[]> {
  const problems: ValueProblem[] = [];
  for (const [sha256, { key, version }] of namedValues(rows)) {
    const stored = await journal.value(run, sha256);
    const problem = stored === null ? 'missing' : contentOf(stored) === null ? 'changed' : null;
    if (problem) problems.push({ key, version, problem });
  }
  return problems;
}

/** Drops what is derived from a run and derives it again from its events. */
export async function rebuildRun(store: Store, run: string, watch?: Watch): Promise<Rebuilt> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const rebuilt = await tryRebuild(store, run, watch);
    if (rebuilt) return rebuilt;
  }
  throw new Fault('conflict', `Run ${quoted(run)} is being changed by others without pause; nothing was rebuilt.`, {
    hints: ['Try again.'],
  });
}

export interface Rebuilt {
  events: number;
  records: number;
}

/** Tries it once; returns null when the run has changed meanwhile. */
export async function tryRebuild(store: Store, run: string, watch?: Watch): Promise<Rebuilt | null> {
  const { state, rows } = await foldRun(store.journal, run, watching(watch));
  const cache = { format: STATE_FORMAT, state: serializeState(state) };
  const derived = { head: headOf(state), rows: storedRows(run, rows.values()), cache };
  const isReplaced = await store.projection.replaceDerived(run, state.version, derived);
  return isReplaced ? { events: state.version, records: rows.size } : null;
}

/** Rows of kinds that are saved later are only compared up to the version at which state was saved. */
async function differingRows(
  store: Store,
  run: string,
  rows: ReadonlyMap<string, ProjectedRow>,
  savedVersion: number,
): Promise<string[]> {
  const waits = (row: ProjectedRow | undefined): boolean =>
    row !== undefined && rowMayWait(row) && row.version > savedVersion;
  const differing: string[] = [];
  const seen = new Set<string>();
  for (const kind of new Set(Array.from(rows.values(), (row) => row.kind))) {
    for await (const stored of allRows(store, run, kind)) {
      const key = `${stored.kind}:${stored.id}`;
      seen.add(key);
      const row = rows.get(key);
      if (!waits(row) && JSON.stringify(row?.doc) !== JSON.stringify(stored.doc)) {
        differing.push(`The row of ${stored.kind} ${stored.id} differs from what the events give.`);
      }
    }
  }
  for (const [key, row] of rows) {
    if (!seen.has(key) && !waits(row)) differing.push(`The row of ${row.kind} ${row.id} is missing.`);
  }
  return differing;
}

async function* allRows(store: Store, run: string, kind: string): AsyncGenerator<StoredRow> {
  const limit = 1000;
  let before: number | undefined;
  for (;;) {
    const page: StoredRow[] = await store.projection.rows(run, {
      kind,
      limit,
      ...(before === undefined ? {} : { before }),
    });
    yield* page;
    const last = page.at(-1);
    if (page.length < limit || !last) return;
    before = last.version;
  }
}
