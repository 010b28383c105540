import * as v from 'valibot';
import { Fault, quoted } from './core/fault.ts';
import type { State } from './core/fold/state.ts';
import type { ModelDecision } from './core/model/run-model.ts';
import { isBlockedBy, stepNamed } from './core/views/named-step.ts';
import { COUNTED, countedIn, type PhaseProgress, phaseProgress } from './core/views/phase-progress.ts';
import { planView, type StepView } from './core/views/plan.ts';
import { positionOf } from './core/views/position.ts';
import { DecisionType } from './core/words.ts';
import { readPlace } from './formats/codewalk/position.ts';
import { act, currentState, idInEvents, inRun } from './operations/act.ts';
import type { Context } from './operations/context.ts';

/** The three calls of the Codewalk design with their own argument shapes. What they do not know is refused. */

const Name = v.union([v.string(), v.number()]);
/** `{ 'task-xyz': 'Configure production' }`. */
const Tasks = v.optional(v.array(v.record(v.string(), v.string())));
const Count = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));
const Texts = v.optional(v.array(v.string()));
const Text = v.pipe(v.string(), v.trim(), v.nonEmpty());

const UpdateStateInput = v.strictObject({
  position: v.optional(
    v.strictObject({
      phase: v.optional(Name),
      phase_name: v.optional(Text),
      plan: v.optional(Name),
      plan_name: v.optional(Text),
      task: v.optional(Text),
      wave: Count,
      status: v.optional(v.picklist(['in_progress', 'completed', 'failed', 'pending', 'open', 'blocked'])),
    }),
  ),
  progress: v.optional(
    v.strictObject({
      phases_total: Count,
      phases_completed: Count,
      current_phase_tasks: Count,
      current_phase_completed: Count,
    }),
  ),
  nextAction: v.optional(Text),
});
export type UpdateStateInput = v.InferInput<typeof UpdateStateInput>;

const AddDecisionInput = v.strictObject({
  context: Text,
  decision: Text,
  reason: Text,
  date: v.optional(v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/, 'A date is YYYY-MM-DD.'))),
  type: v.optional(DecisionType),
  alternatives_considered: Texts,
  reversible: v.optional(v.boolean()),
});
export type AddDecisionInput = v.InferInput<typeof AddDecisionInput>;

const AddBlockerInput = v.strictObject({
  description: Text,
  status: v.optional(v.picklist(['active', 'bypassed', 'resolved'])),
  affects: Texts,
  blocked_tasks: Tasks,
  workaround: v.optional(v.nullable(Text)),
  workaround_tasks: Tasks,
  resolution: v.optional(v.nullable(Text)),
});
export type AddBlockerInput = v.InferInput<typeof AddBlockerInput>;

/** Brings the step at a position to the given status. Without a plan, the steps it names are made. */
export async function updateState(given: Context, input: UpdateStateInput): Promise<void> {
  const { position, progress, nextAction } = checked(UpdateStateInput, input);
  const context = await inRun(given);
  const status = position?.status ?? 'in_progress';
  if (nextAction !== undefined && status !== 'in_progress')
    throw new Fault('invalid', `A next action needs a step in progress, not one that is ${status}.`, {
      hints: ['Update the position of the next step, with the next action in it.'],
    });
  if (position && planView(await currentState(context)).all.length === 0)
    await makePlan(context, position, progress ?? {});
  const state = await currentState(context);
  const step = position ? matchPosition(state, position).step : null;
  if (progress) await takeCounters(context, state, step?.key ?? null, progress);
  if (step && position?.wave !== undefined && position.wave !== step.wave)
    await act(context, { type: 'plan.change', step: step.key, patch: { wave: position.wave } });
  if (step) await moveStep(context, state, step.key, status);
  if (nextAction !== undefined)
    await act(context, {
      type: 'step.checkpoint',
      ...(step ? { step: step.key } : {}),
      name: 'state_updated',
      next: nextAction,
    });
}

async function makePlan(
  context: Context,
  position: NonNullable<UpdateStateInput['position']>,
  progress: NonNullable<UpdateStateInput['progress']>,
): Promise<void> {
  const words = (value: number | string | undefined): string | undefined =>
    value === undefined ? undefined : String(value);
  const { phase, plan, wave, phase_name, plan_name, task } = position;
  const place = { phase: words(phase), plan: words(plan), wave: words(wave), phase_name, plan_name, task };
  const { steps, kept } = readPlace({ ...place, status: 'pending' }, progress);
  await act(context, {
    type: 'account.read',
    format: 'codewalk',
    path: 'updateState',
    account: { steps, ...(kept ? { kept } : {}) },
  });
}

/** Counters follow from the plan; only tasks that the plan does not name are counted beside it. */
async function takeCounters(
  context: Context,
  state: State,
  step: string | null,
  progress: NonNullable<UpdateStateInput['progress']>,
): Promise<void> {
  const plan = planView(state);
  const steps = plan.all.map(({ step: { key, title, kind, parent }, status }) => ({
    key,
    title,
    kind,
    parent,
    status,
  }));
  const current = step ?? plan.leaves.find(({ status }) => status === 'in_progress')?.step.key ?? null;
  let phase = current;
  for (let above = state.steps.get(current ?? '')?.parent; above; above = state.steps.get(above)?.parent) phase = above;
  const named = phaseProgress(steps, current, null);
  const { current_phase_tasks: tasks = 0, current_phase_completed: done } = progress;
  const counted =
    phase !== null && done !== undefined && tasks > named.current_phase_tasks
      ? { phase, tasks, done: Math.max(0, done - named.current_phase_completed) }
      : state.counted;
  const counts = phaseProgress(steps, current, countedIn({ [COUNTED]: counted }));
  const wrong = Object.entries(progress).find(([name, value]) => value !== counts[name as keyof PhaseProgress]);
  if (wrong)
    throw new Fault('invalid', `\`${wrong[0]}\` is ${wrong[1]}, but the plan gives ${counts[wrong[0] as 'bar']}.`, {
      hints: ['Counters follow from the plan: add or complete its steps. See `holdfast plan show`.'],
      data: { progress, counts },
    });
  if (counted !== null && counted !== state.counted)
    await act(context, {
      type: 'account.read',
      format: 'codewalk',
      path: 'updateState',
      account: { kept: { [COUNTED]: counted } },
    });
}

async function moveStep(
  context: Context,
  state: State,
  step: string,
  status: NonNullable<NonNullable<UpdateStateInput['position']>['status']>,
): Promise<void> {
  switch (status) {
    case 'in_progress':
      return void (await act(context, { type: 'step.start', step }));
    case 'completed':
      return void (await act(context, { type: 'step.complete', step }));
    case 'failed':
      return void (await act(context, {
        type: 'step.fail',
        step,
        errorType: 'runtime',
        message: 'Reported as failed.',
      }));
    case 'pending':
    case 'open':
      return void (await act(context, { type: 'step.release', step }));
    case 'blocked': {
      const row = state.steps.get(step);
      const isBlocked = [...state.items.values()].some(
        (item) => item.kind === 'blocker' && item.status === 'active' && row && isBlockedBy(state.steps, row, item),
      );
      if (!isBlocked)
        await act(context, {
          type: 'item.raise',
          kind: 'blocker',
          text: 'Reported as blocked.',
          affects: [step],
          step,
        });
      return;
    }
    default:
      status satisfies never;
  }
}

export async function addDecision(context: Context, input: AddDecisionInput): Promise<{ id: string }> {
  const {
    context: where,
    decision,
    reason,
    date,
    type,
    alternatives_considered,
    reversible,
  } = checked(AddDecisionInput, input);
  const irreversible = reversible === undefined ? {} : { irreversible: !reversible };
  const body = { context: where, decision, reason, alternatives: alternatives_considered, ...irreversible };
  if (date === undefined) {
    const done = await act(context, { type: 'decision.make', ...body, ...(type ? { decisionType: type } : {}) });
    return { id: idInEvents(done) ?? '' };
  }
  // It was made on another day, as in a file.
  const made: ModelDecision = {
    ...body,
    ...(type ? { type } : {}),
    at: date,
    by: context.identity.actor.name,
    status: 'active',
  };
  const done = await act(context, {
    type: 'account.read',
    format: 'codewalk',
    path: 'addDecision',
    account: { decisions: [made] },
  });
  const read = done.events.find((event) => event.type === 'account.read');
  return { id: read?.body.account.decisions?.[0]?.id ?? '' };
}

export async function addBlocker(given: Context, input: AddBlockerInput): Promise<{ id: string }> {
  const blocker = checked(AddBlockerInput, input);
  const { description, status = 'active', affects = [], workaround, resolution } = blocker;
  const context = await inRun(given);
  const [blocked, followUp] = [blocker.blocked_tasks ?? [], blocker.workaround_tasks ?? []];
  await addTasks(context, [...blocked, ...followUp]);
  const keys = (tasks: readonly Record<string, string>[]): string[] => tasks.flatMap(Object.keys);
  const done = await act(context, {
    type: 'item.raise',
    kind: 'blocker',
    text: description,
    affects: [...new Set([...affects, ...keys(blocked)])],
    ...(workaround ? { workaround } : {}),
    ...(followUp.length > 0 ? { followUp: keys(followUp) } : {}),
  });
  const id = idInEvents(done) ?? '';
  const note = (status === 'resolved' ? resolution : workaround) ?? undefined;
  if (status !== 'active') await act(context, { type: 'item.settle', id, as: status, note });
  return { id };
}

/** The tasks that the plan does not have yet, in the phase of the position. */
async function addTasks(context: Context, tasks: readonly Record<string, string>[]): Promise<void> {
  const state = await currentState(context);
  const { steps } = state;
  const { phase } = positionOf(state, planView(state));
  const parent = phase?.step.kind === 'phase' ? { parent: phase.step.key } : {};
  const missing = tasks.flatMap(Object.entries).filter(([key]) => !steps.has(key));
  const unique = [...new Map(missing)];
  if (unique.length > 0)
    await act(context, {
      type: 'plan.add',
      steps: unique.map(([key, title]) => ({ key, title, kind: 'task' as const, ...parent })),
    });
}

function checked<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue) ?? 'The input';
  throw new Fault('invalid', `${quoted(path)} is not allowed here: ${issue.message}`, {
    hints: [`Allowed: ${Object.keys((schema as unknown as { entries: object }).entries).join(', ')}.`],
    data: { path },
  });
}

/** Numbers and titles are matched to steps by key, then by their number or order, then by title. */
function matchPosition(state: State, position: NonNullable<UpdateStateInput['position']>): StepView {
  const plan = planView(state);
  let found: StepView | null = null;
  for (const field of ['phase', 'plan', 'task'] as const) {
    const name = position[field];
    if (name === undefined) continue;
    const level: readonly StepView[] = found
      ? found.children.map((child) => plan.byKey.get(child.key) as StepView)
      : plan.roots;
    const plans = field === 'plan' ? level.filter(({ step }) => step.kind === 'plan') : [];
    found = matchStep(plans.length > 0 ? plans : level, String(name), field);
    if (!found)
      throw new Fault('not_found', `There is no step for ${quoted(String(name))} in this position.`, {
        hints: [
          'A phase and a plan are named by key or number, a task by key, number or title. See `holdfast plan show`.',
        ],
        data: { position },
      });
  }
  if (!found)
    throw new Fault('invalid', 'The position names no phase, plan or task.', { hints: ['Give at least one of them.'] });
  return found;
}

function matchStep(level: readonly StepView[], name: string, field: 'phase' | 'plan' | 'task'): StepView | null {
  const steps = new Map(level.map(({ step }) => [step.key, { ...step, parent: null }]));
  const ofPlan =
    field === 'plan'
      ? level.find(({ step }) => new RegExp(`-0*${/^\d+$/.test(name) ? name : '$'}$`).test(step.key))
      : undefined;
  const key = stepNamed(steps, name)?.key ?? stepNamed(steps, `phase ${name}`)?.key;
  const counted = /^\d{1,6}$/.test(name) ? level[Number(name) - 1] : undefined;
  return ofPlan ?? level.find(({ step }) => step.key === key) ?? counted ?? null;
}
