import type { Session, State } from '../../../core/fold/state.ts';
import type { Command } from '../../../core/journal/command.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Done } from '../../../engine/execute.ts';
import { execute as executeOn } from '../../act.ts';
import type { Context } from '../../context.ts';

/** The run, and the session in it that a client's conversation is recorded under. */
export interface SessionContext {
  /** Its run and identity are those of the session. */
  context: Context;
  engine: Engine;
  run: string;
  state: State;
  session: Session;
}

export function sessionContextOf(context: Context, engine: Engine, state: State, session: Session): SessionContext {
  const run = state.run?.id ?? '';
  const actor = { kind: session.kind, name: session.agent };
  const identity = { ...context.identity, actor, session: session.id, proof: undefined, key: null };
  return { context: { ...context, run, isRunKnown: true, identity }, engine, run, state, session };
}

/** Runs a command in the session, once per key, and updates the context's state. */
export async function execute(within: SessionContext, command: Command, key: string | null): Promise<Done> {
  const { context, run } = within;
  const done = await executeOn(context, run, command, { identity: { ...context.identity, key } });
  within.state = done.state;
  return done;
}
