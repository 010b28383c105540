import * as v from 'valibot';
import { joined, line, id as ownId, word } from '../../core/line.ts';
import { StepKey } from '../../core/text.ts';
import { SettledAs } from '../../core/words.ts';
import { act } from '../act.ts';
import { note, reference } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { Made } from './decide.ts';

export const settle = defineOperation({
  name: 'settle',
  summary: 'Close an open item, or reopen it with --as active.',
  scope: 'write',
  words: ['id'],
  flags: { followUp: 'follow-up' },
  examples: ['holdfast settle B-3 --as resolved --note "credentials arrived"'],
  input: v.object({
    id: reference,
    as: described(SettledAs, 'What it becomes.'),
    note,
    followUp: v.optional(described(v.array(StepKey), 'A step that replaces a bypass.')),
  }),
  output: v.object({ ...Made.entries, status: v.string(), freed: v.array(v.string()) }),
  async run(context, { id, as, note: remark, followUp }) {
    const done = await act(context, { type: 'item.settle', id, as, note: remark, followUp });
    const settled = done.events.find((event) => event.type === 'item.settled');
    return {
      data: {
        id: settled?.body.id ?? id,
        status: as,
        freed: settled?.body.freed ?? [],
        run: done.run,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ id, status, freed }, pen) =>
    line`${pen.bold(ownId(id))} is ${word(status)}.${freed.length > 0 ? line` This frees ${joined(freed.map((key) => pen.quote(key, 'name')))}.` : ''}`,
});
