import { resolve } from 'node:path';
import { evolve } from '../../../core/fold/evolve.ts';
import type { Snapshot, State } from '../../../core/fold/state.ts';
import { emptyState, forkState } from '../../../core/fold/state-tables.ts';
import { ERASED } from '../../../core/text.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { FoundSnapshot } from '../../../formats/documents/snapshot-reading.ts';
import type { Context } from '../../context.ts';
import type { Contract, SnapshotState } from './contract.ts';
import { contractJournal } from './contract-journal.ts';
import { snapshotPath } from './file.ts';

/** The snapshots in the journals of a workspace. */
export interface SnapshotJournal {
  /** The snapshots of the current run, oldest first. */
  list(): Promise<KnownSnapshot[]>;
  /** What was recorded of a snapshot that was found in a file. */
  find(snapshot: FoundSnapshot, file: string): Promise<Recorded | null>;
}

export interface KnownSnapshot {
  taken: Snapshot;
  file: string;
}

export interface Recorded {
  state: { is: SnapshotState; why: string; broken: boolean };
  recorded: { same: boolean; why: string };
  /** Null for a snapshot that was never taken here. */
  against: Contract | null;
  /** Events recorded after it. */
  eventsSince: number;
}

/** Null without a workspace: files are then compared with files only. */
export async function journalOf(context: Context): Promise<SnapshotJournal | null> {
  const workspace = context.workspace();
  if (!workspace) return null;
  const engine = await context.engine();
  const { currentRun } = await import('../../act.ts');
  const lists = new Map<string, Promise<Snapshot[]>>();
  const histories = new Map<string, (at: number) => Promise<State>>();
  const listOf = (run: string): Promise<Snapshot[]> => {
    const known = lists.get(run) ?? allSnapshots(context, run);
    lists.set(run, known);
    return known;
  };
  return {
    async list() {
      const run = await currentRun(context);
      const all = await listOf(run);
      return all.map((taken) => ({ taken, file: snapshotPath(workspace.folder, run, taken) }));
    },
    async find(snapshot, file) {
      const run = snapshot.run ?? (await currentRun(context).catch(() => null));
      if (run === null || (await engine.heads({ run })).length === 0) return null;
      const all = await listOf(run);
      const agent = snapshot.agent ?? '';
      const own = all.filter((one) => one.agent === agent);
      const taken = recordedAs(
        snapshot,
        own,
        (one) => resolve(snapshotPath(workspace.folder, run, one)) === resolve(file),
      );
      if (!taken) return snapshot.run === null ? null : await madeUp(engine, run, snapshot);
      const last = own.at(-1) as Snapshot;
      const event = await engine.event(run, taken.version);
      const text = event?.type === 'snapshot.taken' ? event.body.text : undefined;
      const stateAt = histories.get(run) ?? openHistory(engine, run);
      histories.set(run, stateAt);
      const [then, now] = [await stateAt(taken.version), await engine.load(run)];
      const eventsSince = now.version - taken.version;
      return {
        state: stateOf(taken, last, eventsSince, movesSince(taken, then, now)),
        recorded: sameAs(snapshot, taken, text),
        against: contractJournal(context, run, then, taken),
        eventsSince,
      };
    },
  };
}

/**
 * A snapshot of a run that this journal has, which was not taken here: of a session that is unknown it is made up. An
 * agent may have written one by hand at the end of a session that is known.
 */
async function madeUp(engine: Engine, run: string, { session }: FoundSnapshot): Promise<Recorded | null> {
  if (session === null) return null;
  const rows = await engine.recall(run, [session]);
  if (rows.some((row) => row.kind === 'session')) return null;
  const why = `The journal of run ${run} has no session ${session.slice(0, 80)}.`;
  const state = { is: 'unknown', why: 'No such session was recorded.', broken: false } as const;
  return { state, recorded: { same: false, why }, against: null, eventsSince: 0 };
}

/** By its token; if that was changed, by the path of its file or its number. */
function recordedAs(
  { revision, token }: FoundSnapshot,
  own: readonly Snapshot[],
  isAt: (one: Snapshot) => boolean,
): Snapshot | undefined {
  return (
    own.find((one) => one.token !== undefined && one.token === token) ??
    own.find(isAt) ??
    own.find((one) => one.sequence === revision?.sequence)
  );
}

function stateOf(taken: Snapshot, last: Snapshot, events: number, moves: readonly string[]): Recorded['state'] {
  if (last.sequence > taken.sequence)
    return {
      is: 'superseded',
      why: `Superseded: ${taken.agent} has left ${last.id} (number ${last.sequence}) since.`,
      broken: false,
    };
  const since = events === 1 ? '1 event' : `${events} events`;
  if (moves.length > 0)
    return { is: 'current', why: `Stale: ${since} since, ${moves.slice(0, 3).join(', ')}.`, broken: false };
  const recorded = events === 0 ? 'nothing was' : events === 1 ? '1 event was' : `${since} were`;
  return { is: 'current', why: `Fresh: the newest of ${taken.agent}; ${recorded} recorded since.`, broken: false };
}

/** What others did with the steps that the session of a snapshot had in progress. */
function movesSince({ session }: Snapshot, then: State, now: State): string[] {
  return [...then.steps.values()].flatMap(({ key, status, holder, lastSession }) => {
    if (status !== 'in_progress' || (holder?.session ?? lastSession) !== session) return [];
    const step = now.steps.get(key);
    const by = step?.holder ?? (step?.lastSession === session ? null : { agent: step?.lastAgent ?? null });
    if (!step) return [`${key} removed`];
    if (step.status !== 'in_progress') return [`${key} ${step.status}${by?.agent ? ` by ${by.agent}` : ''}`];
    return by?.agent ? [`${key} taken over by ${by.agent}`] : [];
  });
}

function sameAs({ token, digits }: FoundSnapshot, taken: Snapshot, text: string | undefined): Recorded['recorded'] {
  if (text === ERASED) return { same: true, why: `${taken.id} was erased; only its token is known.` };
  if (taken.token === undefined) return { same: true, why: `${taken.id} was recorded without a token.` };
  if (token !== taken.token)
    return { same: false, why: `The journal has ${taken.token} for ${taken.id}; the text has ${token ?? 'no token'}.` };
  if (!taken.token.endsWith(digits))
    return { same: false, why: `The text is not the one that was recorded as ${taken.id}.` };
  return { same: true, why: `It is ${taken.id}, as recorded.` };
}

const PAGE = 500;

/** State as of an event. Calls in the order of events read the history once. */
function openHistory(engine: Engine, run: string): (at: number) => Promise<State> {
  let state = emptyState();
  return async (at) => {
    if (state.version > at) state = emptyState();
    for await (const page of engine.eventPages(run, { after: state.version, upTo: at })) {
      for (const event of page) evolve(state, event);
    }
    return forkState(state);
  };
}

async function allSnapshots(context: Context, run: string): Promise<Snapshot[]> {
  const engine = await context.engine();
  const found = new Map<string, Snapshot>();
  for (let before: number | undefined; ; ) {
    const page = await engine.rows(run, {
      kind: 'snapshot',
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    });
    for (const row of page) found.set(row.id, row.doc as Snapshot);
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    before = last.version;
  }
  return [...found.values()].sort((a, b) => a.version - b.version);
}
