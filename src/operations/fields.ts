import * as v from 'valibot';
import { Label, Sentence, Text } from '../core/text.ts';
import { described } from './operation.ts';

/** Input fields that several operations share, with the sentence that explains them. */
export const stepKey = described(Label, 'The step, by key or title.');
export const heldStepKey = v.optional(described(Label, 'The step, by key or title; the one you hold when left out.'));
export const reference = described(Label, 'An id such as D-7, or the id of a foreign file.');
export const reason = described(Sentence, 'Why.');
export const note = v.optional(described(Text, 'What to remember about it.'));
export const artifacts = v.optional(
  described(v.array(v.string()), 'A file that was made or changed; hashed as it is now.'),
);
export const built = v.optional(described(Sentence, 'What was implemented, in a sentence.'));
export const nextAction = v.optional(described(Sentence, 'The next action for the next session.'));
export const limit = (fallback: number) =>
  v.optional(described(v.pipe(v.number(), v.integer(), v.minValue(1)), `How many at most (default ${fallback}).`));
export const affects = v.optional(described(v.array(Text), 'A step it affects, or a description of what it affects.'));
export const version = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
export const label = Label;
