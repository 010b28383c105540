import type { Session, Snapshot, State, Step } from '../../../core/fold/state.ts';
import type { RowKind, Rows } from '../../../core/fold/touch.ts';
import type { RunModel } from '../../../core/model/run-model.ts';
import { stepWords } from '../../../core/views/named-step.ts';
import { planView } from '../../../core/views/plan.ts';
import { positionOf } from '../../../core/views/position.ts';
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
  if (format === 'codewalk') return withSessions(model, state, rows);
  if (format !== 'snap') return model;
  const snapshots = await closingSnapshots(engine, run, await all('snapshot'), rows.sessions);
  const people = rows.sessions.filter((session) => session.kind === 'person').map((session) => session.agent);
  return { ...model, kept: { ...model.kept, snapshots, people: [...new Set(people)] } };
}

/**
 * Codewalk tells in a session what it deviated from, verified and found, and that it continues after a crash. Its files are
 * those of the session that worked last.
 */
function withSessions(model: RunModel, state: State, rows: RunRows): RunModel {
  const told = new Map<string, { notes: string[]; issues: string[] }>();
  const of = (session: string | null | undefined): { notes: string[]; issues: string[] } => {
    const known = told.get(session ?? '') ?? { notes: [], issues: [] };
    told.set(session ?? '', known);
    return known;
  };
  for (const note of [...rows.notes].sort(byNumber))
    if (note.kind === 'deviation') of(note.session).notes.push(note.text);
  for (const step of state.steps.values()) {
    if (step.verified)
      of(step.verified.session).notes.push(
        `Verified ${stepWords(state.steps, step)}: ${validationWords(step.verified)}`,
      );
  }
  for (const item of [...rows.items].sort(byNumber))
    if (item.kind === 'finding') of(item.session).issues.push(item.text);
  const last = [...rows.sessions].sort(byNumber).findLast(({ id }) => rows.files.some((file) => file.session === id));
  const files = rows.files.filter((file) => !file.read && (!last || file.session === last.id));
  return {
    ...model,
    position: { ...model.position, step: positionOf(state, planView(state)).current?.step.key ?? null },
    files: files.map(({ path, change }) => ({ path, ...(change ? { change } : {}) })),
    sessions: model.sessions.map((session) => {
      const { notes, issues } = of(session.id);
      const continues = session.continues ?? crashBefore(rows.sessions, session.id);
      return {
        ...session,
        ...(continues ? { continues } : {}),
        ...(notes.length > 0 ? { notes: [...new Set([...(session.notes ?? []), ...notes])] } : {}),
        ...(issues.length > 0 ? { issues: [...new Set([...(session.issues ?? []), ...issues])] } : {}),
      };
    }),
  };
}

/** The crashed session whose step a session took over first. */
function crashBefore(sessions: readonly Session[], id: string | undefined): string | undefined {
  const own = sessions.find((session) => session.id === id);
  const crashed = sessions.filter(
    ({ status, left }) => status === 'crashed' && left.some((key) => own?.held.includes(key)),
  );
  const before = [...crashed].sort(byNumber).findLast((one) => own && byNumber(one, own) < 0);
  const isTaken = sessions.some(
    (one) =>
      before &&
      own &&
      byNumber(before, one) < 0 &&
      byNumber(one, own) < 0 &&
      one.held.some((key) => before.left.includes(key)),
  );
  return isTaken ? undefined : before?.id;
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
