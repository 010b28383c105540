import { type Conversation, conversationOf } from '../../../clients/conversation.ts';
import type { Session, State } from '../../../core/fold/state.ts';
import type { Engine } from '../../../engine/engine.ts';
import { mayBeChosen } from '../../act.ts';
import type { Context } from '../../context.ts';
import { type SessionContext, sessionContextOf } from './session-context.ts';

/** The active session of a conversation; null if it has none yet. */
export async function findSession(context: Context, moment: Conversation): Promise<SessionContext | null> {
  const engine = await context.engine();
  for (const run of await runsToLookIn(context, engine, moment)) {
    const state = await engine.load(run);
    const session = sessionIn(state, moment);
    if (session) return sessionContextOf(context, engine, state, session);
  }
  return null;
}

/** Of several active runs, those that know the conversation; a single one is not asked. */
async function runsToLookIn(context: Context, engine: Engine, moment: Conversation): Promise<string[]> {
  if (context.run !== undefined) return (await engine.heads({ run: context.run })).map((head) => head.run);
  const workspace = context.workspace()?.id;
  if (workspace === undefined) return [];
  const heads = (await engine.heads({ workspace, status: 'active', limit: RUNS_LIMIT })).filter(mayBeChosen);
  if (heads.length <= 1) return heads.map((head) => head.run);
  const known: string[] = [];
  const tag = `client:${conversationOf(moment)}`;
  for (const { run } of heads) {
    if (moment.conversation === null || (await engine.savedRows(run, { kind: 'session', tag, limit: 1 })).length > 0)
      known.push(run);
  }
  return known;
}

const RUNS_LIMIT = 50;

/** The active session of a conversation; where the client sends no id, the newest one of that client. */
export function sessionIn(state: State, moment: Conversation): Session | null {
  const sessions = [...state.sessions.values()].reverse();
  if (moment.conversation !== null || moment.subagent !== null) {
    const id = conversationOf(moment);
    return sessions.find((session) => session.client?.id === id) ?? null;
  }
  return sessions.find((session) => session.client?.name === moment.client && session.parent === null) ?? null;
}
