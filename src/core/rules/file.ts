import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, mustBeActive, onlyStepHeld, type RuleContext } from './rule-context.ts';

export function seeFiles(context: RuleContext, { artifacts, read, step: named }: CommandOf<'files.see'>): Draft[] {
  mustBeActive(context);
  const step = named && context.state.steps.has(named) ? named : onlyStepHeld(context);
  return artifacts.length === 0 ? [] : [draft('files.seen', { artifacts, step, read }, 'verified')];
}
