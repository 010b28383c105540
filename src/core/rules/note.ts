import { notFound } from '../fault.ts';
import { nextId } from '../fold/ids.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, mustBeActive, onlyStepHeld, type RuleContext, stepOf } from './rule-context.ts';

export function addNote(context: RuleContext, { text, kind, step, asked }: CommandOf<'note.add'>): Draft[] {
  mustBeActive(context);
  const about = step ? stepOf(context, step).step.key : onlyStepHeld(context);
  const id = nextId(context.state, 'N');
  return [draft('note.added', { id, text, kind, step: about, ...(asked ? { asked } : {}) })];
}

/** Only a plan can be approved; approving it again changes nothing. */
export function approveNote(context: RuleContext, { id }: CommandOf<'note.approve'>): Draft[] {
  mustBeActive(context);
  const { plan } = context.state;
  const note = plan?.note === id ? null : context.recall('note', id);
  if (plan?.note !== id && note?.kind !== 'plan')
    throw notFound('plan', id, plan ? [plan.note] : [], 'See the notes with `holdfast search`.');
  const isApproved = plan?.note === id ? plan.approvedAt !== null : note?.approvedAt !== undefined;
  return isApproved ? [] : [draft('note.approved', { id }, 'verified')];
}
