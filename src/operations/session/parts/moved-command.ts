import { spentIn } from '../../../core/fold/spent.ts';
import type { State } from '../../../core/fold/state.ts';
import type { Command } from '../../../core/journal/command.ts';
import type { Event } from '../../../core/journal/event.ts';
import { isTodo } from '../../../core/views/left.ts';

/** What the ids of the source are called in the target. */
export type Names = Map<string, string>;

/**
 * The command that records an event of a moved session in its new run. Undefined: there is nothing to record, because it
 * follows from others. Null: there is no such command, and the event is kept as a note.
 */
export function commandFor(event: Event, target: State, names: Names): Command | null | undefined {
  const named = (id: string): string => names.get(id) ?? id;
  switch (event.type) {
    case 'turn.began': {
      const { session: _, ...turn } = event.body;
      return { type: 'turn.begin', ...turn };
    }
    case 'turn.ended': {
      const { session: _, background, ...turn } = event.body;
      return { type: 'turn.end', ...turn, ...(background ? { background: background.map(named) } : {}) };
    }
    case 'note.added': {
      const { text, kind, asked } = event.body;
      return { type: 'note.add', text, kind, ...(asked ? { asked } : {}) };
    }
    case 'note.approved':
      return { type: 'note.approve', id: named(event.body.id) };
    case 'decision.made': {
      const { id: _, alias: _alias, by: _by, type: decisionType, supersedes, step: _step, ...decision } = event.body;
      const replaced = supersedes === undefined ? {} : { supersedes: named(supersedes) };
      return { type: 'decision.make', ...decision, decisionType, ...replaced };
    }
    case 'decision.retracted':
      return { type: 'decision.retract', id: named(event.body.id), reason: event.body.reason };
    case 'item.raised': {
      const { id: _, alias: _alias, by: _by, type: errorType, step: _step, ...item } = event.body;
      return { type: 'item.raise', ...item, errorType };
    }
    case 'item.settled': {
      const { id, as, note } = event.body;
      return { type: 'item.settle', id: named(id), as, note };
    }
    case 'effect.began': {
      const { name, class: effectClass, key, owner, background, asks } = event.body;
      return { type: 'effect.begin', name, class: effectClass, key, owner, background, asks };
    }
    case 'effect.ended': {
      const { id, outcome, exitCode, note } = event.body;
      return {
        type: 'effect.end',
        id: named(id),
        outcome,
        exitCode: exitCode ?? undefined,
        note,
        seen: event.basis === 'verified',
      };
    }
    case 'files.seen': {
      const { artifacts, read } = event.body;
      return { type: 'files.see', artifacts, read };
    }
    case 'usage.added': {
      const { input, output, cached } = spentIn(event, true);
      const { model } = event.body;
      return { type: 'usage.add', input, output, cached: cached ?? undefined, model };
    }
    case 'claim.taken':
      return { type: 'claim.take', files: [...event.body.files], reason: event.body.reason };
    case 'claim.released':
      return { type: 'claim.release', id: named(event.body.id) };
    case 'step.added':
    case 'step.started':
    case 'step.completed':
    case 'step.released':
    case 'step.reopened':
    case 'step.removed':
    case 'step.changed':
    case 'step.checkpointed':
      return stepCommand(event, target, names);
    case 'session.started':
    case 'session.ended':
    case 'session.moved':
    case 'snapshot.taken':
    case 'run.opened':
    case 'run.amended':
    case 'run.reopened':
    case 'run.completed':
      return undefined;
    default:
      return null;
  }
}

type StepEvent = Extract<Event, { type: `step.${string}` }>;

/** Equal titles are one step. A run with a plan gets no steps from a to-do list. */
function stepCommand(event: StepEvent, target: State, names: Names): Command | null | undefined {
  const { step: key } = event.body;
  if (event.type === 'step.added') {
    const { step: _, alias, ...plan } = event.body;
    const title = plan.title.trim().toLowerCase();
    const same = [...target.steps.values()].find((step) => step.title.trim().toLowerCase() === title);
    const isPlanned = [...target.steps.keys()].some((one) => !isTodo(one));
    if (same) names.set(key, same.key);
    if (same) return undefined;
    if (isPlanned || !isTodo(key)) return null;
    const numbers = [...target.steps.keys()].map((one) => Number(/^todo-(\d+)$/.exec(one)?.[1] ?? 0));
    const next = `todo-${Math.max(0, ...numbers) + 1}`;
    names.set(key, next);
    return { type: 'plan.add', steps: [{ ...plan, key: next, alias }] };
  }
  const mine = names.get(key);
  const step = mine === undefined ? undefined : target.steps.get(mine);
  if (!step || mine === undefined) return undefined;
  switch (event.type) {
    case 'step.started':
      return step.status === 'pending' ? { type: 'step.start', step: mine } : undefined;
    case 'step.completed':
      return step.status === 'completed'
        ? undefined
        : { type: 'step.complete', step: mine, summary: event.body.summary };
    case 'step.released':
      return { type: 'step.release', step: mine, reason: event.body.reason };
    case 'step.reopened':
      return step.status === 'completed' ? { type: 'step.reopen', step: mine, reason: event.body.reason } : undefined;
    case 'step.removed':
      return step.status === 'pending' ? { type: 'plan.remove', step: mine } : undefined;
    case 'step.changed':
      return event.body.title === undefined
        ? undefined
        : { type: 'plan.change', step: mine, patch: { title: event.body.title } };
    case 'step.checkpointed': {
      const { name, next, built, artifacts } = event.body;
      return { type: 'step.checkpoint', step: mine, name, next, built, artifacts };
    }
    default:
      return null;
  }
}
