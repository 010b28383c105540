import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, type RuleContext } from './rule-context.ts';

/** Records what a recovered session was rebuilt from, and how certain that is. */
export function makeRecovery(_context: RuleContext, { from, findings }: CommandOf<'recovery.make'>): Draft[] {
  return [draft('recovery.made', { from, findings }, 'verified')];
}
