import * as v from 'valibot';
import type { State, Step } from '../../core/fold/state.ts';
import { type Fixed, id, joined, type Line, line, type Part } from '../../core/line.ts';
import { type StepLabel, stepLabel } from '../../core/views/labels.ts';
import type { Liveness } from '../../core/views/liveness.ts';
import { type Obstacle, type PlanView, planView, type StepView } from '../../core/views/plan.ts';
import type { Engine } from '../../engine/engine.ts';
import { currentState } from '../act.ts';
import { version } from '../fields.ts';
import { defineOperation, described, type Pen, shaped } from '../operation.ts';
import { actWords } from '../step/parts/act-words.ts';

/** A step as a line of the plan. */
export type StepLine = Step &
  Pick<StepView, 'depth' | 'status' | 'interrupted' | 'blocked' | 'blockers' | 'paused' | 'stale' | 'obstacles'> & {
    /** What people read for its state. */
    label: StepLabel;
  };
export const StepLine = shaped<StepLine>({
  key: v.string(),
  label: v.string(),
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
    const liveness = await livenessAt(await context.engine(), state, at);
    return { data: { run: state.run?.id ?? '', steps: stepLines(planView(state), state, liveness) } };
  },
  say: ({ steps }, pen) =>
    steps.length > 0
      ? joined(planTree(steps, pen), '\n')
      : line`There is no plan: \`holdfast add "Title"\` adds a step, \`holdfast import FILE\` many.`,
});

/** Heartbeats and processes are known for the present only. */
export async function livenessAt(engine: Engine, state: State, at: number | undefined): Promise<Liveness> {
  if (at === undefined) return engine.liveness(state);
  return { now: state.run?.updatedAt ?? engine.now(), beats: new Map(), owners: { get: () => undefined } };
}

export function stepLines(plan: PlanView, state: State, liveness: Liveness): StepLine[] {
  return plan.all.map((view) => lineOf(view, state, liveness));
}

export function lineOf(view: StepView, state: State, liveness: Liveness): StepLine {
  const { step, depth, status, interrupted, blockers, paused, stale, obstacles } = view;
  return {
    ...step,
    ...{ depth, status, interrupted, blocked: blockers.length > 0, blockers, paused, stale, obstacles },
    label: stepLabel(view, state, liveness),
  };
}

/** The fixed glyphs of a plan. */
const glyphs: Readonly<Record<string, Line>> = {
  completed: line`✓`,
  in_progress: line`○`,
  failed: line`✗`,
  pending: line`□`,
  skipped: line`–`,
};

export function planTree(
  steps: readonly StepLine[],
  pen: Pen,
  width = Math.min(24, Math.max(0, ...steps.map((step) => step.key.length))),
): Line[] {
  const parents = new Set(steps.map(({ parent }) => parent));
  return steps.map((step) => {
    const glyph = glyphs[step.status] ?? line`?`;
    const painted = step.status === 'completed' ? pen.good(glyph) : step.status === 'failed' ? pen.bad(glyph) : glyph;
    const remarks = remarksOn(step, parents.has(step.key), pen);
    const key = pen.bold(pen.pad(pen.quote(step.key, 'name'), width));
    const remark = joined(remarks, '; ');
    const rest = remarks.length > 0 ? line`  ${pen.dim(remark)}` : '';
    const taken = step.depth * 4 + 6 + Math.max(width, step.key.length) + (remarks.length > 0 ? 2 + remark.length : 0);
    return line`${indent(step.depth)}  ${painted} ${key}  ${pen.fit(step.title, taken)}${rest}`;
  });
}

const indent = (depth: number): Fixed => '    '.repeat(depth) as Fixed;

/** A step from another tool's file may have no known agent. */
function leftBy({ lastAgent, lastSession }: StepLine, pen: Pen): Part {
  const names = [
    ...(lastAgent === null ? [] : [pen.quote(lastAgent, 'name')]),
    ...(lastSession === null ? [] : [id(lastSession)]),
  ];
  return names.length > 0 ? line` (${joined(names)})` : '';
}

/** Its state in a word, unless the glyph or what holds it up says it, and what else is to be known of it. */
function remarksOn(step: StepLine, isParent: boolean, pen: Pen): Line[] {
  const { holder, checkpoint, obstacles, label } = step;
  const at = checkpoint ? line` at ${pen.quote(checkpoint.name, 'name')}` : '';
  const by = holder ? line`, ${pen.quote(holder.agent, 'name')} (${id(holder.session)})` : '';
  const parts = [
    ...(label === 'interrupted' ? [line`interrupted${at}${leftBy(step, pen)}`] : []),
    ...(label === 'in progress' && !isParent ? [line`in progress${by}${at}`] : []),
    ...(label === 'ready' && !isParent ? [line`ready`] : []),
    ...(step.paused ? [line`paused`] : []),
    ...(step.stale ? [line`stale: confirm it`] : []),
    ...[...obstacles, ...step.blockers].map((obstacle) => obstacleWords(obstacle, pen)),
    ...(step.status === 'skipped' && step.reason
      ? [line`skipped${actWords(step.skipped, pen)}: ${pen.quote(step.reason, 'title', 60)}`]
      : []),
    ...(step.status === 'failed' ? [line`failed: ${id(step.error ?? '')}`] : []),
  ];
  return [...new Set(parts)];
}

function obstacleWords(obstacle: Obstacle, pen: Pen): Line {
  switch (obstacle.kind) {
    case 'after':
      return line`after ${pen.quote(obstacle.step, 'name')}`;
    case 'gate':
      return line`gate ${pen.quote(obstacle.step, 'name')}`;
    case 'blocker':
      return line`blocked by ${id(obstacle.id)}`;
    default:
      return obstacle satisfies never;
  }
}
