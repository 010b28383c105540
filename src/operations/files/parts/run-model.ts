import type { Session, Snapshot, State } from '../../../core/fold/state.ts';
import type { RowKind, Rows } from '../../../core/fold/touch.ts';
import type { RunModel } from '../../../core/model/run-model.ts';
import { type RunRows, runModelOf } from '../../../core/views/run-model.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { FormatName } from '../../../formats/format.ts';

/** Everything known about a run, to be rendered as a file. Reads the whole history. */
export async function readWholeRun(engine: Engine, state: State, format?: FormatName): Promise<RunModel> {
  const run = state.run?.id ?? '';
  const all = async <K extends RowKind>(kind: K): Promise<Rows[K][]> => {
    const rows = await engine.rows(run, { kind, limit: Number.MAX_SAFE_INTEGER });
    return rows.filter((row) => row.status !== 'removed').map((row) => row.doc as Rows[K]);
  };
  const rows: RunRows = {
    decisions: await all('decision'),
    items: await all('item'),
    notes: await all('note'),
    sessions: await all('session'),
    messages: await all('message'),
    results: await all('result'),
    files: await all('file'),
    foreign: await all('foreign'),
  };
  const model = runModelOf(state, rows);
  if (format !== 'snap') return model;
  const snapshots = await closingSnapshots(engine, run, await all('snapshot'), rows.sessions);
  const people = rows.sessions.filter((session) => session.kind === 'person').map((session) => session.agent);
  return { ...model, kept: { ...model.kept, snapshots, people: [...new Set(people)] } };
}

/** The snapshots taken at the end of sessions, which the snap format keeps in a file per agent. */
async function closingSnapshots(
  engine: Engine,
  run: string,
  snapshots: readonly Snapshot[],
  sessions: readonly Session[],
): Promise<object[]> {
  const numbers = new Map([...sessions].sort(byNumber).map(({ id }, index) => [id, index + 1]));
  const closing: object[] = [];
  for (const { agent, sequence, session, reason, version } of [...snapshots].sort(byNumber)) {
    // The text is in the event only: it may be long and is rarely needed.
    const event = reason === undefined ? null : await engine.event(run, version);
    const text = event?.type === 'snapshot.taken' ? event.body.text : undefined;
    if (text !== undefined) closing.push({ agent, sequence, session, sessionNumber: numbers.get(session) ?? 0, text });
  }
  return closing;
}

const byNumber = (a: { id: string }, b: { id: string }): number => Number(a.id.slice(2)) - Number(b.id.slice(2));
