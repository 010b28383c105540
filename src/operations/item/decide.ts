import * as v from 'valibot';
import { line, id as ownId } from '../../core/line.ts';
import { Sentence } from '../../core/text.ts';
import { DecisionType } from '../../core/words.ts';
import { act, idInEvents } from '../act.ts';
import { affects, label } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';

export const Made = v.object({ id: v.string(), run: v.string(), version: v.number() });

export const decide = defineOperation({
  name: 'decide',
  summary: 'Record a decision with its reason.',
  scope: 'write',
  flags: { alternatives: 'alternative' },
  examples: [
    'holdfast decide --context "Token storage" --decision "httpOnly cookie" --reason "XSS" --alternative "localStorage: readable by scripts"',
  ],
  input: v.object({
    context: described(Sentence, 'What needed a decision.'),
    decision: described(Sentence, 'What was decided.'),
    reason: described(Sentence, 'Why this and not another.'),
    type: v.optional(described(DecisionType, 'What kind of decision it is.')),
    key: v.optional(described(label, 'A name to find it by: `holdfast decisions --key`.')),
    alternatives: v.optional(described(v.array(Sentence), 'What was considered and rejected, and why.')),
    irreversible: v.optional(described(v.boolean(), 'It cannot be undone; it is in every brief.')),
    affects,
    supersedes: v.optional(described(label, 'The decision this one replaces.')),
  }),
  output: Made,
  async run(context, { type, ...body }) {
    const done = await act(context, { type: 'decision.make', decisionType: type, ...body });
    return { data: { id: idInEvents(done) ?? '', run: done.run, version: done.state.version }, changed: done.changed };
  },
  say: ({ id }, pen) => line`Recorded decision ${pen.bold(ownId(id))}.`,
});
