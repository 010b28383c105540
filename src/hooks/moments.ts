import { callKey } from '../clients/conversation.ts';
import type { ClientHooks, Moment, Pressure } from '../clients/moment.ts';
import type { Line } from '../core/line.ts';
import { redact } from '../core/redact/redact.ts';
import { oneLine } from '../core/text.ts';
import type { Context } from '../operations/context.ts';
import { findSession, runsOf } from '../operations/session/parts/find-session.ts';
import { openSession } from '../operations/session/parts/open-session.ts';
import { execute, type SessionContext } from '../operations/session/parts/session-context.ts';
import { treeMark } from '../operations/working-tree.ts';
import { arrive, sessionBrief, takePrompt } from './arrive.ts';
import { memoryFor } from './memory.ts';
import { keyOf } from './moment-key.ts';
import { reportPressure } from './pressure.ts';
import { leaveSnapshot } from './snapshot.ts';
import { endTurn, failTurn } from './turns.ts';

/** Records every moment but tool calls, and returns the text for the agent; null for none. */
export async function recordMoment(context: Context, hooks: ClientHooks, moment: Moment): Promise<Line | null> {
  switch (moment.kind) {
    case 'session-start':
      return arrive({ ...context, leavesTree: true }, hooks, moment);
    case 'prompt':
      return takePrompt(context, hooks, moment);
    case 'subagent-start':
      await openSession(context, moment, { source: 'startup', request: null, parent: null });
      return null;
    case 'subagent-stop':
      return stopSubagent(context, hooks, moment);
    case 'turn-end':
      return stopTurn(context, hooks, moment);
    case 'turn-failed':
      return stopFailedTurn(context, moment);
    case 'compact-before':
      return beforeCompaction(context, hooks, moment);
    case 'usage':
      return addUsage(context, moment);
    case 'session-end':
      return endSession(context, hooks, moment);
    case 'tool-before':
    case 'tool-after':
      return null;
    default:
      return moment satisfies never;
  }
}

type MomentOf<K extends Moment['kind']> = Extract<Moment, { kind: K }>;

/** The session of the moment's conversation; opened again if it had one. A conversation that recorded nothing has none. */
async function sessionFor(context: Context, moment: Moment): Promise<SessionContext | null> {
  const found = await findSession(context, moment);
  if (found || moment.conversation === null) return found;
  const [run] = await runsOf(context, await context.engine(), moment);
  return run === undefined ? null : openSession(context, moment, { source: null, request: null, run, parent: null });
}

async function stopTurn(context: Context, hooks: ClientHooks, moment: MomentOf<'turn-end'>): Promise<null> {
  const within = await sessionFor(context, moment);
  if (!within || within.session.parent !== null) return null;
  const found = await countTokens(within, hooks, moment);
  const endOf = await endsOf(hooks, moment);
  await endTurn(within, moment.lastMessage, { running: moment.background ?? null, endOf });
  const isReported = await reportPressure(within, moment, moment.pressure ?? found);
  // The contract of a planned run needs a snapshot even if the client is killed next.
  if (!isReported && within.state.run?.kind === 'planned') await leaveSnapshot(within, moment.lastMessage);
  return null;
}

/** Commands whose end the client writes into its transcript; without one they still run. */
async function endsOf(hooks: ClientHooks, moment: Moment) {
  if (!hooks.commandEndIn) return null;
  const { commandEnds } = await import('./transcript.ts');
  const found = commandEnds(hooks, moment.transcript);
  if (found === null) return null;
  const ends = new Map([...found].map(([call, end]) => [callKey(moment, call), end]));
  return (key: string) => ends.get(key);
}

/** Adds the tokens that the transcript reports since it was read last; a client may write them after the turn has ended. */
async function countTokens(within: SessionContext, hooks: ClientHooks, moment: Moment): Promise<Pressure | null> {
  const { readUsage } = await import('./transcript.ts');
  const { memory, remember } = memoryFor(within.context, moment);
  const read = readUsage(hooks, moment, memory);
  if (read.memory !== memory) remember(read.memory);
  for (const spent of read.spent) await execute(within, { type: 'usage.add', ...spent }, null);
  return read.pressure;
}

async function stopFailedTurn(context: Context, moment: MomentOf<'turn-failed'>): Promise<null> {
  const within = await sessionFor(context, moment);
  if (!within || within.session.parent !== null) return null;
  const words = await failTurn(within, moment.reason, moment.message);
  if (within.state.run?.kind === 'planned') await leaveSnapshot(within, words);
  return null;
}

async function beforeCompaction(
  context: Context,
  hooks: ClientHooks,
  moment: MomentOf<'compact-before'>,
): Promise<Line | null> {
  const { memory, remember } = memoryFor(context, moment);
  // A client that reports the end of a compaction gets the brief there, which takes this back.
  const isDue = moment.isCertain && !hooks.takesContext.has('compact-before');
  if (isDue) remember({ ...memory, due: 'compacted', dueExcept: undefined });
  const within = await findSession(context, moment);
  // A conversation that is taken up again only to be compacted: its session starts with the next prompt.
  if (!within) return null;
  if (moment.isCertain) await countTokens(within, hooks, moment);
  // A client that announces it before every request gets a snapshot only now and then.
  const last = within.state.lastSnapshot?.session === within.session.id ? within.state.lastSnapshot.version : 0;
  if (moment.isCertain || within.state.version - last >= EVENTS_PER_SNAPSHOT) await leaveSnapshot(within, null);
  return hooks.takesContext.has('compact-before') ? sessionBrief(within, 'compacted') : null;
}

const EVENTS_PER_SNAPSHOT = 25;

async function addUsage(context: Context, moment: MomentOf<'usage'>): Promise<null> {
  const within = await sessionFor(context, moment);
  if (!within) return null;
  await execute(within, { type: 'usage.add', ...moment.spent }, keyOf(moment));
  await reportPressure(within, moment, moment.pressure);
  return null;
}

async function stopSubagent(context: Context, hooks: ClientHooks, moment: MomentOf<'subagent-stop'>): Promise<null> {
  // Clients also report the end of internal helpers whose start they never reported.
  const within = await findSession(context, moment);
  if (!within || moment.subagent === null || within.session.parent === null) return null;
  const { readUsage } = await import('./transcript.ts');
  const { spent } = readUsage(hooks, moment, {});
  for (const [index, one] of spent.entries()) {
    await execute(within, { type: 'usage.add', ...one }, keyOf(moment, index === 0 ? 'usage' : `usage ${index}`));
  }
  const notes = moment.lastMessage === null ? {} : { notes: [oneLine(redact(moment.lastMessage).text, 600)] };
  await execute(within, { type: 'session.end', reason: 'completed', ...notes }, keyOf(moment, within.session.id));
  return null;
}

/** A client that ends with its failed turn kills the hook that reports the failure. */
async function failOpenTurn(within: SessionContext, hooks: ClientHooks, moment: Moment): Promise<void> {
  const turn = within.state.sessions.get(within.session.id)?.turn;
  if (!hooks.failureIn || !turn || turn.endedAt !== null) return;
  const { failureAtEnd } = await import('./transcript.ts');
  const failure = failureAtEnd(hooks, moment.transcript);
  if (failure) await failTurn(within, failure.reason, failure.message);
}

async function endSession(context: Context, hooks: ClientHooks, moment: MomentOf<'session-end'>): Promise<null> {
  const within = await findSession(context, moment);
  if (!within) return null;
  await countTokens(within, hooks, moment);
  await failOpenTurn(within, hooks, moment);
  await leaveSnapshot(within, null);
  // Without the state of the whole tree: some clients wait for only one second.
  await execute(
    within,
    { type: 'session.end', reason: 'completed', mark: treeMark(within.context) },
    keyOf(moment, within.session.id),
  );
  return null;
}
