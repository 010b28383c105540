import * as v from 'valibot';
import { line, id as ownId, word } from '../../core/line.ts';
import { ActorName, Sentence, StepKey, Text } from '../../core/text.ts';
import { ErrorType, ItemKind, Severity } from '../../core/words.ts';
import { act, currentState, idInEvents, inRun } from '../act.ts';
import { affects, label } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { Made } from './decide.ts';
import { inQuotes, warnOfKeys } from './parts/named.ts';

export const raise = defineOperation({
  name: 'raise',
  summary: 'Record something open: a blocker, finding, question, commitment or error.',
  scope: 'write',
  words: ['kind', 'text'],
  flags: { followUp: 'follow-up' },
  examples: [
    'holdfast raise blocker "OAuth credentials from the client" --affects p3',
    'holdfast raise question "Rotate on every use?" --to ana',
  ],
  suggest: async (_, { kind, text }) => {
    const words = text ?? (ItemKind.options.some((one) => one === kind) ? undefined : kind);
    return ItemKind.options.map((one) => `\`holdfast raise ${one} ${inQuotes(words)}\``);
  },
  input: v.object({
    kind: described(ItemKind, 'What it is.'),
    text: described(Sentence, 'What is open.'),
    affects,
    step: v.optional(described(StepKey, 'The step it came up in.')),
    severity: v.optional(described(Severity, 'Of a finding (default should_fix).')),
    type: v.optional(described(ErrorType, 'Of an error (default runtime).')),
    workaround: v.optional(described(Text, 'A workaround.')),
    followUp: v.optional(described(v.array(StepKey), 'A step that replaces the workaround.')),
    to: v.optional(described(ActorName, 'Recipient.')),
    due: v.optional(described(label, 'Due date.')),
  }),
  output: v.object({ ...Made.entries, kind: v.string(), status: v.string() }),
  async run(given, { kind, type, ...body }) {
    const context = await inRun(given);
    warnOfKeys(context, await currentState(context), body.affects);
    const done = await act(context, { type: 'item.raise', kind, errorType: type, ...body });
    const id = idInEvents(done) ?? '';
    return {
      data: {
        id,
        kind,
        status: done.state.items.get(id)?.status ?? 'open',
        run: done.run,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ id, kind }, pen) => line`Raised ${word(kind)} ${pen.bold(ownId(id))}.`,
});
