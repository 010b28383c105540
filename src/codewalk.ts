import { Fault, quoted } from './core/fault.ts';
import type { State } from './core/fold/state.ts';
import { planView, type StepView } from './core/views/plan.ts';
import { act, currentState, idInEvents, inRun } from './operations/act.ts';
import type { Context } from './operations/context.ts';

/** The three calls of the Codewalk design with their own argument shapes. */

export interface UpdateStateInput {
  position?: {
    phase?: number | string;
    plan?: number | string;
    task?: string;
    wave?: number;
    status?: 'in_progress' | 'completed' | 'failed' | 'pending';
  };
  nextAction?: string;
}

export interface AddDecisionInput {
  context: string;
  decision: string;
  reason: string;
  alternatives_considered?: string[];
  reversible?: boolean;
}

export interface AddBlockerInput {
  description: string;
  affects?: string[];
  workaround?: string | null;
}

/** Brings the step at a position to the given status. */
export async function updateState(given: Context, { position, nextAction }: UpdateStateInput): Promise<void> {
  const context = await inRun(given);
  const state = await currentState(context);
  if (position) {
    const { step } = matchPosition(state, position);
    const status = position.status ?? 'in_progress';
    if (nextAction !== undefined && status !== 'in_progress') {
      throw new Fault('invalid', `A next action needs a step in progress, not one that is ${status}.`, {
        hints: ['Update the position of the next step, with the next action in it.'],
      });
    }
    switch (status) {
      case 'in_progress':
        await act(context, { type: 'step.start', step: step.key });
        break;
      case 'completed':
        await act(context, { type: 'step.complete', step: step.key });
        break;
      case 'failed':
        await act(context, { type: 'step.fail', step: step.key, errorType: 'runtime', message: 'Reported as failed.' });
        break;
      case 'pending':
        await act(context, { type: 'step.release', step: step.key });
        break;
      default:
        status satisfies never;
    }
    if (nextAction !== undefined)
      await act(context, { type: 'step.checkpoint', step: step.key, name: 'state_updated', next: nextAction });
  } else if (nextAction !== undefined) {
    await act(context, { type: 'step.checkpoint', name: 'state_updated', next: nextAction });
  }
}

export async function addDecision(context: Context, input: AddDecisionInput): Promise<{ id: string }> {
  const { context: where, decision, reason, alternatives_considered: alternatives, reversible } = input;
  const irreversible = reversible === false ? { irreversible: true } : {};
  const done = await act(context, {
    type: 'decision.make',
    context: where,
    decision,
    reason,
    alternatives,
    ...irreversible,
  });
  return { id: idInEvents(done) ?? '' };
}

export async function addBlocker(
  given: Context,
  { description, affects, workaround }: AddBlockerInput,
): Promise<{ id: string }> {
  const context = await inRun(given);
  const state = await currentState(context);
  const done = await act(context, {
    type: 'item.raise',
    kind: 'blocker',
    text: description,
    affects: affects?.map((words) => phaseNamed(state, words) ?? words),
    ...(workaround ? { workaround } : {}),
  });
  return { id: idInEvents(done) ?? '' };
}

/** Numbers and titles are matched to steps by key, then by order, then by title. */
function matchPosition(state: State, position: NonNullable<UpdateStateInput['position']>): StepView {
  const plan = planView(state);
  let level: readonly StepView[] = plan.roots;
  let found: StepView | null = null;
  for (const [field, name] of Object.entries({ phase: position.phase, plan: position.plan, task: position.task })) {
    if (name === undefined) continue;
    // Counted as in the brief: among the plans, if there are any.
    const plans = field === 'plan' ? level.filter(({ step }) => step.kind === 'plan') : [];
    found = matchStep(plans.length > 0 ? plans : level, name);
    if (!found) {
      throw new Fault('not_found', `There is no step for ${quoted(String(name))} in this position.`, {
        hints: [
          'A phase and a plan are named by key or number, a task by key, number or title. See `holdfast plan show`.',
        ],
        data: { position },
      });
    }
    level = found.children.map((child) => plan.byKey.get(child.key) as StepView);
  }
  if (!found)
    throw new Fault('invalid', 'The position names no phase, plan or task.', { hints: ['Give at least one of them.'] });
  return found;
}

function matchStep(level: readonly StepView[], name: number | string): StepView | null {
  const text = String(name);
  const number = /^\d+$/.test(text) ? Number(text) : null;
  return (
    level.find(({ step }) => step.key === text) ??
    (number === null ? undefined : level[number - 1]) ??
    level.find(({ step }) => step.title.trim().toLowerCase() === text.trim().toLowerCase()) ??
    null
  );
}

/** `Phase 3` or `Phase 3: OAuth` names a step; other text does not. */
function phaseNamed(state: State, words: string): string | null {
  if (state.steps.has(words)) return words;
  const number = /^phase\s+(\d+)/i.exec(words)?.[1];
  const match = number === undefined ? null : matchStep(planView(state).roots, Number(number));
  return match ? match.step.key : null;
}
