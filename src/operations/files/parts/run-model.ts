import type { Session, Snapshot, State, Step } from '../../../core/fold/state.ts';
import type { RowKind, Rows } from '../../../core/fold/touch.ts';
import type { RunModel } from '../../../core/model/run-model.ts';
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
