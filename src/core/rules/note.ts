import { nextId } from '../fold/state.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, mustBeActive, onlyStepHeld, type RuleContext, stepOf } from './rule-context.ts';

export function addNote(context: RuleContext, { text, kind, step, asked }: CommandOf<'note.add'>): Draft[] {
  mustBeActive(context);
  const about = step ? stepOf(context, step).step.key : onlyStepHeld(context);
  const id = nextId(context.state, 'N');
  return [draft('note.added', { id, text, kind, step: about, ...(asked ? { asked } : {}) })];
}
