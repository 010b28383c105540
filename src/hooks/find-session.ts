import { conversationOf } from '../clients/conversation.ts';
import type { HookSource, Moment } from '../clients/moment.ts';
import type { Session, State } from '../core/fold/state.ts';
import { sha256 } from '../core/sha256.ts';
import type { Engine } from '../engine/engine.ts';
import type { Context } from '../operations/context.ts';
import { type SessionContext, sessionContextOf } from '../operations/session/parts/attached-session.ts';

/** The seat of a conversation that is at work already; null when it has to be looked for further or taken first. */
export async function findSession(context: Context, moment: HookSource): Promise<SessionContext | null> {
  const engine = await context.engine();
  for (const run of await runsToLookIn(context, engine, moment)) {
    const state = await engine.load(run);
    const session = sessionIn(state, moment);
    if (session) return sessionContextOf(context, engine, state, session);
  }
  return null;
}

/** Of many active runs, those that know the conversation; of one it is not worth asking. */
async function runsToLookIn(context: Context, engine: Engine, moment: HookSource): Promise<string[]> {
  if (context.run !== undefined) return (await engine.heads({ run: context.run })).map((head) => head.run);
  const workspace = context.workspace()?.id;
  if (workspace === undefined) return [];
  const heads = await engine.heads({ workspace, status: 'active', limit: RUNS_LIMIT });
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

/** The active session of a conversation; where the client gives no id, the newest of that client. */
export function sessionIn(state: State, moment: HookSource): Session | null {
  const sessions = [...state.sessions.values()].reverse();
  if (moment.conversation !== null || moment.subagent !== null) {
    const id = conversationOf(moment);
    return sessions.find((session) => session.client?.id === id) ?? null;
  }
  return sessions.find((session) => session.client?.name === moment.client && session.parent === null) ?? null;
}

/** Some clients give no id to a tool call or a turn, but say when it was. */
export function isTime(id: string | null): boolean {
  return id !== null && /^\d{4}-\d\d-\d\dT|^\d{13}$/.test(id);
}

/** One occurrence of an event is recorded once, whoever runs the hook and under whatever name. */
export function keyOf(moment: Moment, part = ''): string {
  const { kind, subagent } = moment;
  // Two hook files of one client give one prompt two times.
  const id = kind === 'prompt' && isTime(moment.id) ? null : moment.id;
  const call = 'call' in moment ? [moment.call.command, moment.call.files, moment.call.todos] : null;
  const told = [moment.conversation, subagent?.id ?? null, kind, id, call, part];
  return `hook:${sha256(JSON.stringify(told)).slice(0, 32)}`;
}
