import { counted, type Fixed, fixed, joined, type Line, line } from '../../../core/line.ts';
import type { Pen } from '../../operation.ts';
import { planTree, type StepLine } from '../show.ts';

/** A shorter plan is shown whole. */
const SHORT = 14;

/**
 * The plan with one line for each phase in which nothing is to be done now: finished phases, and those that cannot be
 * reached yet. Open are those with steps that are in progress, interrupted, failed or ready.
 */
export function foldedTree(steps: readonly StepLine[], pen: Pen): Line[] {
  if (steps.length <= SHORT) return planTree(steps, pen);
  const roots = steps.filter(({ parent }) => parent === null);
  const width = Math.min(24, Math.max(0, ...steps.map((step) => step.key.length)));
  return roots.flatMap((root) => {
    const from = steps.indexOf(root);
    const next = steps.findIndex((step, index) => index > from && step.depth <= root.depth);
    const below = steps.slice(from, next < 0 ? undefined : next);
    const parents = new Set(below.map(({ parent }) => parent));
    const leaves = below.filter(({ key }) => !parents.has(key));
    const done = leaves.filter(({ status }) => status === 'completed' || status === 'skipped').length;
    if (below.length === 1 || leaves.some(isToDo)) return planTree(below, pen, width);
    const glyph = done === leaves.length ? pen.good(line`✓`) : line`□`;
    const after = done === leaves.length ? [] : waitsFor(root, leaves);
    const why = after.length > 0 ? line` (after ${joined(after.map((key) => pen.quote(key, 'name')))})` : '';
    const key = pen.bold(pen.pad(pen.quote(root.key, 'name'), width));
    return [
      line`  ${glyph} ${key}  ${pen.fit(root.title, width + 14 + `${why}`.length)} ${done}/${leaves.length}${pen.dim(line`${why}`)}`,
    ];
  });
}

/** Something can be done about it now. */
const isToDo = ({ status, obstacles }: StepLine): boolean =>
  status === 'in_progress' || status === 'failed' || (status === 'pending' && obstacles.length === 0);

/** What the phase waits for, without its own steps. */
function waitsFor(root: StepLine, leaves: readonly StepLine[]): string[] {
  const own = new Set(leaves.map(({ key }) => key));
  const after = [root, ...leaves].flatMap(({ obstacles }) =>
    obstacles.flatMap((obstacle) => (obstacle.kind === 'after' && !own.has(obstacle.step) ? [obstacle.step] : [])),
  );
  return [...new Set(after)].slice(0, 3);
}

/** `████░░░░ 22 of 60 steps`: the bar says the same as the count. */
export function progressLine({ done, total }: { done: number; total: number }): Line {
  const cells = total === 0 ? 0 : Math.floor((done / total) * CELLS);
  const bar = `${'█'.repeat(cells)}${'░'.repeat(CELLS - cells)}` as Fixed;
  return line`${bar} ${done} of ${counted(total, fixed('step'))}`;
}

const CELLS = 16;
