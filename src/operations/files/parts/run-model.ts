import type { Session, Snapshot, State, Step } from '../../../core/fold/state.ts';
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
  if (format === 'maestro') {
    // Its manifests have no place for a file of which only the name is known.
    const steps = model.steps.map((step) => ({
      ...step,
      ...(step.artifacts
        ? { artifacts: step.artifacts.map((file) => ({ change: 'modified' as const, ...file })) }
        : {}),
    }));
    return { ...model, steps, kept: { ...model.kept, work: workOf(state, rows.results) } };
  }
  if (format !== 'snap') return model;
  const snapshots = await closingSnapshots(engine, run, await all('snapshot'), rows.sessions);
  const people = rows.sessions.filter((session) => session.kind === 'person').map((session) => session.agent);
  return { ...model, kept: { ...model.kept, snapshots, people: [...new Set(people)] } };
}

/** Who did each step, and how it was verified, which the maestro format logs. */
function workOf(state: State, results: RunRows['results']): Record<string, { by?: string; validation?: string }> {
  const by = new Map(results.map((result) => [result.step, result.by]));
  return Object.fromEntries(
    [...state.steps.values()].map(({ key, holder, lastAgent, verified }) => {
      const who = by.get(key) ?? holder?.agent ?? lastAgent ?? undefined;
      return [key, { ...(who ? { by: who } : {}), ...(verified ? { validation: validationWords(verified) } : {}) }];
    }),
  );
}

/** `Pass: npm test, exit 0, 09:41Z`. */
function validationWords({ result, basis, probe, at }: NonNullable<Step['verified']>): string {
  const how = probe === null ? `${basis}` : `${probe}${result === 'pass' ? ', exit 0' : ''}`;
  return `${result === 'pass' ? 'Pass' : 'Fail'}: ${how}, ${at.slice(11, 16)}Z`;
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
