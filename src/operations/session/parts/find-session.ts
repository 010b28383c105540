import { type Conversation, conversationOf } from '../../../clients/conversation.ts';
import type { Session, State } from '../../../core/fold/state.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Head } from '../../../store/journal.ts';
import type { Context } from '../../context.ts';
import { type SessionContext, sessionContextOf } from './session-context.ts';

/** The active session of a conversation, in any run; null if it has none. */
export async function findSession(context: Context, moment: Conversation): Promise<SessionContext | null> {
  const engine = await context.engine();
  for (const run of await runsOf(context, engine, moment)) {
    const state = await engine.load(run);
    const session = sessionIn(state, moment);
    if (session) return sessionContextOf(context, engine, state, session);
  }
  return null;
}

/** The runs that know a conversation, the last changed first. A subagent belongs to the conversation it works for. */
export async function runsOf(context: Context, engine: Engine, moment: Conversation): Promise<string[]> {
  const workspace = context.workspace()?.ids;
  const heads = await engine.heads({ ...(workspace === undefined ? {} : { workspace }), limit: RUNS_LIMIT });
  if (moment.conversation === null) return heads.map(({ run }) => run);
  const id = conversationOf({ ...moment, subagent: null });
  const known: string[] = [];
  for (const head of heads) {
    if (head.status === 'moved') continue;
    if (await knows(engine, head, id)) known.push(head.run);
  }
  return known;
}

const RUNS_LIMIT = 300;

async function knows(engine: Engine, { run, position }: Head, id: string): Promise<boolean> {
  if (position.facts) return position.facts.conversations.includes(id);
  return (await engine.savedRows(run, { kind: 'session', tag: `client:${id}`, limit: 1 })).length > 0;
}

/** The active session of a conversation; where the client sends no id, the newest one of that client. */
export function sessionIn(state: State, moment: Conversation): Session | null {
  const sessions = [...state.sessions.values()].reverse();
  if (moment.conversation !== null || moment.subagent !== null) {
    const id = conversationOf(moment);
    return sessions.find((session) => session.client?.id === id) ?? null;
  }
  return sessions.find((session) => session.client?.name === moment.client && session.parent === null) ?? null;
}
