import * as v from 'valibot';
import { Fault, notFound } from '../../core/fault.ts';
import { mustBeOwn } from '../../core/rules/session-proof.ts';
import { leaseEnd } from '../../core/views/liveness.ts';
import { currentState } from '../act.ts';
import { defineOperation } from '../operation.ts';

export const heartbeat = defineOperation({
  name: 'heartbeat',
  summary: "Renew a session's lease.",
  scope: 'write',
  input: v.object({}),
  output: v.object({ session: v.string(), run: v.string(), until: v.string() }),
  async run(context) {
    const state = await currentState(context);
    const { beat, now } = await context.engine();
    const { actor, session: named } = context.identity;
    const mine = [...state.sessions.values()].filter((one) =>
      named === null ? one.agent === actor.name : one.id === named || one.alias === named,
    );
    const [session, another] = mine;
    if (!session && named !== null)
      throw notFound('active session', named, [], 'Start one with `holdfast session start --agent NAME`.');
    if (!session) {
      throw new Fault('not_found', `${actor.name} has no active session.`, {
        hints: ['Start one with `holdfast session start --agent NAME`.'],
      });
    }
    if (another) {
      throw new Fault('usage', `${actor.name} has ${mine.length} active sessions. Choose one.`, {
        hints: ['Name it with `--session`.'],
      });
    }
    if (named !== null) mustBeOwn(session, context.identity);
    const at = now();
    const run = state.run?.id ?? '';
    await beat(run, session.id, at);
    const until = leaseEnd(session, { now: at, beats: new Map([[session.id, at]]), owners: new Map() });
    return { data: { session: session.id, run, until } };
  },
  say: ({ session, until }) => `${session} is alive until ${until}.`,
});
