import { Fault, nearest, quoted } from '../../../core/fault.ts';
import type { State } from '../../../core/fold/state.ts';
import { oneLine } from '../../../core/text.ts';
import { type PlanView, planView, readySteps, type StepView } from '../../../core/views/plan.ts';
import { currentState } from '../../act.ts';
import type { Context } from '../../context.ts';

/** The key of the step that a caller names: by its key or alias, the end of its key (`3.8` for `p3.8`) or its title. */
export async function findStep(context: Context, name: string): Promise<string> {
  const state = await currentState(context);
  if (state.steps.has(name)) return name;
  const steps = [...state.steps.values()];
  const words = folded(name);
  const rules: ((step: (typeof steps)[number]) => boolean)[] = [
    ({ alias }) => alias === name,
    ({ key }) => endsWith(key, name),
    ({ title }) => folded(title) === words,
  ];
  for (const fits of rules) {
    const [only, ...others] = steps.filter(fits);
    if (only && others.length === 0) return only.key;
    if (only) throw ambiguous(name, [only, ...others]);
  }
  const near = words.length > 2 ? steps.filter(({ title }) => folded(title).includes(words)) : [];
  if (near.length > 0) throw ambiguous(name, near);
  throw unknownStep(name, state);
}

const folded = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();

/** `3.8` is the end of `p3.8` and not of `p13.8`. */
function endsWith(key: string, end: string): boolean {
  if (end === '' || !key.endsWith(end)) return false;
  const before = key.at(-end.length - 1) ?? '';
  return /^\d/.test(end) ? !/[\d.]/.test(before) : !/[\p{L}\d]/u.test(before);
}

function unknownStep(name: string, state: State): Fault {
  const near = nearest(name, state.steps.keys());
  return new Fault('not_found', `There is no step ${quoted(name)}.`, {
    hints: [
      ...(near.length > 0 ? [`Did you mean ${near.map(quoted).join(', ')}?`] : []),
      ...takeableLines(state, 4),
      'See the plan with `holdfast plan`.',
    ],
    data: { noun: 'step', name, near },
  });
}

function ambiguous(name: string, steps: readonly { key: string; title: string }[]): Fault {
  return new Fault('usage', `${quoted(name)} does not say which step is meant.`, {
    hints: steps.slice(0, 8).map(({ key, title }) => `\`${key}\` ${oneLine(title, 60)}`),
    data: { name, steps: steps.map(({ key }) => key) },
  });
}

/** The steps that can be taken now: first those that were interrupted. */
export function takeable(plan: PlanView): StepView[] {
  const interrupted = plan.leaves.filter((view) => view.interrupted);
  return [...interrupted, ...readySteps(plan).filter((view) => !view.interrupted)];
}

/** The refusal of `start` without a step: what can be taken, each as a command. */
export function nothingNamed(state: State): Fault {
  const steps = takeable(planView(state));
  const lines = takeableLines(state, 8);
  if (lines.length === 0)
    lines.push(state.steps.size === 0 ? NO_PLAN : 'No step is ready: `holdfast status` says why.');
  return new Fault('usage', '`start` needs a step.', {
    hints: [...lines, ...(steps.length > 8 ? [`and ${steps.length - 8} more: \`holdfast plan\``] : [])],
    data: { ready: steps.map(({ step }) => step.key) },
  });
}

const takeableLines = (state: State, most: number): string[] =>
  takeable(planView(state))
    .slice(0, most)
    .map(({ step: { key, title }, interrupted }) => {
      const why = interrupted ? 'interrupted' : 'ready';
      return `\`holdfast start ${key}\`  ${oneLine(title, 60)} (${why})`;
    });

const NO_PLAN = 'There is no plan yet: `holdfast plan add "Title"` adds a step, `holdfast plan import FILE` many.';
