import type { Session, Snapshot, State, Step } from '../../../core/fold/state.ts';
import type { RowKind, Rows } from '../../../core/fold/touch.ts';
import type { RunModel } from '../../../core/model/run-model.ts';
import { stepWords } from '../../../core/views/named-step.ts';
import { planView } from '../../../core/views/plan.ts';
import { positionOf } from '../../../core/views/position.ts';
import { type RunRows, runModelOf } from '../../../core/views/run-model.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Files, Format } from '../../../formats/format.ts';
import type { RowFilter } from '../../../store/projection.ts';

/**
 * A run to be rendered as a file. For a format it has only the lists that the format holds, and the texts that its present
 * files lack, so that the cost follows the size of the files and not the length of the history.
 */
export async function readWholeRun(
  engine: Engine,
  state: State,
  format?: Pick<Format, 'name' | 'loses'>,
  present?: Files,
): Promise<RunModel> {
  const run = state.run?.id ?? '';
  const read = async <K extends RowKind>(kind: K, filter: Partial<RowFilter> = {}): Promise<Rows[K][]> => {
    const rows = await engine.rows(run, { kind, limit: Number.MAX_SAFE_INTEGER, ...filter });
    return rows.filter((row) => row.status !== 'removed').map((row) => row.doc as Rows[K]);
  };
  const isHeld = (list: string): boolean => present === undefined || !format?.loses.includes(list);
  const rows: RunRows = {
    decisions: await read('decision'),
    items: await read('item'),
    notes: isHeld('notes') ? await read('note') : await ruleNotes(read),
    sessions: await read('session', isHeld('sessions') ? {} : { limit: LAST_SESSIONS }),
    messages: isHeld('messages') ? await read('message') : [],
    results: await read('result'),
    files: isHeld('files') ? await read('file') : [],
    foreign: await read('foreign'),
  };
  const model = runModelOf(state, rows);
  if (format?.name === 'maestro') {
    // Its manifests have no place for a file of which only the name is known.
    const steps = model.steps.map((step) => ({
      ...step,
      ...(step.artifacts
        ? { artifacts: step.artifacts.map((file) => ({ change: 'modified' as const, ...file })) }
        : {}),
    }));
    return { ...model, steps, kept: { ...model.kept, work: workOf(state, rows.results) } };
  }
  if (format?.name === 'codewalk') return withSessions(model, state, rows);
  if (format?.name !== 'snap') return model;
  const offers = new Map((await read('handoff')).map(({ id, snapshot }) => [id, snapshot]));
  const offered = new Set(offers.values());
  const wanted = (await read('snapshot')).filter(({ id, reason }) => reason !== undefined || offered.has(id));
  const snapshots = await withTexts(engine, run, wanted, rows.sessions, [...(present?.values() ?? [])]);
  const handoffs = rows.messages.flatMap(({ id, about }) => {
    const snapshot = about === undefined ? undefined : offers.get(about);
    return snapshot === undefined ? [] : [{ message: id, snapshot }];
  });
  const people = [
    ...rows.sessions.filter((session) => session.kind === 'person').map((session) => session.agent),
    ...rows.messages.filter((message) => message.person).map((message) => message.from),
  ];
  const archived = [...rows.notes, ...rows.sessions].flatMap(({ id, archive }) => (archive === undefined ? [] : [id]));
  // Without a next action the file says none; what it said before is done.
  const next = model.next ?? '';
  return { ...model, next, kept: { ...model.kept, snapshots, handoffs, people: [...new Set(people)], archived } };
}

/** A file shows at most where the last sessions stopped. */
const LAST_SESSIONS = 50;

/** Rules stand in files that have no place for other notes. */
async function ruleNotes(
  read: (kind: 'note', filter: Partial<RowFilter>) => Promise<RunRows['notes'][number][]>,
): Promise<RunRows['notes']> {
  const kinds = ['constraint', 'dead-end', 'deviation'] as const;
  return (await Promise.all(kinds.map((status) => read('note', { status })))).flat();
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

/** The snapshots that the snap format keeps in a file per agent, with the texts of those that no file has. */
async function withTexts(
  engine: Engine,
  run: string,
  snapshots: readonly Snapshot[],
  sessions: readonly Session[],
  present: readonly string[],
): Promise<object[]> {
  const numbers = new Map([...sessions].sort(byNumber).map(({ id }, index) => [id, index + 1]));
  const known = new Set(present.flatMap((text) => text.match(/^revision: \S+/gm) ?? []));
  const given: object[] = [];
  for (const { id, agent, session, reason, token, version } of [...snapshots].sort(byNumber)) {
    const about = {
      id,
      agent,
      session,
      sessionNumber: numbers.get(session) ?? 0,
      isClosing: reason !== undefined,
      token,
    };
    if (token !== undefined && known.has(`revision: ${token}`)) given.push(about);
    else {
      // The text is in the event only: it may be long and is rarely needed.
      const event = await engine.event(run, version);
      if (event?.type === 'snapshot.taken' && event.body.text !== undefined)
        given.push({ ...about, text: event.body.text });
    }
  }
  return given;
}

const byNumber = (a: { id: string }, b: { id: string }): number => Number(a.id.slice(2)) - Number(b.id.slice(2));
