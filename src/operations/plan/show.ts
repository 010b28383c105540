import * as v from 'valibot';
import type { Step } from '../../core/fold/state.ts';
import { oneLine } from '../../core/text.ts';
import { type Obstacle, type PlanView, planView, type StepView } from '../../core/views/plan.ts';
import { currentState } from '../act.ts';
import { version } from '../fields.ts';
import { defineOperation, described, type Pen, shaped } from '../operation.ts';

/** A step as a line of the plan. */
export type StepLine = Step &
  Pick<StepView, 'depth' | 'status' | 'interrupted' | 'blocked' | 'paused' | 'stale' | 'obstacles'>;
export const StepLine = shaped<StepLine>({
  key: v.string(),
  title: v.string(),
  kind: v.string(),
  depth: v.number(),
  status: v.string(),
  parent: v.nullable(v.string()),
  interrupted: v.boolean(),
  blocked: v.boolean(),
  paused: v.boolean(),
  stale: v.boolean(),
});

export const planShow = defineOperation({
  name: 'plan.show',
  summary: 'Show the plan.',
  scope: 'read',
  input: v.object({ at: v.optional(described(version, 'The plan as it was after this version.')) }),
  output: v.object({ run: v.string(), steps: v.array(StepLine) }),
  async run(context, { at }) {
    const state = await currentState(context, at);
    return { data: { run: state.run?.id ?? '', steps: stepLines(planView(state)) } };
  },
  say: ({ steps }, pen) =>
    steps.length > 0 ? planTree(steps, pen).join('\n') : 'There is no plan yet: `holdfast plan add KEY TITLE`.',
});

export function stepLines(plan: PlanView): StepLine[] {
  return plan.all.map(({ step, depth, status, interrupted, blocked, paused, stale, obstacles }) => ({
    ...step,
    depth,
    status,
    interrupted,
    blocked,
    paused,
    stale,
    obstacles,
  }));
}

/** The fixed glyphs of a plan. */
const glyphs: Record<string, string> = { completed: '✓', in_progress: '○', failed: '✗', pending: '□', skipped: '–' };

export function planTree(steps: readonly StepLine[], pen: Pen): string[] {
  const width = Math.min(24, Math.max(0, ...steps.map((step) => step.key.length)));
  return steps.map((step) => {
    const glyph = glyphs[step.status] ?? '?';
    const painted = step.status === 'completed' ? pen.good(glyph) : step.status === 'failed' ? pen.bad(glyph) : glyph;
    const remarks = remarksOn(step);
    return `${'    '.repeat(step.depth)}  ${painted} ${pen.bold(step.key.padEnd(width))}  ${oneLine(step.title, 80)}${remarks ? `  ${pen.dim(remarks)}` : ''}`;
  });
}

/** A step from another tool's file may have no known agent. */
function leftBy({ lastAgent, lastSession }: StepLine): string {
  const names = [lastAgent, lastSession].filter((name) => name !== null);
  return names.length > 0 ? ` (${names.join(', ')})` : '';
}

function remarksOn(step: StepLine): string {
  const { holder, checkpoint, obstacles } = step;
  const at = checkpoint ? ` at ${checkpoint.name}` : '';
  const parts = [
    ...(step.interrupted ? [`interrupted${at}${leftBy(step)}`] : []),
    ...(holder ? [`${holder.agent} (${holder.session})${at}`] : []),
    ...(step.paused ? ['paused'] : []),
    ...(step.stale ? ['stale: confirm it'] : []),
    ...obstacles.map(obstacleWords),
    ...(step.status === 'skipped' && step.reason ? [`skipped: ${oneLine(step.reason, 60)}`] : []),
    ...(step.status === 'failed' ? [`failed: ${step.error}`] : []),
  ];
  return [...new Set(parts)].join('; ');
}

function obstacleWords(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case 'after':
      return `after ${obstacle.step}`;
    case 'gate':
      return `gate ${obstacle.step}`;
    case 'blocker':
      return `blocked by ${obstacle.id}`;
    default:
      return obstacle satisfies never;
  }
}
