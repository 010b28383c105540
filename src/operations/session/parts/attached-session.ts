import type { Session, State } from '../../../core/fold/state.ts';
import type { Command } from '../../../core/journal/command.ts';
import type { Done, Engine } from '../../../engine/engine.ts';
import { writeWhatFollows } from '../../act.ts';
import type { Context } from '../../context.ts';

/** Where a moment is recorded: the run, and the session of the client's conversation in it. */
export interface Seat {
  /** With the run and the session as those who are meant. */
  context: Context;
  engine: Engine;
  run: string;
  state: State;
  session: Session;
}

export function seatAt(context: Context, engine: Engine, state: State, session: Session): Seat {
  const run = state.run?.id ?? '';
  const actor = { kind: session.kind, name: session.agent };
  const caller = { ...context.caller, actor, session: session.id, key: null };
  return { context: { ...context, run, caller }, engine, run, state, session };
}

/** Records under the seat's session, once for a key, and keeps the seat's state up to date. */
export async function execute(seat: Seat, command: Command, key: string | null): Promise<Done> {
  const done = await seat.engine.execute(seat.run, command, { ...seat.context.caller, key });
  seat.state = done.state;
  await writeWhatFollows(seat.context, done);
  return done;
}
