import { Fault } from '../../../core/fault.ts';
import type { Context } from '../../context.ts';

/** For acts that decide what happens on this machine. */
export function mustBePerson(context: Context, what: string): void {
  const { actor } = context.identity;
  if (actor.kind === 'person') return;
  throw new Fault('not_allowed', `Only a person may ${what}; ${actor.name} is an agent.`, {
    hints: ['Ask the person you work for to do it at their terminal, and say why.'],
    data: { actor },
  });
}
