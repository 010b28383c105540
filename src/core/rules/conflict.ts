import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, type RuleContext } from './rule-context.ts';

export function acceptConflict(context: RuleContext, { id, note }: CommandOf<'conflict.accept'>): Draft[] {
  return context.state.acceptedConflicts.has(id) ? [] : [draft('conflict.accepted', { id, note })];
}
