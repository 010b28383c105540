import type { Session, State, Step } from '../fold/state.ts';
import { isDone, type PlanView, retriesLeft } from '../views/plan.ts';
import type { Position } from '../views/position.ts';
import { isOver } from '../views/run-state.ts';
import type { NextFacts, PlannedStep, Resuming, StepFacts } from './facts.ts';
import { requestsOf } from './record.ts';

const plannedStep = ({ step: { key, title } }: { step: PlannedStep }): PlannedStep => ({ key, title });

export interface StepView {
  isPlanned: boolean;
  /** Entries that were done before the current request are left out. */
  since: string;
  /** Whether a session is another one that is alive. */
  isOthers: (session: string) => boolean;
}

export function stepFacts(
  plan: PlanView,
  { current }: Position,
  { isPlanned, since, isOthers }: StepView,
): StepFacts | null {
  const leaves = plan.leaves.filter(
    ({ step, status }) => isPlanned || !isDone(status) || (step.endedAt ?? '') >= since,
  );
  if (leaves.length === 0) return null;
  const done = leaves.filter((view) => isDone(view.status));
  const inProgress = leaves.filter((view) => view.status === 'in_progress');
  const left = leaves.filter((view) => view.status === 'pending' || view.status === 'failed');
  const ended = done.map((view) => view.step).filter((step) => step.status === 'completed');
  return {
    kind: isPlanned ? 'plan' : 'to-do',
    done: done.length,
    total: leaves.length,
    doneTitles: ended.sort((a, b) => ((a.endedAt ?? '') < (b.endedAt ?? '') ? -1 : 1)).map(({ title }) => title),
    // The one to continue with comes first.
    inProgress: inProgress
      .sort((a, b) => Number(b === current) - Number(a === current))
      .map((view) => {
        const { holder } = view.step;
        return { ...plannedStep(view), heldBy: holder && isOthers(holder.session) ? holder.agent : null };
      }),
    left: left.map(plannedStep),
  };
}

/** `Resuming from Phase 2, Plan 3, Task: …`; null if there is nothing to resume. */
export function resumingOf({ current, phase, plan }: Position): Resuming | null {
  if (!current) return null;
  const { step, status, interrupted } = current;
  return {
    phase: phase ? phase.number : null,
    plan: plan && plan.step !== step ? plan.number : null,
    kind: step.kind === 'phase' ? 'Phase' : step.kind === 'plan' ? 'Plan' : 'Task',
    title: step.title,
    checkpoint: step.checkpoint?.name ?? null,
    nextCheckpoint: nextCheckpoint(step),
    status: interrupted
      ? 'interrupted'
      : status === 'in_progress'
        ? 'in progress'
        : status === 'failed'
          ? 'failed'
          : 'not started',
  };
}

export function nextFacts(
  state: State,
  sessions: readonly Session[],
  { leaves }: PlanView,
  position: Position,
  isPlanned: boolean,
): NextFacts {
  const { current, ready, failed } = position;
  const none: NextFacts = { declared: null, failedStep: null, ready: null, gate: null, blocker: null };
  if (!state.run || isOver(state.run)) return none;
  const isLeft = leaves.some((view) => !isDone(view.status));
  const failedStep = failed[0]?.step;
  const obstacles = leaves.flatMap((view) => (isDone(view.status) ? [] : view.obstacles));
  const gate = obstacles.find((obstacle) => obstacle.kind === 'gate');
  const blocker = obstacles.find((obstacle) => obstacle.kind === 'blocker');
  const first = ready[0];
  return {
    declared:
      // What a file says to do after its last step is still to be done.
      (isPlanned && leaves.length > 0 && !current && state.next?.file === undefined) || current?.status === 'failed'
        ? null
        : declaredNext(state, sessions, current?.step ?? null),
    failedStep: failedStep
      ? { key: failedStep.key, title: failedStep.title, retriesLeft: retriesLeft(failedStep) }
      : null,
    ready: first ? plannedStep(first) : null,
    gate:
      isLeft && !first && gate
        ? { key: gate.step, title: gate.name ? `${gate.name}, before ${gate.title}` : gate.title }
        : null,
    blocker: isLeft && !first && blocker ? { id: blocker.id, text: blocker.text } : null,
  };
}

/** A next action for a phase or a plan is one for the step in it that is current. */
function isAt(state: State, step: Step, key: string): boolean {
  for (let at: Step | undefined = step, depth = 0; at && depth < 50; depth++) {
    if (at.key === key) return true;
    at = at.parent === null ? undefined : state.steps.get(at.parent);
  }
  return false;
}

/** What was declared for the current step after the last request. */
function declaredNext(state: State, sessions: readonly Session[], step: Step | null): NextFacts['declared'] {
  const lastRequest = requestsOf(state)
    .map(({ at }) => at)
    .sort()
    .at(-1);
  const agentOf = (session: string | null): string =>
    (session === null ? null : (state.sessions.get(session) ?? sessions.find(({ id }) => id === session)))?.agent ??
    'unknown';
  const isLate = (at: string): boolean => lastRequest !== undefined && at < lastRequest;
  const { next } = state;
  const forStep = next !== null && (step === null || next.step === null || isAt(state, step, next.step));
  const checkpoint = step?.status === 'in_progress' ? step.checkpoint : null;
  // An agent on another step may have declared a newer next action: what the checkpoint of this step says goes first.
  if (next && next.step !== (step?.key ?? null) && checkpoint?.next && !isLate(checkpoint.at))
    return { by: agentOf(checkpoint.session), session: checkpoint.session, at: checkpoint.at, text: checkpoint.next };
  if (!next || !forStep || (isLate(next.at) && next.file === undefined)) return null;
  if (next.file !== undefined) return { file: next.file, at: next.at, text: next.text };
  return { by: agentOf(next.session), session: next.session, at: next.at, text: next.text };
}

/** The planned checkpoint after the last one reached, if known. */
export function nextCheckpoint(step: Step): string | null {
  if (!step.checkpoint) return step.checkpoints[0] ?? null;
  const index = step.checkpoints.indexOf(step.checkpoint.name);
  return index >= 0 ? (step.checkpoints[index + 1] ?? null) : null;
}
