import { Fault, quoted } from '../core/fault.ts';
import type { ProjectedRow } from '../core/fold/row.ts';
import { STATE_FORMAT, serializeState } from '../core/fold/state-tables.ts';
import type { ChainProblem } from '../core/journal/verify.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { refold } from './fold-run.ts';
import { headOf, storedRows } from './head.ts';
import { rowMayWait } from './pending-rows.ts';

export interface Audit {
  events: number;
  chain: ChainProblem[];
  /** What is derived and does not equal what the events give. */
  derived: string[];
  /** Whether the events reach to where the run stood; only then can what is derived be made anew. */
  complete: boolean;
}

/** Reads a whole run and compares what is stored with what follows from its events. */
export async function auditRun(store: Store, run: string): Promise<Audit> {
  const cached = await store.cached(run, STATE_FORMAT);
  const derived: string[] = [];
  const compareSaved = (version: number, state: string): void => {
    if (cached?.version === version && cached.state !== state) {
      derived.push(`The saved state at event ${version} differs from what the events give.`);
    }
  };
  const { state, rows, chain, lastHash } = await refold(store, run);
  if (cached?.version === state.version) compareSaved(state.version, serializeState(state));
  else if (cached)
    compareSaved(cached.version, serializeState((await refold(store, run, { upTo: cached.version })).state));
  const [head] = await store.heads({ run });
  if (head && head.version < state.version) {
    derived.push(`The head of the run names event ${head.version}; the journal ends at ${state.version}.`);
  } else if (head && (head.version > state.version || head.hash !== lastHash)) {
    chain.push({
      version: head.version,
      message: `The run stood at event ${head.version}, and the journal ends at ${state.version} or with another event: what came last is lost.`,
    });
  }
  return {
    events: state.version,
    chain,
    complete: head?.version === state.version,
    derived: [...derived, ...(await differingRecords(store, run, rows, cached?.version ?? 0))],
  };
}

/** Drops what is derived of a run and makes it again from its events. */
export async function rebuildRun(store: Store, run: string): Promise<Rebuilt> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const rebuilt = await tryRebuild(store, run);
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

/** The same, once; null when the run has moved on meanwhile. */
export async function tryRebuild(store: Store, run: string): Promise<Rebuilt | null> {
  const { state, rows } = await refold(store, run);
  const cache = { format: STATE_FORMAT, state: serializeState(state) };
  const derived = { head: headOf(state), rows: storedRows(run, rows.values()), cache };
  const isReplaced = await store.replaceDerived(run, state.version, derived);
  return isReplaced ? { events: state.version, records: rows.size } : null;
}

/** Rows that may wait are only looked at up to the version that state was saved at. */
async function differingRecords(
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
    for await (const record of allRows(store, run, kind)) {
      const key = `${record.kind}:${record.id}`;
      seen.add(key);
      const row = rows.get(key);
      if (!waits(row) && JSON.stringify(row?.doc) !== JSON.stringify(record.doc)) {
        differing.push(`The record of ${record.kind} ${record.id} differs from what the events give.`);
      }
    }
  }
  for (const [key, row] of rows) {
    if (!seen.has(key) && !waits(row)) differing.push(`The record of ${row.kind} ${row.id} is missing.`);
  }
  return differing;
}

export async function* allRows(store: Store, run: string, kind: string): AsyncGenerator<StoredRow> {
  const limit = 1000;
  let before: number | undefined;
  for (;;) {
    const page: StoredRow[] = await store.rows(run, { kind, limit, ...(before === undefined ? {} : { before }) });
    yield* page;
    const last = page.at(-1);
    if (page.length < limit || !last) return;
    before = last.version;
  }
}
