import { Fault, quoted } from '../fault.ts';
import { nextId } from '../fold/ids.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { isGone } from '../views/liveness.ts';
import { isDone, MAX_RETRIES, type Obstacle, type StepView } from '../views/plan.ts';
import {
  draft,
  finishRun,
  heldBy,
  heldStep,
  isMaintainer,
  mustAllow,
  mustBeActive,
  mustBePerson,
  mustHaveSession,
  mustHold,
  type RuleContext,
  reviveRun,
  stepHints,
  stepName,
  stepOf,
} from './rule-context.ts';

export function startStep(context: RuleContext, command: CommandOf<'step.start'>): Draft[] {
  mustBeActive(context);
  const session = mustHaveSession(context);
  const view = stepOf(context, command.step);
  const { step } = view;
  mustBeLeaf(view, 'started');
  mustAllow('step', stepName(step), view.status, 'start', stepHints(step, view.status));
  if (step.holder?.session === session.id) return [];
  const holder = step.holder ? context.state.sessions.get(step.holder.session) : undefined;
  // Supervision has already taken a gone holder off the step.
  if (holder && !isGone(holder, context)) throw heldBy(context, step, holder);
  const overridden = command.anyway === undefined ? [] : overrideOrder(context, view, command.anyway);
  if (command.anyway === undefined) mustBeFree(view);
  const takenOverFrom = view.status === 'in_progress' && step.lastSession ? { takenOverFrom: step.lastSession } : {};
  return [
    ...overridden,
    draft('step.started', {
      step: step.key,
      session: session.id,
      claim: nextId(context.state, 'L'),
      ...takenOverFrom,
      mark: command.mark,
      ...(command.loaded?.length ? { loaded: [...command.loaded] } : {}),
    }),
  ];
}

/** The key of decisions to start a step out of order; one of the tools keeps such a list. */
export const ORDER_OVERRIDES = 'order_overrides';

/** A person may start a step although something is in the way; the reason is recorded as a decision. */
function overrideOrder(context: RuleContext, { step, obstacles }: StepView, reason: string): Draft[] {
  if (obstacles.length === 0) return [];
  mustBePerson(context, 'start a step out of order', `holdfast start ${step.key} --anyway --why …`);
  const gates = obstacles.filter((one) => one.kind === 'gate').map((one) => one.step);
  return [
    ...gates.map((key) => draft('gate.opened', { step: key, by: context.actor.name })),
    draft('decision.made', {
      id: nextId(context.state, 'D'),
      key: ORDER_OVERRIDES,
      context: obstacles.map(obstacleWords).join('; '),
      decision: `Start ${step.key} out of order`,
      reason,
      step: step.key,
    }),
  ];
}

export function checkpointStep(
  context: RuleContext,
  { type: _, step, ...body }: CommandOf<'step.checkpoint'>,
): Draft[] {
  mustBeActive(context);
  const view = heldStep(context, step);
  mustBeLeaf(view, 'checkpointed');
  mustHold(context, view, 'checkpoint');
  return [draft('step.checkpointed', { step: view.step.key, ...body })];
}

export function completeStep(context: RuleContext, { type: _, step, ...body }: CommandOf<'step.complete'>): Draft[] {
  mustBeActive(context);
  const view = heldStep(context, step);
  mustBeLeaf(view, 'completed');
  const empty = Object.entries(body).every(([name, value]) => name === 'mark' || value === undefined);
  if (view.status === 'completed' && empty) return [];
  mustHold(context, view, 'complete');
  const { key, retries } = view.step;
  return [
    ...settleErrors(context, key, retries > 0 ? `completed at retry ${retries}` : 'completed'),
    draft('step.completed', { step: key, ...body }),
    ...finishRun(context, [key]),
  ];
}

/** Failing raises an error that stays open until the step is completed or skipped, or the run aborted. */
export function failStep(context: RuleContext, { step, errorType, message, mark }: CommandOf<'step.fail'>): Draft[] {
  mustBeActive(context);
  const view = heldStep(context, step);
  mustBeLeaf(view, 'failed');
  mustHold(context, view, 'fail');
  const error = nextId(context.state, 'E');
  return [
    draft('item.raised', { id: error, kind: 'error', type: errorType, text: message, step: view.step.key }),
    draft('step.failed', { step: view.step.key, error, mark }),
  ];
}

/** A retry takes the step, unless it is left open; then obstacles are checked when a session starts it. */
export function retryStep(context: RuleContext, { step: key, note, open, mark }: CommandOf<'step.retry'>): Draft[] {
  mustBeActive(context);
  const view = stepOf(context, key);
  const { step } = view;
  mustBeLeaf(view, 'retried');
  mustAllow('step', stepName(step), view.status, 'retry', stepHints(step, view.status));
  if (step.retries >= MAX_RETRIES)
    mustBePerson(context, `retry a step more than ${MAX_RETRIES} times`, `holdfast retry ${step.key} --open`);
  const taken = open ? {} : { session: mustHaveSession(context).id, claim: nextId(context.state, 'L') };
  if (!open) mustBeFree(view);
  const attempt = step.retries + 1;
  return [draft('step.retried', { step: step.key, ...taken, attempt, note, mark })];
}

/** Skipping a parent skips its pending and failed descendants, and is refused while one is in progress. */
export function skipStep(context: RuleContext, { step: key, reason }: CommandOf<'step.skip'>): Draft[] {
  mustBeActive(context);
  const view = stepOf(context, key);
  const leaves = leavesBelow(context, view);
  if (view.status === 'skipped') return [];
  if (view.children.length === 0)
    mustAllow('step', stepName(view.step), view.status, 'skip', stepHints(view.step, view.status));
  const running = leaves.filter((leaf) => leaf.status === 'in_progress');
  if (running.length > 0) {
    throw new Fault(
      'illegal',
      `${stepName(view.step)} cannot be skipped: ${running.map((leaf) => quoted(leaf.step.key)).join(', ')} is in progress.`,
      {
        hints: running
          .slice(0, 3)
          .map((leaf) => `Finish it, or put it back with \`holdfast release ${leaf.step.key}\`.`),
      },
    );
  }
  mustBePerson(context, 'skip a step', `holdfast skip ${view.step.key} "why"`);
  const skipped = leaves.filter((leaf) => !isDone(leaf.status));
  if (skipped.length === 0)
    mustAllow('step', stepName(view.step), view.status, 'skip', stepHints(view.step, view.status));
  return [
    ...skipped.flatMap((leaf) => [
      ...settleErrors(
        context,
        leaf.step.key,
        `${leaf.step.kind} skipped by ${context.actor.name}${reason ? `: ${reason}` : ''}`,
      ),
      draft('step.skipped', { step: leaf.step.key, reason }),
    ]),
    ...finishRun(
      context,
      skipped.map((leaf) => leaf.step.key),
    ),
  ];
}

/** Steps that were built on a reopened step are stale until confirmed. */
export function reopenStep(context: RuleContext, { step: key, reason }: CommandOf<'step.reopen'>): Draft[] {
  mustBeActive(context);
  const view = stepOf(context, key);
  mustBeLeaf(view, 'reopened');
  mustAllow('step', stepName(view.step), view.status, 'reopen', stepHints(view.step, view.status));
  const taken = context.session ? { session: context.session.id, claim: nextId(context.state, 'L') } : {};
  return [...reviveRun(context, reason), draft('step.reopened', { step: view.step.key, reason, ...taken })];
}

export function confirmStep(context: RuleContext, { step: key }: CommandOf<'step.confirm'>): Draft[] {
  mustBeActive(context);
  const view = stepOf(context, key);
  const { step } = view;
  const isClaim = step.gate?.isClaim === true || step.skipped?.isClaim === true;
  if (isClaim) mustBePerson(context, 'confirm what was imported', `holdfast confirm ${step.key}`);
  return view.stale || isClaim ? [draft('step.confirmed', { step: step.key })] : [];
}

export function releaseStep(context: RuleContext, { step: key, reason }: CommandOf<'step.release'>): Draft[] {
  mustBeActive(context);
  const view = stepOf(context, key);
  const { step } = view;
  mustBeLeaf(view, 'released');
  if (view.status === 'pending') return [];
  mustAllow('step', stepName(step), view.status, 'release', stepHints(step, view.status));
  const holder = step.holder ? context.state.sessions.get(step.holder.session) : undefined;
  const mine = holder !== undefined && holder.id === context.session?.id;
  if (holder && !mine && !isMaintainer(context)) throw heldBy(context, step, holder);
  return [draft('step.released', { step: step.key, reason })];
}

export function verifyStep(
  context: RuleContext,
  { step: key, result, note, probe }: CommandOf<'step.verify'>,
): Draft[] {
  mustBeActive(context);
  const view = stepOf(context, key);
  const { step } = view;
  if (view.status === 'pending' || view.status === 'skipped') {
    throw new Fault('illegal', `${stepName(step)} is ${view.status}: there is nothing to verify.`, {
      hints: stepHints(step, view.status),
    });
  }
  const basis = probe ? 'verified' : 'declared';
  const checked = probe ? { probe: probe.command, exitCode: probe.exitCode } : {};
  if (result === 'pass') return [draft('step.verified', { step: step.key, result, note, ...checked }, basis)];
  const finding = nextId(context.state, 'F');
  const outcome = probe ? `\`${probe.command}\` exited with ${probe.exitCode ?? 'a signal'}` : 'declared';
  return [
    draft(
      'item.raised',
      {
        id: finding,
        kind: 'finding',
        severity: 'must_fix',
        step: step.key,
        text: `Verification of ${step.key} failed: ${note ?? outcome}`,
      },
      basis,
    ),
    draft('step.verified', { step: step.key, result, note, ...checked, finding }, basis),
  ];
}

export function setGate(context: RuleContext, { step: key, open }: CommandOf<'gate.set'>): Draft[] {
  mustBeActive(context);
  const { step, status } = stepOf(context, key);
  if (open && !step.gate) return [];
  if (step.gate?.state === (open ? 'open' : 'closed')) return [];
  mustBePerson(context, `${open ? 'open' : 'close'} a gate`, `holdfast gate ${step.key} ${open ? 'open' : 'close'}`);
  if (!open && status !== 'pending') {
    throw new Fault('illegal', `${stepName(step)} is ${status.replace('_', ' ')} and has already passed its gate.`, {
      hints: stepHints(step, status),
    });
  }
  // A gate with a name is one gate, before several steps.
  const { name } = step.gate ?? {};
  const others = [...context.state.steps.values()].filter(
    (one) =>
      one.key !== step.key &&
      name !== undefined &&
      one.gate?.name === name &&
      one.gate.state !== (open ? 'open' : 'closed') &&
      (open || one.status === 'pending'),
  );
  return [step, ...others].map(({ key: at }) =>
    draft(open ? 'gate.opened' : 'gate.closed', { step: at, by: context.actor.name }),
  );
}

function mustBeLeaf(view: StepView, action: string): void {
  if (view.children.length === 0) return;
  const keys = view.children.map((child) => quoted(child.key));
  throw new Fault(
    'illegal',
    `${stepName(view.step)} has children and is derived from them: it cannot be ${action} itself.`,
    {
      hints: [
        `Its children: ${keys.slice(0, 8).join(', ')}${keys.length > 8 ? ' …' : ''}.`,
        'See what is ready: `holdfast next`',
      ],
      data: { step: view.step.key, children: view.children.map((child) => child.key) },
    },
  );
}

/** Refuses to start a step with obstacles, and names them. */
function mustBeFree(view: StepView): void {
  const [first] = view.obstacles;
  if (!first) return;
  throw new Fault('blocked', `${stepName(view.step)} is blocked: ${view.obstacles.map(obstacleWords).join('; ')}.`, {
    hints: [...new Set(view.obstacles.map(obstacleHint))],
    data: { step: view.step.key, obstacles: view.obstacles },
  });
}

function obstacleWords(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case 'after':
      return `${quoted(obstacle.step)} comes first and is ${obstacle.status.replace('_', ' ')}`;
    case 'gate':
      return obstacle.name
        ? `${obstacle.name}, before ${quoted(obstacle.step)}, is closed`
        : `the gate of ${quoted(obstacle.step)} is closed`;
    case 'blocker':
      return `${obstacle.id} blocks ${quoted(obstacle.affects)}`;
    default:
      return obstacle satisfies never;
  }
}

function obstacleHint(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case 'after':
      return `Finish ${quoted(obstacle.step)} first; \`holdfast status\` shows what is ready.`;
    case 'gate':
      return `A person opens ${obstacle.name ?? 'the gate'} with \`holdfast gate ${obstacle.step} open\`.`;
    case 'blocker':
      return `Settle it with \`holdfast settle ${obstacle.id} --as resolved --note …\`, or go around it with \`--as bypassed\`.`;
    default:
      return obstacle satisfies never;
  }
}

function leavesBelow(context: RuleContext, view: StepView): StepView[] {
  if (view.children.length === 0) return [view];
  return view.children.flatMap((child) => leavesBelow(context, stepOf(context, child.key)));
}

/** All open errors of a step, also those that a file named. */
function settleErrors(context: RuleContext, step: string, note: string): Draft[] {
  return [...context.state.items.values()]
    .filter((item) => item.kind === 'error' && item.step === step)
    .map(({ id }) => draft('item.settled', { id, as: 'resolved', note }));
}
