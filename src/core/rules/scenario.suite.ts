import * as v from 'valibot';
import type { Evidence } from '../evidence.ts';
import { Fault } from '../fault.ts';
import { evolve } from '../fold/evolve.ts';
import type { Session, State, Step } from '../fold/state.ts';
import { emptyState } from '../fold/state-tables.ts';
import type { Recall, RowKind, Rows, Touch } from '../fold/touch.ts';
import { GENESIS, seal } from '../journal/chain.ts';
import type { Command, CommandOf, PlannedStep } from '../journal/command.ts';
import type { Event, EventBody, EventType } from '../journal/event.ts';
import { eventBodies } from '../journal/event.ts';
import { addMs } from '../time.ts';
import { type Change, changesOf } from '../views/change.ts';
import { type PlanView, planView, type StepView } from '../views/plan.ts';
import type { Actor } from '../words.ts';
import { type CommandContext, type Decided, decide } from './decide.ts';

/**
 * Given, when, then for the core: commands go through `decide`, `seal` and `evolve` as in the engine, with a clock that only
 * the test moves and a map of rows instead of the projection.
 */

export interface By {
  actor: Actor;
  evidence: Evidence;
  session: string | null;
  people?: readonly string[];
}

export const agent = (name: string, session: string | null = null): By => ({
  actor: { kind: 'agent', name },
  evidence: 'agent-shell',
  session,
});
export const person = (name: string, session: string | null = null): By => ({
  actor: { kind: 'person', name },
  evidence: 'terminal',
  session,
});

export const sam = person('sam');
export const ada = agent('ada');
export const bob = agent('bob');

export const MINUTE_MS = 60_000;

export interface Outcome {
  events: Event[];
  types: EventType[];
  touches: Touch[];
  changed: Change[];
  decided: Decided;
  /** The body of the only event of a type. */
  body<T extends EventType>(type: T): EventBody<T>;
}

export interface Scenario {
  state: State;
  events: Event[];
  now: string;
  beats: Map<string, string>;
  owners: Map<string, 'alive' | 'dead'>;
  recall: Recall;
  contextOf(by: By): CommandContext;
  wait(ms: number): Scenario;
  /** Commands that must be allowed. */
  given(by: By, ...commands: Command[]): Scenario;
  when(by: By, command: Command): Outcome;
  /** The fault a command is refused with. */
  refusal(by: By, command: Command): Fault;
  step(key: string): Step;
  view(key: string): StepView;
  plan(): PlanView;
  session(id: string): Session;
  row<K extends RowKind>(kind: K, id: string): Rows[K];
}

/** A run opened by a person, with these steps in its plan. */
export function scenario(...steps: (string | PlannedStep)[]): Scenario {
  const fresh = unopened().given(sam, { type: 'run.open', title: 'Work', workspace: 'W-1' });
  return steps.length > 0 ? fresh.given(sam, planned(...steps)) : fresh;
}

export function unopened(): Scenario {
  const rows = new Map<string, Touch['after']>();
  const recall: Recall = <K extends RowKind>(kind: K, reference: string) => {
    const direct = rows.get(`${kind}:${reference}`);
    const found =
      direct ??
      [...rows].find(
        ([key, row]) => key.startsWith(`${kind}:`) && row && 'alias' in row && row.alias === reference,
      )?.[1];
    return (found ?? null) as Rows[K] | null;
  };
  const contextOf = (by: By): CommandContext => ({
    ...by,
    now: self.now,
    beats: self.beats,
    owners: self.owners,
    recall,
  });
  const self: Scenario = {
    state: emptyState(),
    events: [],
    now: '2026-01-02T10:00:00.000Z',
    beats: new Map(),
    owners: new Map(),
    recall,
    contextOf,
    wait(ms) {
      self.now = addMs(self.now, ms);
      return self;
    },
    given(by, ...commands) {
      for (const command of commands) self.when(by, command);
      return self;
    },
    when(by, command) {
      const decided = decide(self.state, command, contextOf(by));
      const { actor, evidence, session } = decided;
      const stamp = { run: 'work', at: self.now, actor, evidence, session, key: null };
      const last = self.events.at(-1);
      const events = seal(decided.drafts, stamp, { version: self.events.length, hash: last?.hash ?? GENESIS });
      const touches: Touch[] = [];
      for (const event of events) {
        v.parse(eventBodies[event.type] as v.GenericSchema, event.body);
        for (const touch of evolve(self.state, event, recall)) {
          rows.set(`${touch.kind}:${touch.id}`, touch.after);
          touches.push(touch);
        }
      }
      self.events.push(...events);
      return {
        events,
        types: events.map((event) => event.type),
        touches,
        changed: changesOf(touches),
        decided,
        body<T extends EventType>(type: T) {
          const [only, ...others] = events.filter((event) => event.type === type);
          if (!only || others.length > 0) throw new Error(`Not one ${type} in ${events.map((event) => event.type)}`);
          return only.body as EventBody<T>;
        },
      };
    },
    refusal(by, command) {
      try {
        const { drafts } = decide(self.state, command, contextOf(by));
        throw new Error(`${command.type} was allowed: ${JSON.stringify(drafts)}`);
      } catch (thrown) {
        if (thrown instanceof Fault) return thrown;
        throw thrown;
      }
    },
    step: (key) => must(self.state.steps.get(key), key),
    view: (key) => must(planView(self.state).byKey.get(key), key),
    plan: () => planView(self.state),
    session: (id) => must(self.state.sessions.get(id) ?? recall('session', id), id),
    row: (kind, id) => must(recall(kind, id), `${kind} ${id}`),
  };
  return self;
}

function must<T>(found: T | null | undefined, name: string): T {
  if (found === null || found === undefined) throw new Error(`There is no ${name}`);
  return found;
}

export function planned(...steps: (string | PlannedStep)[]): CommandOf<'plan.add'> {
  return {
    type: 'plan.add',
    steps: steps.map((step) => (typeof step === 'string' ? task(step) : step)),
  };
}

export function task(key: string, more: Partial<PlannedStep> = {}): PlannedStep {
  return { key, title: `Do ${key}`, kind: 'task', ...more };
}

export function phase(key: string, more: Partial<PlannedStep> = {}): PlannedStep {
  return task(key, { kind: 'phase', ...more });
}

export const start = (step: string): Command => ({ type: 'step.start', step });
export const complete = (step?: string): Command => ({ type: 'step.complete', step });
export const checkpoint = (name: string, step?: string): Command => ({ type: 'step.checkpoint', name, step });
export const fail = (step?: string): Command => ({
  type: 'step.fail',
  step,
  errorType: 'runtime',
  message: 'It broke.',
});
export const retry = (step: string): Command => ({ type: 'step.retry', step });
export const skip = (step: string): Command => ({ type: 'step.skip', step, reason: 'Not needed.' });
export const reopen = (step: string): Command => ({ type: 'step.reopen', step, reason: 'Found a gap.' });
export const release = (step: string): Command => ({ type: 'step.release', step });
export const startSession = (more: Partial<CommandOf<'session.start'>> = {}): Command => ({
  type: 'session.start',
  ...more,
});
export const leave = (reason: CommandOf<'session.end'>['reason'] = 'completed', next?: string): Command => ({
  type: 'session.end',
  reason,
  next,
});
export const note = (text: string): CommandOf<'note.add'> => ({ type: 'note.add', text, kind: 'worklog' });
export const block = (affects: string[], more: Partial<CommandOf<'item.raise'>> = {}): Command => ({
  type: 'item.raise',
  kind: 'blocker',
  text: 'No access.',
  affects,
  ...more,
});
export const settle = (id: string, as: CommandOf<'item.settle'>['as'], noteText?: string): Command => ({
  type: 'item.settle',
  id,
  as,
  note: noteText,
});
export const decision = (more: Partial<CommandOf<'decision.make'>> = {}): Command => ({
  type: 'decision.make',
  context: 'Storage',
  decision: 'SQLite',
  reason: 'One file.',
  ...more,
});
export const mail = (to: string, more: Partial<CommandOf<'message.send'>> = {}): Command => ({
  type: 'message.send',
  to,
  messageType: 'request',
  priority: 'P1',
  subject: 'Please look',
  body: 'At this.',
  ...more,
});
export const moveMail = (
  id: string,
  to: CommandOf<'message.move'>['to'],
  more: Partial<CommandOf<'message.move'>> = {},
): Command => ({ type: 'message.move', id, to, note: 'Because.', ...more });
