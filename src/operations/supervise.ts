import * as v from 'valibot';
import type { Session } from '../core/state.ts';
import { currentState } from './act.ts';
import { defineOperation, described } from './operation.ts';
import { writeResumeFile } from './resume-file.ts';
import { superviseRun } from './supervision.ts';

export const supervise = defineOperation({
  name: 'supervise',
  summary: 'Mark sessions that are gone as crashed and free what they held.',
  scope: 'write',
  input: v.object({
    once: v.optional(described(v.boolean(), 'Look once and end (the default).')),
    watch: v.optional(described(v.boolean(), 'Go on looking until interrupted.')),
  }),
  watches: ({ watch }) => watch === true,
  output: v.object({
    crashed: v.array(
      v.object({
        session: v.string(),
        agent: v.string(),
        /** Whose transcript may tell more; null where there is none. */
        client: v.nullable(v.string()),
        evidence: v.array(v.string()),
      }),
    ),
    run: v.string(),
    version: v.number(),
  }),
  async run(context) {
    const done = await superviseRun(context);
    if (!done) {
      const state = await currentState(context);
      return { data: { crashed: [], run: state.run?.id ?? '', version: state.version }, changed: [] };
    }
    await writeResumeFile(context, done.state);
    const ended = done.events.flatMap((event) => (event.type === 'session.ended' ? [event.body] : []));
    const engine = await context.engine();
    const records = await engine.recall(
      done.run,
      ended.map((one) => one.id),
    );
    const crashed = ended.map(({ id, evidence }) => {
      const session = records.find((record) => record.id === id)?.doc as Session | undefined;
      const client = session?.client?.name ?? null;
      return { session: id, agent: session?.agent ?? '', client, evidence: evidence ?? [] };
    });
    return { data: { crashed, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ crashed }, pen) =>
    crashed.length === 0
      ? 'Every session is alive.'
      : crashed
          .map((one) => {
            const hint = one.client
              ? ` What ${one.client} left of it: \`holdfast recover --session ${one.session}\`.`
              : '';
            return `${pen.bad('✗')} ${one.session} (${one.agent}) crashed. ${one.evidence.join(' ')}${hint}`;
          })
          .join('\n'),
});
