import * as v from 'valibot';
import type { Session, State } from '../../core/fold/state.ts';
import { overdueBecause } from '../../core/views/mail.ts';
import type { Done } from '../../engine/execute.ts';
import { act, currentState, inRun } from '../act.ts';
import type { Context } from '../context.ts';
import { defineOperation, described } from '../operation.ts';
import { superviseRun } from './parts/supervision.ts';

const GoneSession = v.object({
  session: v.string(),
  agent: v.string(),
  /** The client that may have a transcript of it; null without one. */
  client: v.nullable(v.string()),
  evidence: v.array(v.string()),
});

export const supervise = defineOperation({
  name: 'supervise',
  summary: 'End sessions that are gone, release what they held, and pass overdue mail to the maintainer.',
  scope: 'write',
  input: v.object({
    once: v.optional(described(v.boolean(), 'Check once (the default).')),
    watch: v.optional(described(v.boolean(), 'Keep checking until interrupted.')),
  }),
  watches: ({ watch }) => watch === true,
  output: v.object({
    crashed: v.array(GoneSession),
    /** Sessions without a reported end whose last turn was over: nothing was lost. */
    ended: v.array(GoneSession),
    /** Messages that were not acknowledged in time, passed to the maintainer. */
    escalated: v.array(v.string()),
    run: v.string(),
    version: v.number(),
  }),
  async run(given) {
    const context = await inRun(given);
    const done = await superviseRun(context);
    const mail = await escalateStaleMail(context, done?.state ?? (await currentState(context)));
    const state = mail?.state ?? done?.state ?? (await currentState(context));
    const run = state.run?.id ?? '';
    const escalated = (mail?.events ?? []).flatMap((event) =>
      event.type === 'message.escalated' ? [event.body.id] : [],
    );
    const changed = [...(done?.changed ?? []), ...(mail?.changed ?? [])];
    if (!done) return { data: { crashed: [], ended: [], escalated, run, version: state.version }, changed };
    const bodies = done.events.flatMap((event) => (event.type === 'session.ended' ? [event.body] : []));
    const engine = await context.engine();
    const rows = await engine.recall(
      done.run,
      bodies.map((one) => one.id),
    );
    const gone = bodies.map(({ id, reason, evidence }) => {
      const session = rows.find((row) => row.id === id)?.doc as Session | undefined;
      const client = session?.client?.name ?? null;
      return { reason, one: { session: id, agent: session?.agent ?? '', client, evidence: evidence ?? [] } };
    });
    const crashed = gone.flatMap(({ reason, one }) => (reason === 'crashed' ? [one] : []));
    const ended = gone.flatMap(({ reason, one }) => (reason === 'crashed' ? [] : [one]));
    return { data: { crashed, ended, escalated, run, version: state.version }, changed };
  },
  say: ({ crashed, ended, escalated }, pen) =>
    [
      ...(crashed.length + ended.length === 0 ? ['Every session is alive.'] : []),
      ...ended.map((one) => `${one.session} (${one.agent}) has ended without reporting it. ${one.evidence.join(' ')}`),
      ...crashed.map((one) => {
        const hint = one.client ? ` What ${one.client} left of it: \`holdfast recover --session ${one.session}\`.` : '';
        return `${pen.bad('✗')} ${one.session} (${one.agent}) crashed. ${one.evidence.join(' ')}${hint}`;
      }),
      ...(escalated.length > 0 ? [`Overdue mail, passed to the maintainer: ${escalated.join(', ')}.`] : []),
    ].join('\n'),
});

async function escalateStaleMail(context: Context, state: State): Promise<Done | null> {
  const { now } = await context.engine();
  const at = now();
  const isOpen = state.run?.status === 'active' || state.run?.status === 'completed';
  const isStale = [...state.messages.values()].some((one) => !one.escalated && overdueBecause(one, at) !== null);
  if (!isOpen || !isStale) return null;
  // The key belongs to the user's command, not to what it records on the way.
  return act({ ...context, identity: { ...context.identity, key: null } }, { type: 'message.escalate' });
}
