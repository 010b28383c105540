import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, mustBePerson, type RuleContext } from './rule-context.ts';

/** Decides who may erase, and records that it happened; the engine erases the text in the same transaction. */
export function eraseText(context: RuleContext, { versions, reason }: CommandOf<'text.erase'>): Draft[] {
  mustBePerson(context, 'erase what was recorded', 'holdfast erase ID --reason …');
  return versions.length === 0 ? [] : [draft('text.erased', { versions, reason })];
}
