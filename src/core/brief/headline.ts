import type { State, Step } from '../fold/state.ts';
import { clock, joined, type Line, line, quote, time } from '../line.ts';
import type { PlanView, StepView } from '../views/plan.ts';
import type { Position } from '../views/position.ts';
import { isOver } from '../views/run-state.ts';

/** `Resuming from Phase 2, Plan 3, Task: "Implement token rotation" (checkpoint: "phase_2_waf")`. */
export function headlineOf(state: State, plan: PlanView, { current, phase, plan: planned }: Position): Line {
  const { run } = state;
  const title = quote(run?.title ?? '', 'title');
  if (run && isOver(run)) {
    const word = run.status === 'archived' ? line`Archived` : line`Abandoned`;
    return line`${word}${run.endedAt ? endedOn(run.endedAt) : ''}: ${title}${run.reason ? line` (${quote(run.reason, 'title')})` : ''}`;
  }
  if (plan.leaves.length === 0) return line`No plan yet: ${title}`;
  if (!current) {
    const all = plan.leaves.length === 1 ? line`The only step is` : line`All ${plan.leaves.length} steps are`;
    return line`${all} done: ${title}`;
  }
  const { step } = current;
  const kind = step.kind === 'phase' ? line`Phase` : step.kind === 'plan' ? line`Plan` : line`Task`;
  const parts = [
    ...(phase ? [line`Phase ${phase.number}`] : []),
    ...(planned && planned.step !== step ? [line`Plan ${planned.number}`] : []),
    line`${kind}: ${quote(step.title, 'title')}`,
  ];
  return line`Resuming from ${joined(parts)} (${placeIn(current)})`;
}

const endedOn = (at: string): Line => line` on ${time(at.slice(0, 10))} at ${clock(at, at)}`;

function placeIn({ step, status, interrupted }: StepView): Line {
  const next = nextCheckpoint(step);
  if (step.checkpoint) {
    const then = next ? line`, next: ${quote(next, 'name')}` : '';
    return line`checkpoint: ${quote(step.checkpoint.name, 'name')}${then}`;
  }
  if (status === 'in_progress') return line`no checkpoint yet${interrupted ? line`, interrupted` : ''}`;
  return status === 'failed' ? line`failed` : line`not started`;
}

/** The planned checkpoint after the last one reached, if known. */
export function nextCheckpoint(step: Step): string | null {
  if (!step.checkpoint) return step.checkpoints[0] ?? null;
  const index = step.checkpoints.indexOf(step.checkpoint.name);
  return index >= 0 ? (step.checkpoints[index + 1] ?? null) : null;
}
