import { Fault, notFound, quoted } from '../fault.ts';
import type { Session, State, Step } from '../fold/state.ts';
import type { RowKind, Rows } from '../fold/touch.ts';
import type { Draft, Event, EventBody, EventType } from '../journal/event.ts';
import { isDone, leaseEnd, type PlanView, planView, type StepView, type Vitals } from '../views/plan.ts';
import type { Actor, Basis, Scope } from '../words.ts';
import { moveOf, movesFrom, type Noun } from './lifecycle.ts';

/** What a rule sees: the state, who acts, and what is known of the world at this moment. */
export interface Scene extends Vitals {
  state: State;
  plan: PlanView;
  actor: Actor;
  session: Session | null;
  /** What the token of the one who acts allows, if there is one. */
  scope?: Scope | undefined;
  /** A row that is settled or ended, by id or alias. */
  recall<K extends RowKind>(kind: K, reference: string): Rows[K] | null;
}

/** The plan is looked at only by the rules that need it. */
export function sceneOf(scene: Omit<Scene, 'plan'>): Scene {
  return {
    ...scene,
    get plan() {
      return planView(scene.state);
    },
  };
}

export function draft<T extends EventType>(type: T, body: EventBody<T>, basis: Basis = 'declared'): Draft {
  return { type, body, basis } as Draft;
}

/** A draft as the event it would become, to see what follows from it. */
export function pretend(draft: Draft, state: State, now: string, actor: Actor, session: string | null): Event {
  const run = state.run?.id ?? '';
  return {
    ...draft,
    run,
    version: state.version + 1,
    at: now,
    actor,
    session,
    key: null,
    previous: '',
    hash: '',
    bodyHash: '',
  };
}

export function stepOf(scene: Scene, reference: string): StepView {
  const { state, plan } = scene;
  const direct = plan.byKey.get(reference);
  if (direct) return direct;
  const aliased = plan.all.find((view) => view.step.alias === reference);
  if (aliased) return aliased;
  throw notFound('step', reference, state.steps.keys(), 'See the plan with `holdfast plan show`.');
}

/** The steps that the caller's session has. */
export function stepsHeld({ session, state }: Scene): Step[] {
  return session === null ? [] : [...state.steps.values()].filter((step) => step.holder?.session === session.id);
}

/** The step that is meant when none is named: the one the session holds. */
export function heldStep(scene: Scene, reference: string | undefined): StepView {
  if (reference !== undefined) return stepOf(scene, reference);
  const { state } = scene;
  const held = stepsHeld(scene);
  const [only, ...others] = held;
  if (!only) {
    const elsewhere = [...state.steps.values()].filter((step) => step.holder);
    throw new Fault('not_found', `${whoIs(scene)} holds no step.`, {
      hints: [
        ...elsewhere
          .slice(0, 3)
          .map(
            (step) =>
              `\`${step.key}\` is held by ${step.holder?.agent} (${step.holder?.session}): pass \`--session ${step.holder?.session}\` if that is you.`,
          ),
        'Take a step with `holdfast start KEY`; `holdfast status` shows what is ready.',
      ],
    });
  }
  if (others.length > 0) {
    const keys = held.map((step) => step.key);
    throw new Fault(
      'usage',
      `${whoIs(scene)} holds ${held.length} steps: ${keys.map(quoted).join(', ')}. Say which one is meant.`,
      {
        hints: ['Name the step: `holdfast complete KEY`, `holdfast checkpoint NAME --step KEY`.'],
        data: { steps: keys },
      },
    );
  }
  return stepOf(scene, only.key);
}

/** Refuses a move that is not in the table, with those that are. */
export function mustAllow(noun: Noun, what: string, from: string, name: string, hints: readonly string[] = []): void {
  if (moveOf(noun, from, name)) return;
  const moves = movesFrom(noun, from);
  const legal =
    moves.length > 0
      ? `From ${words(from)} these are possible: ${moves.map(words).join(', ')}.`
      : `${words(from)} is an end.`;
  throw new Fault('illegal', `${what} is ${words(from)}: ${words(name)} is not possible.`, {
    hints: [...hints, legal],
    data: { noun, from, move: name, legal: moves },
  });
}

const words = (name: string): string => name.replaceAll('_', ' ');

/** A person; one who comes with a token needs it to say so. */
export function isMaintainer({ actor, scope }: Pick<Scene, 'actor' | 'scope'>): boolean {
  return actor.kind === 'person' && (scope === undefined || scope === 'maintain');
}

/** Refuses an agent what only a person may do. */
export function mustBePerson(scene: Pick<Scene, 'actor' | 'scope'>, deed: string, command: string): void {
  if (isMaintainer(scene)) return;
  const { actor, scope } = scene;
  if (actor.kind === 'person') {
    throw new Fault(
      'not_allowed',
      `Only a maintainer may ${deed}; the token of ${actor.name} has the scope ${scope}.`,
      {
        hints: [`Ask a maintainer to run \`${command}\`, or to give you a token with the scope maintain.`],
        data: { actor, scope },
      },
    );
  }
  throw new Fault('not_allowed', `Only a person may ${deed}; ${scene.actor.name} is an agent.`, {
    hints: [`Ask the person you work for to run \`${command}\` at their terminal, and say why.`],
    data: { actor: scene.actor },
  });
}

/** Refuses to touch a step that another session holds, or that nobody holds. */
export function mustHold(scene: Scene, view: StepView, name: string): void {
  const { step } = view;
  mustAllow('step', stepName(step), view.status, name, stepHints(step, view.status));
  if (scene.session && step.holder?.session === scene.session.id) return;
  const holder = step.holder ? scene.state.sessions.get(step.holder.session) : null;
  if (holder) throw heldBy(scene, step, holder);
  throw new Fault('illegal', `${stepName(step)} is interrupted: nobody holds it.`, {
    hints: [
      `Take it over with \`holdfast start ${step.key}\`; it goes on after its last checkpoint and counts no retry.`,
    ],
    data: { step: step.key, lastSession: step.lastSession },
  });
}

export function heldBy(scene: Scene, step: Step, holder: Session): Fault {
  const until = leaseEnd(holder, scene);
  return new Fault('held', `${stepName(step)} is held by ${holder.agent} (${holder.id}) until ${until}.`, {
    hints: [
      'Wait for it with `holdfast wait --for ' +
        step.key +
        '`, or take another step: `holdfast status` shows what is ready.',
      `If ${holder.agent} is gone, its lease ends by itself; a person can hand the step over with \`holdfast release ${step.key}\`.`,
    ],
    data: { step: step.key, session: holder.id, agent: holder.agent, until, claim: step.holder?.claim ?? null },
  });
}

export function stepName(step: Step): string {
  return `Step ${quoted(step.key)}`;
}

/** Which command helps, by where a step stands. */
export function stepHints(step: Step, status: string): string[] {
  switch (status) {
    case 'pending':
      return [`Start it with \`holdfast start ${step.key}\`.`];
    case 'failed':
      return [`Try again with \`holdfast retry ${step.key}\`, or a person skips it.`];
    case 'completed':
    case 'skipped':
      return [`To do it again: \`holdfast reopen ${step.key} --reason …\`.`];
    default:
      return [];
  }
}

export function mustBeActive(scene: Scene): void {
  const { run } = scene.state;
  if (!run) throw new Fault('not_found', 'There is no such run.', { hints: ['See the runs with `holdfast runs`.'] });
  if (run.status === 'active' || run.status === 'completed') return;
  throw new Fault('illegal', `Run ${quoted(run.id)} is ${run.status}: nothing more is recorded in it.`, {
    hints: [
      run.status === 'archived'
        ? `Bring it back with \`holdfast unarchive ${run.id}\`, or open another run with \`holdfast init\`.`
        : 'Open another run with `holdfast init`.',
    ],
    data: { run: run.id, status: run.status },
  });
}

/** A completed run goes on when there is something to do again. */
export function reviveRun(scene: Scene, reason: string): Draft[] {
  return scene.state.run?.status === 'completed' ? [draft('run.reopened', { reason })] : [];
}

/** The run is completed with the last step that was left. */
export function finishRun(scene: Pick<Scene, 'state' | 'plan'>, finished: readonly string[] = []): Draft[] {
  const now = new Set(finished);
  const all = scene.plan.leaves.every((leaf) => isDone(leaf.status) || now.has(leaf.step.key));
  return all && scene.state.run?.status === 'active' ? [draft('run.completed', {})] : [];
}

export function mustHaveSession(scene: Scene): Session {
  if (scene.session) return scene.session;
  throw new Fault('usage', `${whoIs(scene)} has no active session.`, {
    hints: ['Begin one with `holdfast session start --agent NAME`, or name it with `--session`.'],
  });
}

export function whoIs(scene: Pick<Scene, 'actor' | 'session'>): string {
  return scene.session ? `${scene.session.agent} (${scene.session.id})` : scene.actor.name;
}
