import type { Session, State } from '../../../core/fold/state.ts';
import type { Command } from '../../../core/journal/command.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Done } from '../../../engine/execute.ts';
import { followUp } from '../../act.ts';
import type { Context } from '../../context.ts';

/** Where a moment is recorded: the run, and the session of the client's conversation in it. */
export interface SessionContext {
  /** With the run and the session as those who are meant. */
  context: Context;
  engine: Engine;
  run: string;
  state: State;
  session: Session;
}

export function sessionContextOf(context: Context, engine: Engine, state: State, session: Session): SessionContext {
  const run = state.run?.id ?? '';
  const actor = { kind: session.kind, name: session.agent };
  const identity = { ...context.identity, actor, session: session.id, key: null };
  return { context: { ...context, run, identity: identity }, engine, run, state, session };
}

/** Records under the seat's session, once for a key, and keeps the seat's state up to date. */
export async function execute(within: SessionContext, command: Command, key: string | null): Promise<Done> {
  const done = await within.engine.execute(within.run, command, { ...within.context.identity, key });
  within.state = done.state;
  await followUp(within.context, done);
  return done;
}
