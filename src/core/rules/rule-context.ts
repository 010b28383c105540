import { type Evidence, suffices, UNKNOWN } from '../evidence.ts';
import { Fault, notFound, quoted } from '../fault.ts';
import type { Session, State, Step } from '../fold/state.ts';
import type { RowKind, Rows } from '../fold/touch.ts';
import type { Draft, Event, EventBody, EventType } from '../journal/event.ts';
import { type Liveness, leaseEnd } from '../views/liveness.ts';
import { isDone, type PlanView, planView, readySteps, type StepView } from '../views/plan.ts';
import type { Actor, Basis, Scope } from '../words.ts';
import { moveOf, movesFrom, type Noun } from './lifecycle.ts';

/** What a rule sees: the state, the actor, and which sessions live. */
export interface RuleContext extends Liveness {
  state: State;
  plan: PlanView;
  actor: Actor;
  evidence: Evidence;
  session: Session | null;
  /** What the actor's token allows, if there is one. */
  scope?: Scope | undefined;
  /** Names of people that a new agent may not be called like, beside those that the run knows. */
  people?: readonly string[] | undefined;
  /** Finds a settled or ended row by id or alias. */
  recall<K extends RowKind>(kind: K, reference: string): Rows[K] | null;
}

/** The plan is computed only for the rules that need it. */
export function ruleContextOf(context: Omit<RuleContext, 'plan'>): RuleContext {
  return {
    ...context,
    get plan() {
      return planView(context.state);
    },
  };
}

export function draft<T extends EventType>(type: T, body: EventBody<T>, basis: Basis = 'declared'): Draft {
  return { type, body, basis } as Draft;
}

/** The event that a draft would become, to fold it before it is recorded. */
export function provisionalEvent(
  draft: Draft,
  state: State,
  now: string,
  by: { actor: Actor; evidence: Evidence; session: string | null },
): Event {
  const run = state.run?.id ?? '';
  const { actor, evidence, session } = by;
  return {
    ...draft,
    run,
    version: state.version + 1,
    at: now,
    actor,
    evidence,
    session,
    key: null,
    previous: '',
    hash: '',
    bodyHash: '',
  };
}

export function stepOf(context: RuleContext, reference: string): StepView {
  const { state, plan } = context;
  const direct = plan.byKey.get(reference);
  if (direct) return direct;
  const aliased = plan.all.find((view) => view.step.alias === reference);
  if (aliased) return aliased;
  throw notFound('step', reference, state.steps.keys(), 'See the plan with `holdfast plan show`.');
}

/** What a command without a step is about: the step the session holds, if it holds exactly one. */
export function onlyStepHeld(context: RuleContext): string | undefined {
  const [only, ...others] = stepsHeld(context);
  return others.length === 0 ? only?.key : undefined;
}

function stepsHeld({ session, state }: RuleContext): Step[] {
  return session === null ? [] : [...state.steps.values()].filter((step) => step.holder?.session === session.id);
}

/** The named step, or the only one that the session holds. */
export function heldStep(context: RuleContext, reference: string | undefined): StepView {
  if (reference !== undefined) return stepOf(context, reference);
  const { state } = context;
  const held = stepsHeld(context);
  const [only, ...others] = held;
  if (!only) {
    const isPerson = context.actor.kind === 'person';
    const elsewhere = [...state.steps.values()].filter((step) => step.holder);
    throw new Fault('not_found', `${whoIs(context)} holds no step.`, {
      hints: [
        ...elsewhere.slice(0, 3).map((step) => `\`${step.key}\` is held by ${step.holder?.agent}.`),
        ...readySteps(context.plan)
          .slice(0, 3)
          .map(({ step }) =>
            isPerson ? `Finish one: \`holdfast done ${step.key}\`` : `Take one: \`holdfast start ${step.key}\``,
          ),
        'See the plan with `holdfast plan`.',
      ],
    });
  }
  if (others.length > 0) {
    const keys = held.map((step) => step.key);
    throw new Fault(
      'usage',
      `${whoIs(context)} holds ${held.length} steps. Choose one: ${keys.map(quoted).join(', ')}.`,
      {
        hints: ['Name the step: `holdfast complete KEY`, `holdfast checkpoint NAME --step KEY`.'],
        data: { steps: keys },
      },
    );
  }
  return stepOf(context, only.key);
}

/** Refuses a move that is not in the table, and names the possible ones. */
export function mustAllow(noun: Noun, what: string, from: string, name: string, hints: readonly string[] = []): void {
  if (moveOf(noun, from, name)) return;
  const moves = movesFrom(noun, from);
  const legal =
    moves.length > 0
      ? `From ${words(from)} these are possible: ${moves.map(words).join(', ')}.`
      : `\`${words(from)}\` is final.`;
  throw new Fault('illegal', `${what} is ${words(from)}: ${words(name)} is not possible.`, {
    hints: [...hints, legal],
    data: { noun, from, move: name, legal: moves },
  });
}

const words = (name: string): string => name.replaceAll('_', ' ');

type Caller = Pick<RuleContext, 'actor' | 'evidence' | 'scope'>;

/** A person, on evidence that is enough for one; a token also needs the scope `maintain`. */
export function isMaintainer({ actor, evidence, scope }: Caller): boolean {
  return actor.kind === 'person' && suffices(evidence) && (scope === undefined || scope === 'maintain');
}

export function mustBePerson(context: Caller, action: string, command: string): void {
  if (isMaintainer(context)) return;
  const { actor, evidence, scope } = context;
  if (actor.kind === 'person' && !suffices(evidence)) {
    throw new Fault('not_allowed', `Only a person may ${action}, and nothing shows that ${actor.name} calls.`, {
      hints: [atATerminal(command)],
      data: { actor, evidence },
    });
  }
  if (actor.kind === 'person') {
    throw new Fault(
      'not_allowed',
      `Only a maintainer may ${action}; the token of ${actor.name} has the scope ${scope}.`,
      {
        hints: [`Ask a maintainer to run \`${command}\`, or to give you a token with the scope maintain.`],
        data: { actor, scope },
      },
    );
  }
  if (actor.name === UNKNOWN) {
    throw new Fault('not_allowed', `Only a person may ${action}, and nothing shows who calls.`, {
      hints: [atATerminal(command)],
      data: { actor, evidence },
    });
  }
  throw new Fault('not_allowed', `Only a person may ${action}; ${actor.name} is an agent.`, {
    hints: [`Ask the person you work for to run \`${command}\` at their terminal, and say why.`],
    data: { actor, evidence },
  });
}

const atATerminal = (command: string): string =>
  `Run \`${command}\` yourself at a terminal, or on a server with a token of a person.`;

/** Refuses a step that the session does not hold. */
export function mustHold(context: RuleContext, view: StepView, name: string): void {
  const { step } = view;
  mustAllow('step', stepName(step), view.status, name, stepHints(step, view.status));
  if (context.session && step.holder?.session === context.session.id) return;
  const holder = step.holder ? context.state.sessions.get(step.holder.session) : null;
  if (holder) throw heldBy(context, step, holder);
  throw new Fault('illegal', `${stepName(step)} is interrupted: nobody holds it.`, {
    hints: [
      `Take it over with \`holdfast start ${step.key}\`; it continues after its last checkpoint and does not count as a retry.`,
    ],
    data: { step: step.key, lastSession: step.lastSession },
  });
}

export function heldBy(context: RuleContext, step: Step, holder: Session): Fault {
  const until = leaseEnd(holder, context);
  return new Fault('held', `${stepName(step)} is held by ${holder.agent} (${holder.id}) until ${until}.`, {
    hints: [
      `Wait for it with \`holdfast wait ${step.key}\`, or take another step: \`holdfast start\` lists what is ready.`,
      `If ${holder.agent} is gone, its lease ends by itself; a person can hand the step over with \`holdfast release ${step.key}\`.`,
    ],
    data: { step: step.key, session: holder.id, agent: holder.agent, until, claim: step.holder?.claim ?? null },
  });
}

export function stepName(step: Step): string {
  return `Step ${quoted(step.key)}`;
}

/** Commands that help, by status. */
export function stepHints(step: Step, status: string): string[] {
  switch (status) {
    case 'pending':
      return [`Start it with \`holdfast start ${step.key}\`.`];
    case 'failed':
      return [`Try again with \`holdfast retry ${step.key}\`, or a person skips it.`];
    case 'completed':
    case 'skipped':
      return [`To do it again: \`holdfast reopen ${step.key} "why"\`.`];
    default:
      return [];
  }
}

export function mustBeActive(context: RuleContext): void {
  const { run } = context.state;
  if (!run) throw new Fault('not_found', 'There is no such run.', { hints: ['See the runs with `holdfast runs`.'] });
  if (run.status === 'active' || run.status === 'completed') return;
  throw new Fault('illegal', `Run ${quoted(run.id)} is ${run.status} and read-only.`, {
    hints: [
      run.status === 'archived'
        ? `Bring it back with \`holdfast unarchive ${run.id}\`, or open another run with \`holdfast init\`.`
        : 'Open another run with `holdfast init`.',
    ],
    data: { run: run.id, status: run.status },
  });
}

/** A completed run is reopened when there is work again. */
export function reviveRun(context: RuleContext, reason: string): Draft[] {
  return context.state.run?.status === 'completed' ? [draft('run.reopened', { reason })] : [];
}

/** A planned run is completed with its last unfinished step; whether an ad hoc run is finished is derived. */
export function finishRun(context: Pick<RuleContext, 'state' | 'plan'>, finished: readonly string[] = []): Draft[] {
  const now = new Set(finished);
  const all = context.plan.leaves.every((leaf) => isDone(leaf.status) || now.has(leaf.step.key));
  const { run } = context.state;
  return all && run?.kind === 'planned' && run.status === 'active' ? [draft('run.completed', {})] : [];
}

export function mustHaveSession(context: RuleContext): Session {
  if (context.session) return context.session;
  throw new Fault('usage', `${whoIs(context)} has no active session.`, {
    hints: ['Start one with `holdfast session start --agent NAME`, or name it with `--session`.'],
  });
}

export function whoIs(context: Pick<RuleContext, 'actor' | 'session'>): string {
  return context.session ? `${context.session.agent} (${context.session.id})` : context.actor.name;
}
