import { notFound } from '../fault.ts';
import { nextId } from '../fold/ids.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, mustAllow, mustBeActive, onlyStepHeld, type RuleContext, stepOf } from './rule-context.ts';

export function makeDecision(
  context: RuleContext,
  { type: _, decisionType, ...body }: CommandOf<'decision.make'>,
): Draft[] {
  mustBeActive(context);
  const supersedes = body.supersedes ? decisionOf(context, body.supersedes) : null;
  if (supersedes) {
    mustAllow('decision', `Decision ${supersedes.id}`, supersedes.status, 'supersede', [
      supersedes.supersededBy
        ? `It was superseded by ${supersedes.supersededBy}; supersede that one.`
        : 'See `holdfast decisions`.',
    ]);
  }
  if (body.step) stepOf(context, body.step);
  const step = body.step ?? onlyStepHeld(context);
  return [
    draft('decision.made', {
      ...body,
      ...(step === undefined ? {} : { step }),
      id: nextId(context.state, 'D'),
      ...(decisionType ? { type: decisionType } : {}),
      ...(supersedes ? { supersedes: supersedes.id } : {}),
    }),
  ];
}

export function retractDecision(context: RuleContext, { id, reason }: CommandOf<'decision.retract'>): Draft[] {
  mustBeActive(context);
  const decision = decisionOf(context, id);
  if (decision.status === 'retracted') return [];
  return [draft('decision.retracted', { id: decision.id, reason, was: decision.status })];
}

function decisionOf(context: RuleContext, reference: string) {
  const found = context.recall('decision', reference);
  if (found) return found;
  throw notFound('decision', reference, ids('D', context), 'See them with `holdfast decisions`.');
}

/** The last ids of a prefix, as suggestions for a typing error. */
function ids(prefix: string, context: RuleContext): string[] {
  const last = context.state.counters[prefix] ?? 0;
  return Array.from({ length: Math.min(last, 200) }, (_, index) => `${prefix}-${last - index}`);
}
