import * as v from 'valibot';
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
    crashed: v.array(v.object({ session: v.string(), agent: v.string(), evidence: v.array(v.string()) })),
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
    const agentOf = (id: string): string =>
      (records.find((record) => record.id === id)?.doc as { agent: string } | undefined)?.agent ?? '';
    const crashed = ended.map(({ id, evidence }) => ({ session: id, agent: agentOf(id), evidence: evidence ?? [] }));
    return { data: { crashed, run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ crashed }, pen) =>
    crashed.length === 0
      ? 'Every session is alive.'
      : crashed
          .map((one) => `${pen.bad('✗')} ${one.session} (${one.agent}) crashed. ${one.evidence.join(' ')}`)
          .join('\n'),
});
