import { evolve } from '../../../core/fold/evolve.ts';
import type { Session, State } from '../../../core/fold/state.ts';
import { forkState } from '../../../core/fold/state-tables.ts';
import { provisionalEvent } from '../../../core/rules/rule-context.ts';
import { supervise } from '../../../core/rules/session.ts';
import { isGone } from '../../../core/views/liveness.ts';
import type { Context } from '../../context.ts';

/** Sessions without a recorded end whose process or lease is gone. */
export async function goneSessions(context: Context, state: State): Promise<Session[]> {
  if (state.sessions.size === 0) return [];
  const engine = await context.engine();
  const liveness = await engine.liveness(state);
  return [...state.sessions.values()].filter((session) => isGone(session, liveness));
}

/** The state as it will be once the sessions that are gone are marked, and those sessions; nothing is recorded. */
export async function asSupervised(context: Context, state: State): Promise<{ state: State; ended: Session[] }> {
  const ended: Session[] = [];
  if ((await goneSessions(context, state)).length === 0) return { state, ended };
  const liveness = await (await context.engine()).liveness(state);
  const { actor, evidence } = context.identity;
  const seen = { ...liveness, state, actor, evidence, session: null, recall: () => null };
  const later = forkState(state);
  for (const draft of supervise(seen, { type: 'run.supervise' })) {
    const touches = evolve(later, provisionalEvent(draft, later, liveness.now, { actor, evidence, session: null }));
    for (const touch of touches) if (touch.kind === 'session' && touch.after) ended.push(touch.after);
  }
  return { state: later, ended };
}
