import * as v from 'valibot';
import { act, currentRun } from '../act.ts';
import { writeResumeFile } from '../brief/parts/resume-file.ts';
import { label, reason } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { saveSnapshots } from '../snapshot/parts/file.ts';
import { writeArchive, writeWorklogFile } from '../worklog/parts/file.ts';

export const erase = defineOperation({
  name: 'erase',
  summary: 'Take the words of a record or of one event out of the journal for good; only a person may.',
  scope: 'maintain',
  words: ['target'],
  examples: ['holdfast erase N-8 --reason "a password was pasted"'],
  input: v.object({ target: described(label, 'The id of a record, or the version of one event.'), reason }),
  output: v.object({ erased: v.array(v.number()), run: v.string(), version: v.number() }),
  async run(context, { target, reason: why }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    const versions = await (await engine.maintenance()).versionsAbout(run, target);
    const done = await act(context, { type: 'text.erase', versions, reason: why });
    await writeResumeFile(context, done.state);
    // Under anybody's claim: the words must go.
    await writeWorklogFile(context, done.state, true);
    for (const archive of done.state.worklog.archives) {
      await writeArchive(context, done.state, archive).catch((thrown: Error) =>
        context.warn(`The words may still stand in an archive of the worklog. ${thrown.message}`),
      );
    }
    for (const version of versions) {
      const event = await engine.event(run, version);
      if (event) saveSnapshots(context, [event]);
    }
    return {
      data: { erased: versions, run, version: done.state.version },
      changed: versions.map((version) => ({ path: `event.${version}`, before: 'text', after: 'erased' })),
    };
  },
  say: ({ erased }) =>
    `Erased the words of ${erased.length} ${erased.length === 1 ? 'event' : 'events'} (${erased.join(', ')}). That they were there, and that they were erased, stays.`,
});
