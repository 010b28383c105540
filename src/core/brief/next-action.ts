import type { Run, State } from '../fold/state.ts';
import { id, joined, type Line, line, quote, quoteAll, sourceMark } from '../line.ts';
import { type PlanView, retriesLeft, type StepView } from '../views/plan.ts';
import type { Position } from '../views/position.ts';
import { isOver } from '../views/run-state.ts';

export type BriefAction = DeclaredAction | DerivedAction;

/** In the words of an agent or a person, or of a file that was read. */
interface DeclaredAction {
  text: string;
  basis: 'declared';
  session: string | null;
  /** The file that says so. */
  file?: string;
}

/** It follows from the plan. */
interface DerivedAction {
  text: Line;
  basis: 'derived';
  session: null;
}

/** The one next action: what was declared for the current step, else what follows from its status. */
export function nextActionOf(state: State, plan: PlanView, position: Position, mine: string | null): BriefAction {
  const { run, next } = state;
  const { current } = position;
  if (run && isOver(run)) return derived(afterTheEnd(run));
  const declared = next && declaredAction(next);
  if (plan.leaves.length === 0)
    return declared ?? derived(line`Make a plan: \`holdfast plan add KEY TITLE\`, or \`holdfast plan import FILE\`.`);
  if (!current)
    return (
      declared ??
      derived(line`Everything is done: \`holdfast archive\`, or reopen a step with \`holdfast reopen KEY --reason …\`.`)
    );
  const { step, status } = current;
  if (declared && next && isAt(plan, current, next.step)) return declared;
  // An agent on another step may have declared a newer next action: what the checkpoint of this step says goes first.
  const { checkpoint } = step;
  if (status === 'in_progress' && checkpoint?.next)
    return { text: checkpoint.next, basis: 'declared', session: checkpoint.session };
  if (declared && next?.step === null) return declared;
  return derived(stepAction(current, position, mine));
}

export function nextLine(action: BriefAction, chars?: number): Line {
  if (action.basis === 'derived') return line`Next action: ${action.text}`;
  const { text, session, file } = action;
  const by = session ? line` by ${id(session)}` : '';
  const mark = file === undefined ? '' : line` ${sourceMark({ file })}`;
  return line`Next action: ${quote(text, 'text', chars)} (declared${by})${mark}`;
}

/** A next action for a phase or a plan is one for the step in it that is current. */
function isAt(plan: PlanView, { step }: StepView, key: string | null): boolean {
  if (key === null) return false;
  for (let at: string | null = step.key, depth = 0; at !== null && depth < 50; depth++) {
    if (at === key) return true;
    at = plan.byKey.get(at)?.step.parent ?? null;
  }
  return false;
}

const derived = (text: Line): DerivedAction => ({ text, basis: 'derived', session: null });

const declaredAction = ({ text, session, file }: NonNullable<State['next']>): DeclaredAction => ({
  text,
  basis: 'declared',
  session,
  ...(file === undefined ? {} : { file }),
});

function afterTheEnd(run: Run): Line {
  const back = run.status === 'archived' ? line`bring it back with \`holdfast unarchive RUN\`, or ` : '';
  return line`None: this run has ended. To continue, ${back}open another with \`holdfast init\`.`;
}

/** Commands are given with `KEY`: a line must not ask the reader to run words that someone chose. */
function stepAction(current: StepView, position: Position, mine: string | null): Line {
  const { step, status } = current;
  const { checkpoint, holder } = step;
  const key =
    step.title === step.key
      ? quote(step.key, 'name')
      : line`${quote(step.key, 'name')} (${quote(step.title, 'title')})`;
  if (status === 'failed')
    return line`Step ${key} failed. Ask a person: retry (${retriesLeft(step)} left), skip, abort, or adjust the plan. Wait for the choice.`;
  if (current.interrupted) return takeOver(current, position);
  if (status === 'in_progress') {
    return holder?.session === mine
      ? line`Continue with step ${key}${checkpoint ? line` after checkpoint ${quote(checkpoint.name, 'name')}` : ''}.`
      : line`${quote(holder?.agent ?? '', 'name')} holds step ${key}; take another ready step, or wait with \`holdfast wait --for KEY\`.`;
  }
  if (current.obstacles.some(({ kind }) => kind === 'gate') && !current.blocked)
    return line`Step ${key} waits for its gate. A person opens it with \`holdfast gate KEY open\`.`;
  return current.obstacles.length > 0
    ? line`Nothing is ready: step ${key} is blocked. \`holdfast status\` shows by what.`
    : line`Start step ${key} with \`holdfast start KEY\`.`;
}

function takeOver({ step: { key, checkpoint, artifacts } }: StepView, { interrupted }: Position): Line {
  const after = checkpoint
    ? line`continue after checkpoint ${quote(checkpoint.name, 'name')}`
    : artifacts.length > 0
      ? line`continue from the files that were changed for it: it reached no checkpoint`
      : line`start it again: it reached no checkpoint`;
  const others = interrupted.slice(1).map((view) => view.step.key);
  const also = others.length > 0 ? line` (interrupted too: ${severalKeys(others)})` : '';
  return line`Take step ${quote(key, 'name')} over with \`holdfast start KEY\` and ${after}${also}.`;
}

const SEVERAL = 6;

const severalKeys = (keys: readonly string[]): Line => {
  const more = keys.length - SEVERAL;
  const first = quoteAll(keys.slice(0, SEVERAL), 'name');
  return more > 0 ? joined([first, line`${more} more`]) : first;
};
