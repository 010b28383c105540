import { type Conversation, conversationOf } from '../../../clients/conversation.ts';
import type { StartSource } from '../../../clients/moment.ts';
import { Fault } from '../../../core/fault.ts';
import type { Session, State } from '../../../core/fold/state.ts';
import { sha256 } from '../../../core/sha256.ts';
import type { RunState } from '../../../core/views/run-state.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { GitStatus } from '../../../workspace/git/status.ts';
import { fullTreeMark } from '../../brief/parts/evidence.ts';
import type { Context } from '../../context.ts';
import { lookAround } from '../../run/parts/known-runs.ts';
import { openRun } from '../../run/parts/open-run.ts';
import { treeMark } from '../../working-tree.ts';
import { runsOf, sessionIn } from './find-session.ts';
import { execute, type SessionContext, sessionContextOf } from './session-context.ts';
import { superviseRun } from './supervision.ts';

/** How a conversation appears. */
export interface Opening {
  /** How it started or continued, where its client reports that. */
  source: StartSource | null;
  request: string | null;
  /** A command to the client that came first. */
  command?: string | null | undefined;
  /** The run that was chosen for it; null for a new one, undefined where nothing was said that could choose. */
  run?: string | null | undefined;
  /** The conversation that started this one. */
  parent: string | null;
  status?: Promise<GitStatus | null> | undefined;
}

/**
 * Finds or starts the session of a conversation; a new one continues the conversation's last one. Sessions of the run that
 * are gone are marked first. Returns null if the work was
 * handed to another session: this conversation then records nothing more.
 */
export async function openSession(
  context: Context,
  moment: Conversation,
  opening: Opening,
): Promise<SessionContext | null> {
  const engine = await context.engine();
  const { run, isNew } = await runFor(context, engine, moment, opening);
  const here: Context = { ...context, run, identity: { ...context.identity, session: null, key: null } };
  if (!isNew) await superviseRun(here, opening.status);
  const state = await engine.load(run);
  const present = sessionIn(state, moment);
  if (present && isSameProcess(present, context)) return sessionContextOf(here, engine, state, present);
  const former = present ?? (await formerSession(engine, run, moment));
  if (former?.status === 'active' && isSameProcess(former, context)) {
    // Another hook of this moment has started it since the state was read.
    const now = await engine.load(run);
    const started = sessionIn(now, moment);
    if (started) return sessionContextOf(here, engine, now, started);
  }
  if (former && former.status === 'superseded' && opening.source === null) {
    const next = former.continuedBy ? await sessionById(engine, run, former.continuedBy) : null;
    if (next?.client?.id !== former.client?.id) return null;
  }
  const within = await startSession(here, engine, state, moment, opening, former);
  if (former && former.id !== present?.id) await takeBack(within, former);
  return within;
}

/** A session without a known owner continues; another process of the same conversation replaces the first. */
function isSameProcess({ owner }: Session, context: Context): boolean {
  const mine = context.identity.owner;
  return !owner || !mine || (owner.pid === mine.pid && owner.startedAt === mine.startedAt);
}

async function startSession(
  context: Context,
  engine: Engine,
  state: State,
  moment: Conversation,
  { source, parent, status }: Opening,
  former: Session | null,
): Promise<SessionContext> {
  const continues = former?.id ?? (source === 'fork' ? siblingOf(state, moment, context)?.id : undefined);
  const above = parentOf(state, moment, parent);
  const isInferred = moment.conversation === null;
  const done = await engine.execute(
    state.run?.id ?? '',
    {
      type: 'session.start',
      continues,
      parent: above?.id,
      client: { name: moment.client, id: conversationOf(moment), ...(isInferred ? { inferred: true } : {}) },
      owner: context.identity.owner,
      mark: status ? await fullTreeMark(context, status) : treeMark(context),
    },
    { ...context.identity, key: startKey(context, moment, former) },
  );
  const session = sessionIn(done.state, moment) ?? done.state.sessions.get(done.session ?? '');
  if (!session) throw new Fault('internal', 'The session that was started is missing.');
  return sessionContextOf(context, engine, done.state, session);
}

/** A client may run two hooks at once, each the first of its process: both must start the same session. */
function startKey(context: Context, moment: Conversation, former: Session | null): string | null {
  if (moment.conversation === null) return null;
  const { pid, host, startedAt } = { ...context.identity.owner };
  const parts = [conversationOf(moment), pid ?? null, host ?? null, startedAt ?? null, former?.id ?? null];
  return `hook:session:${sha256(JSON.stringify(parts)).slice(0, 32)}`;
}

/** The session of the same process, which a forked conversation continues. */
function siblingOf(state: State, moment: Conversation, context: Context): Session | undefined {
  const { owner } = context.identity;
  if (!owner) return undefined;
  return [...state.sessions.values()].findLast(
    (session) => session.client?.name === moment.client && session.owner?.pid === owner.pid && session.parent === null,
  );
}

function parentOf(state: State, moment: Conversation, parent: string | null): Session | undefined {
  const id = moment.subagent === null ? parent : conversationOf({ ...moment, subagent: null });
  if (id === null) return undefined;
  return [...state.sessions.values()].find((session) => session.client?.id === id);
}

/** The last session of the conversation, which ended or counts as gone. */
export async function formerSession(engine: Engine, run: string, moment: Conversation): Promise<Session | null> {
  if (moment.conversation === null) return null;
  const tag = `client:${conversationOf(moment)}`;
  const found = await engine.rows(run, { kind: 'session', tag, limit: 20 });
  const sessions = found.map((record) => record.doc as Session);
  // By number: starting a session touches its predecessor too.
  return sessions.sort((a, b) => Number(b.id.slice(2)) - Number(a.id.slice(2)))[0] ?? null;
}

async function sessionById(engine: Engine, run: string, id: string): Promise<Session | null> {
  const found = await engine.recall(run, [id]);
  return (found.find((record) => record.kind === 'session')?.doc as Session | undefined) ?? null;
}

/** Takes the steps again that the conversation held when its session ended, unless another session has them. */
async function takeBack(within: SessionContext, former: Session): Promise<void> {
  for (const step of within.state.steps.values()) {
    if (step.status !== 'in_progress' || step.holder !== null || step.lastSession !== former.id) continue;
    try {
      await execute(within, { type: 'step.start', step: step.key }, null);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
    }
  }
}

/** Where nothing was said: the run of the conversation, of the one it works for, the one named or chosen, else a new one. */
async function runFor(
  context: Context,
  engine: Engine,
  moment: Conversation,
  opening: Opening,
): Promise<{ run: string; isNew: boolean }> {
  if (opening.run) return { run: opening.run, isNew: false };
  if (opening.run === undefined) {
    const above = opening.parent === null ? moment : { ...moment, conversation: opening.parent, subagent: null };
    const [own] = moment.conversation === null ? [] : await runsOf(context, engine, above);
    if (own !== undefined) return { run: own, isNew: false };
    const { field, viewer } = await lookAround(context);
    const chosen = context.run ?? viewer.chosen;
    const run = field.all.find((one) => one.run === chosen);
    if (run && !isFinishedRun(run.state)) return { run: run.run, isNew: false };
    if (moment.conversation === null) {
      const [last] = field.candidates;
      if (last) return { run: last.run, isNew: false };
    }
  }
  return openRun(context, engine, moment, opening);
}

const isFinishedRun = ({ state }: RunState): boolean => state === 'finished' || state === 'completed';
