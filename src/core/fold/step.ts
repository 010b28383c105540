import { defined } from '../defined.ts';
import { suffices } from '../evidence.ts';
import type { Artifact, Event, EventBody, EventOf } from '../journal/event.ts';
import { oneLine } from '../text.ts';
import { stepWords } from '../views/named-step.ts';
import { count } from './ids.ts';
import { confirmedStep } from './imported.ts';
import { namedPaths, treeOf } from './last-work.ts';
import type { Act, State, Step } from './state.ts';
import type { AddTouch } from './touch.ts';

type StepEvent = Extract<Event, { type: `step.${string}` | `gate.${string}` }>;

export function applyStep(state: State, event: StepEvent, touch: AddTouch): void {
  const key = event.body.step;
  const before = state.steps.get(key) ?? null;
  if (event.type === 'step.removed') {
    if (!before) return;
    state.steps.delete(key);
    if (state.next?.step === key) state.next = null;
    touch('step', key, before, null);
    return;
  }
  if (!before && event.type !== 'step.added') return;
  if (event.type === 'step.started' || event.type === 'step.completed' || event.type === 'step.skipped')
    state.stand = null;
  const after =
    event.type === 'step.added' ? freshStep(event.body) : withoutOldTimes(evolveStep(before as Step, event));
  if (event.type === 'step.added' && event.body.before !== undefined)
    insertBefore(state.steps, event.body.before, after);
  else state.steps.set(key, after);
  touch('step', key, before, after);
  afterStep(state, event, before, touch);
}

/** The times that a file gave are outdated once the step is worked on here. */
function withoutOldTimes(step: Step): Step {
  return step.stated ? { ...step, stated: undefined } : step;
}

/** What a step's event changes apart from the step. */
function afterStep(state: State, event: StepEvent, before: Step | null, touch: AddTouch): void {
  const { step } = event.body;
  switch (event.type) {
    case 'step.started':
    case 'step.retried':
    case 'step.reopened': {
      const { claim, session: holder } = event.body;
      if (claim) count(state, claim);
      if (holder) holdStep(state, holder, step, touch);
      return;
    }
    case 'step.checkpointed':
      if (event.body.next) state.next = { text: event.body.next, session: event.session, step, at: event.at };
      return touchFiles(state, event, event.body.artifacts, step, touch);
    case 'step.completed': {
      dropNext(state, step);
      const session = event.session === null ? undefined : state.sessions.get(event.session);
      if (session) {
        const words = stepWords(state.steps, state.steps.get(step) as Step);
        const next = {
          ...session,
          completed: [...session.completed, step],
          finished: [...(session.finished ?? []), words],
        };
        state.sessions.set(session.id, next);
        touch('session', session.id, session, next);
      }
      const { summary, built, artifacts } = event.body;
      touch('result', step, null, {
        id: step,
        step,
        summary: summary ?? null,
        built: [...(before?.built ?? []), ...(built ? [built] : [])],
        // Checkpoints inside the step have listed theirs before.
        artifacts: mergeArtifacts(before?.artifacts ?? [], artifacts ?? []),
        session: event.session,
        by: event.actor.name,
        at: event.at,
      });
      return touchFiles(state, event, artifacts, step, touch);
    }
    case 'step.skipped':
      return dropNext(state, step);
    default:
  }
}

/**
 * The next action of a step is done when the step is. So is one without a step, if the session that declared it has
 * ended: it was for whatever came next.
 */
function dropNext(state: State, step: string): void {
  const { next } = state;
  const left = next !== null && next.step === null && (next.session === null || !state.sessions.has(next.session));
  if (left || next?.step === step) state.next = null;
}

export function holdStep(state: State, holder: string, step: string, touch: AddTouch): void {
  const session = state.sessions.get(holder);
  if (!session || session.held.includes(step)) return;
  const next = { ...session, held: [...session.held, step] };
  state.sessions.set(session.id, next);
  touch('session', session.id, session, next);
}

/** A table keeps the order of insertion: what comes after the new step is inserted again. */
function insertBefore(steps: Map<string, Step>, next: string, step: Step): void {
  const keys = [...steps.keys()];
  const at = keys.indexOf(next);
  steps.set(step.key, step);
  for (const key of at < 0 ? [] : keys.slice(at)) {
    const later = steps.get(key) as Step;
    if (key === step.key) continue;
    steps.delete(key);
    steps.set(key, later);
  }
}

/** A step as it is added to the plan. */
export function freshStep(body: EventBody<'step.added'>): Step {
  const { step, title, kind, parent, after, wave, agents, parallel, gate, gateName, context, checkpoints, alias } =
    body;
  return {
    key: step,
    title,
    kind,
    parent: parent ?? null,
    after: after ?? [],
    wave: wave ?? null,
    agents: agents ?? [],
    parallel: parallel ?? false,
    gate: gate ? { state: 'closed', ...(gateName ? { name: gateName } : {}) } : null,
    context: context ?? [],
    checkpoints: checkpoints ?? [],
    alias: alias ?? null,
    status: 'pending',
    holder: null,
    lastSession: null,
    lastAgent: null,
    checkpoint: null,
    artifacts: [],
    built: [],
    startedAt: null,
    endedAt: null,
    startedVersion: 0,
    reopenedVersion: 0,
    confirmedVersion: 0,
    retries: 0,
    crashes: 0,
    error: null,
    reason: null,
    skipped: null,
    summary: null,
    verified: null,
  };
}

function gateAs(
  state: 'open' | 'closed',
  { gate }: Step,
  event: EventOf<'gate.opened' | 'gate.closed'>,
): NonNullable<Step['gate']> {
  return { state, ...(gate?.name ? { name: gate.name } : {}), at: event.at, ...actOf(event, event.body.by) };
}

/** More files are not what a step begins with. */
const MOST_READ = 50;

/** Adds files that were read before the first checkpoint. */
export function withRead(step: Step, paths: readonly string[] = []): Step {
  if (paths.length === 0 || step.checkpoint !== null) return step;
  return { ...step, contextRead: [...new Set([...(step.contextRead ?? []), ...paths])].slice(0, MOST_READ) };
}

/** Enough for any brief; state keeps one for every step in progress. */
const NEXT_CHARS = 600;

function evolveStep(step: Step, event: Exclude<StepEvent, { type: 'step.added' | 'step.removed' }>): Step {
  switch (event.type) {
    case 'step.changed': {
      const { step: _, gate, gateName, ...patch } = event.body;
      const changed = { ...step, ...defined(patch) } as Step;
      const named = gateName ? { name: gateName } : {};
      if (gate === undefined) return changed.gate ? { ...changed, gate: { ...changed.gate, ...named } } : changed;
      return { ...changed, gate: gate ? { ...(step.gate ?? { state: 'closed' }), ...named } : null };
    }
    case 'step.started':
      return withRead(takeStep(step, event, event.body.session, event.body.claim), event.body.loaded);
    case 'step.retried': {
      const { session, claim, attempt } = event.body;
      const retried: Step = { ...step, status: 'in_progress', endedAt: null, retries: attempt, error: null };
      return session && claim ? takeStep(retried, event, session, claim) : retried;
    }
    case 'step.checkpointed': {
      const { name, next, artifacts, built, mark } = event.body;
      return {
        ...step,
        crashes: 0,
        checkpoint: {
          name,
          next: next ? oneLine(next, NEXT_CHARS) : null,
          at: event.at,
          session: event.session,
          mark: mark ?? null,
        },
        artifacts: mergeArtifacts(step.artifacts, artifacts ?? []),
        built: built && !step.built.includes(built) ? [...step.built, built] : step.built,
      };
    }
    case 'step.completed':
      return {
        ...put(step, 'completed', event.at),
        checkpoint: null,
        error: null,
        summary: event.body.summary ? oneLine(event.body.summary) : null,
        // A step that was added as done is confirmed against the plan as it is now.
        confirmedVersion: step.startedVersion === 0 ? event.version : step.confirmedVersion,
      };
    case 'step.failed':
      return { ...put(step, 'failed', event.at), error: event.body.error };
    case 'step.skipped':
      return { ...put(step, 'skipped', event.at), error: null, reason: event.body.reason, skipped: actOf(event) };
    case 'step.reopened':
      return reopenStep(step, event);
    case 'step.confirmed':
      return { ...(isPersonsAct(event) ? confirmedStep(step) : step), confirmedVersion: event.version };
    case 'step.released':
      return {
        ...step,
        status: 'pending',
        holder: null,
        checkpoint: null,
        crashes: 0,
        reason: event.body.reason ?? null,
      };
    case 'step.verified': {
      const { result, probe } = event.body;
      return {
        ...step,
        verified: { result, basis: event.basis, at: event.at, probe: probe ?? null, session: event.session },
      };
    }
    case 'gate.opened':
      return { ...step, gate: gateAs('open', step, event) };
    case 'gate.closed':
      return { ...step, gate: gateAs('closed', step, event) };
    default:
      return event satisfies never;
  }
}

/** Events of version 0.1 do not say; what they confirm was recorded here then. */
const isPersonsAct = ({ actor, evidence }: Event): boolean =>
  actor.kind === 'person' && (evidence === undefined || suffices(evidence));

function actOf({ actor, evidence, version }: Event, by = actor.name): Act {
  return { by, evidence: evidence ?? null, version };
}

function reopenStep(step: Step, event: EventOf<'step.reopened'>): Step {
  const { session, claim, reason } = event.body;
  const reopened: Step = {
    ...step,
    status: 'in_progress',
    endedAt: null,
    holder: null,
    reason,
    skipped: null,
    reopenedVersion: event.version,
    retries: 0,
  };
  return session && claim
    ? takeStep(reopened, event, session, claim)
    : { ...reopened, startedAt: step.startedAt ?? event.at };
}

export function takeStep(step: Step, event: Event, session: string, claim: string): Step {
  return {
    ...step,
    status: 'in_progress',
    holder: { session, agent: event.actor.name, claim, since: event.at },
    lastSession: session,
    lastAgent: event.actor.name,
    startedAt: step.startedAt ?? event.at,
    startedVersion: event.version,
    endedAt: null,
  };
}

/** A finished step keeps no holder, files or built things; the projection has them. */
function put(step: Step, status: 'completed' | 'failed' | 'skipped', at: string): Step {
  return {
    ...step,
    status,
    holder: null,
    endedAt: at,
    crashes: 0,
    artifacts: status === 'failed' ? step.artifacts : [],
    built: status === 'failed' ? step.built : [],
  };
}

export function mergeArtifacts(old: readonly Artifact[], added: readonly Artifact[]): Artifact[] {
  const byPath = new Map(old.map((artifact) => [artifact.path, artifact]));
  for (const artifact of added) byPath.set(artifact.path, artifact);
  return [...byPath.values()];
}

export function touchFiles(
  state: State,
  event: EventOf<'step.checkpointed' | 'step.completed' | 'files.seen'>,
  artifacts: readonly Artifact[] | undefined,
  step: string | null,
  touch: AddTouch,
  read = false,
): void {
  const built = 'built' in event.body ? event.body.built : undefined;
  const named = built && artifacts?.length ? namedPaths(built) : [];
  for (const artifact of artifacts ?? []) {
    touch('file', artifact.path, null, {
      ...artifact,
      id: artifact.path,
      step,
      session: event.session,
      ...treeOf(state, event),
      at: event.at,
      version: event.version,
      read,
      built: named.some((path) => path === artifact.path || artifact.path.endsWith(`/${path}`)),
      basis: artifact.sha256 || artifact.change === 'deleted' ? 'verified' : 'declared',
    });
  }
}
