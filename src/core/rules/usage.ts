import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, mustBeActive, type RuleContext, stepOf } from './rule-context.ts';

export function addUsage(context: RuleContext, { input, output, cached, of, step }: CommandOf<'usage.add'>): Draft[] {
  mustBeActive(context);
  if (step) stepOf(context, step);
  if (input + output + (cached ?? 0) === 0) return [];
  return [draft('usage.added', { agent: of ?? context.actor.name, input, output, cached, step })];
}
