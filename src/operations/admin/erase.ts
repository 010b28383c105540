import * as v from 'valibot';
import { act, inRun } from '../act.ts';
import { label, reason } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';

export const erase = defineOperation({
  name: 'erase',
  summary: 'Erase the text of an entry permanently (people only).',
  scope: 'maintain',
  words: ['target'],
  examples: ['holdfast erase N-8 --reason "a password was pasted"'],
  input: v.object({ target: described(label, 'The id of an entry, or the version of an event.'), reason }),
  output: v.object({ erased: v.array(v.number()), run: v.string(), version: v.number() }),
  async run(given, { target, reason: why }) {
    const context = await inRun(given);
    const { run } = context;
    const engine = await context.engine();
    const versions = await (await engine.maintenance()).versionsAbout(run, target);
    const done = await act(context, { type: 'text.erase', versions, reason: why });
    return {
      data: { erased: versions, run, version: done.state.version },
      changed: versions.map((version) => ({ path: `event.${version}`, before: 'text', after: 'erased' })),
    };
  },
  say: ({ erased }) =>
    `Erased the text of ${erased.length} ${erased.length === 1 ? 'event' : 'events'} (${erased.join(', ')}). The journal still shows that it was there and was erased.`,
});
