import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, mustBeActive, type RuleContext, stepOf } from './rule-context.ts';

export function addUsage(context: RuleContext, command: CommandOf<'usage.add'>): Draft[] {
  const { input, output, cached, model, of, step } = command;
  mustBeActive(context);
  if (step) stepOf(context, step);
  if (input + output + (cached ?? 0) === 0) return [];
  const rest = { ...(cached === undefined ? {} : { includesCached: true }), ...(model ? { model } : {}) };
  return [draft('usage.added', { agent: of ?? context.actor.name, input, output, cached, step, ...rest })];
}
