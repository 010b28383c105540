import type { Run, State } from '../fold/state.ts';
import { type PlanView, retriesLeft, type StepView } from '../views/plan.ts';
import type { Position } from '../views/position.ts';
import { isOver } from '../views/run-state.ts';

export interface BriefAction {
  text: string;
  /** Written by an agent or a person, or derived from the plan. */
  basis: 'declared' | 'derived';
  session: string | null;
}

/** The one next action: what was declared for the current step, else what follows from its status. */
export function nextActionOf(state: State, plan: PlanView, position: Position, mine: string | null): BriefAction {
  const { run, next } = state;
  const { current } = position;
  if (run && isOver(run)) return derived(afterTheEnd(run));
  const declared = next && { text: next.text, basis: 'declared' as const, session: next.session };
  if (plan.leaves.length === 0)
    return declared ?? derived('Make a plan: `holdfast plan add KEY TITLE`, or `holdfast plan import FILE`.');
  if (!current)
    return derived('Everything is done: `holdfast archive`, or reopen a step with `holdfast reopen KEY --reason …`.');
  const { step, status } = current;
  if (declared && next?.step === step.key) return declared;
  // An agent on another step may have declared a newer next action: what the checkpoint of this step says goes first.
  const { checkpoint } = step;
  if (status === 'in_progress' && checkpoint?.next)
    return { text: checkpoint.next, basis: 'declared', session: checkpoint.session };
  if (declared && next?.step === null) return declared;
  return derived(stepAction(current, position, mine));
}

const derived = (text: string): BriefAction => ({ text, basis: 'derived', session: null });

function afterTheEnd(run: Run): string {
  const back = run.status === 'archived' ? `bring it back with \`holdfast unarchive ${run.id}\`, or ` : '';
  return `None: this run has ended. To continue, ${back}open another with \`holdfast init\`.`;
}

function stepAction(current: StepView, position: Position, mine: string | null): string {
  const { step, status } = current;
  const { key, checkpoint } = step;
  if (status === 'failed')
    return `\`${key}\` failed. Ask a person: retry (${retriesLeft(step)} left), skip, abort, or adjust the plan. Wait for the choice.`;
  if (current.interrupted) return takeOver(current, position);
  if (status === 'in_progress') {
    return step.holder?.session === mine
      ? `Continue with \`${key}\`${checkpoint ? ` after checkpoint ${checkpoint.name}` : ''}.`
      : `${step.holder?.agent} holds \`${key}\`; take another ready step, or wait with \`holdfast wait --for ${key}\`.`;
  }
  return current.obstacles.length > 0
    ? `Nothing is ready: \`${key}\` is blocked. \`holdfast status\` shows by what.`
    : `Start \`${key}\` with \`holdfast start ${key}\`.`;
}

function takeOver({ step: { key, checkpoint, artifacts } }: StepView, { interrupted }: Position): string {
  const after = checkpoint
    ? `continue after checkpoint ${checkpoint.name}`
    : artifacts.length > 0
      ? 'continue from the files that were changed for it: it reached no checkpoint'
      : 'start it again: it reached no checkpoint';
  const others = interrupted.slice(1).map((view) => view.step.key);
  const also = others.length > 0 ? ` (interrupted too: ${others.join(', ')})` : '';
  return `Take \`${key}\` over with \`holdfast start ${key}\` and ${after}${also}.`;
}
