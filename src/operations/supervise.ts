import * as v from 'valibot';
import { act } from './act.ts';
import { defineOperation, described } from './operation.ts';
import { writeResumeFile } from './resume-file.ts';

export const supervise = defineOperation({
  name: 'supervise',
  summary: 'Mark sessions that are gone as crashed and free what they held.',
  scope: 'write',
  input: v.object({ once: v.optional(described(v.boolean(), 'Look once and end (the default).')) }),
  output: v.object({
    crashed: v.array(v.object({ session: v.string(), agent: v.string(), evidence: v.array(v.string()) })),
    run: v.string(),
    version: v.number(),
  }),
  async run(context) {
    const before = await act(context, { type: 'run.supervise' });
    const crashed = before.events.flatMap((event) => (event.type === 'session.ended' ? [event.body] : []));
    if (crashed.length > 0) await writeResumeFile(context, before.state);
    const engine = await context.engine();
    const records =
      crashed.length > 0
        ? await engine.recall(
            before.run,
            crashed.map((one) => one.id),
          )
        : [];
    const agentOf = (id: string): string =>
      (records.find((record) => record.id === id)?.doc as { agent: string } | undefined)?.agent ?? '';
    return {
      data: {
        crashed: crashed.map(({ id, evidence }) => ({ session: id, agent: agentOf(id), evidence: evidence ?? [] })),
        run: before.run,
        version: before.state.version,
      },
      changed: before.changed,
    };
  },
  say: ({ crashed }, pen) =>
    crashed.length === 0
      ? 'Every session is alive.'
      : crashed
          .map((one) => `${pen.bad('✗')} ${one.session} (${one.agent}) crashed. ${one.evidence.join(' ')}`)
          .join('\n'),
});
