import { evolve } from '../fold/evolve.ts';
import { itemPrefixes, nextId, type State } from '../fold/state.ts';
import { forkState } from '../fold/state-tables.ts';
import type { Rows } from '../fold/touch.ts';
import type { CommandOf, ReadRunModel } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import type { ModelStep, RunModelPart } from '../model/run-model.ts';
import { changesOf } from '../views/change.ts';
import { draft, mustBeActive, provisionalEvent, type RuleContext } from './rule-context.ts';

/** What a file says is taken as a fact about the file: no lifecycle is asked, but ids and the shape of the plan are ours. */
export function readRunModel(context: RuleContext, { type: _, ...read }: CommandOf<'account.read'>): Draft[] {
  mustBeActive(context);
  const work = forkState(context.state);
  return draftRunModel(context, read).filter((one) => {
    const event = provisionalEvent(one, work, context.now, context.actor, null);
    return changesOf(evolve(work, event, context.recall)).length > 0;
  });
}

/** One event for where the work stands and one for each thing beside it, so that each can be erased alone. */
export function draftRunModel(context: RuleContext, { account: model, ...source }: ReadRunModel): Draft[] {
  const { decisions, items, notes, sessions, messages, steps, ...rest } = withIds(context, model);
  const fitting = steps ? fitSteps(context.state, steps) : undefined;
  const place = { ...rest, ...(fitting ? { steps: fitting } : {}) };
  const parts: RunModelPart[] = [
    ...(Object.values(place).some((part) => part !== undefined && !(Array.isArray(part) && part.length === 0))
      ? [place]
      : []),
    ...(sessions ?? []).map((session) => ({ sessions: [session] })),
    ...(decisions ?? []).map((decision) => ({ decisions: [decision] })),
    ...(items ?? []).map((item) => ({ items: [item] })),
    ...(notes ?? []).map((note) => ({ notes: [note] })),
    ...(messages ?? []).map((message) => ({ messages: [message] })),
  ];
  return parts.map((part) => draft('account.read', { ...source, account: part }));
}

/**
 * What is known by its alias keeps its id; everything else gets the next one. What folded state no longer holds is
 * recorded whole, so that the event says enough by itself.
 */
function withIds(context: RuleContext, model: RunModelPart): RunModelPart {
  const given: Record<string, number> = {};
  const named = <T extends { id?: string | undefined; alias?: string | undefined }>(
    kind: NamedKind,
    prefix: (one: T) => string,
    list: readonly T[],
  ): T[] =>
    list.map((one) => {
      const known = knownRow(context, kind, one);
      if (known) return { ...pastOf(kind, known), ...one, id: known.id };
      const message = prefix(one);
      const ahead = Math.max(given[message] ?? 0, aheadOf(context.state, kind, message, one.alias));
      given[message] = ahead + 1;
      return { ...one, id: nextId(context.state, message, ahead) };
    });
  const { decisions, items, notes, sessions, messages } = model;
  return {
    ...model,
    ...(decisions && { decisions: named('decision', () => 'D', decisions) }),
    ...(items && { items: named('item', (item) => itemPrefixes[item.kind], items) }),
    ...(notes && { notes: named('note', () => 'N', notes) }),
    ...(sessions && { sessions: named('session', () => 'S', sessions) }),
    ...(messages && { messages: named('message', () => 'M', messages) }),
  };
}

/** Further than this no file's numbers lead ours. */
const MOST_AHEAD = 10_000;

/**
 * A mailbox may number its messages as we do (`M-4`). Such a message gets that very id while it is free: else the same
 * words would soon name another one.
 */
function aheadOf(state: State, kind: NamedKind, message: string, alias: string | undefined): number {
  const [, digits] = kind === 'message' ? (/^M-([1-9]\d{0,8})$/.exec(alias ?? '') ?? []) : [];
  const ahead = digits === undefined ? 0 : Number(digits) - (state.counters[message] ?? 0) - 1;
  return ahead <= MOST_AHEAD ? ahead : 0;
}

type NamedKind = 'decision' | 'item' | 'note' | 'session' | 'message';

function knownRow<K extends NamedKind>(
  { state, recall }: RuleContext,
  kind: K,
  { id, alias }: { id?: string | undefined; alias?: string | undefined },
): Rows[K] | null {
  const tables: { [T in NamedKind]?: ReadonlyMap<string, Rows[T]> } = {
    item: state.items,
    message: state.messages,
    session: state.sessions,
  };
  const open = [...((tables[kind] as ReadonlyMap<string, Rows[K]> | undefined)?.values() ?? [])];
  for (const reference of [id, alias]) {
    if (reference === undefined) continue;
    const found = open.find((row) => row.id === reference || row.alias === reference) ?? recall(kind, reference);
    if (found) return found;
  }
  return null;
}

/** What a row says that an entry for it may leave out. */
function pastOf(kind: NamedKind, row: Rows[NamedKind]): object {
  if (kind === 'decision') return { was: (row as Rows['decision']).status };
  if (kind === 'session') return {};
  const { session: _, stated: _s, basis: _b, ...past } = row as Rows['item'];
  // Where a row says that there is nothing, an entry says nothing.
  return Object.fromEntries(Object.entries(past).filter(([, value]) => value !== null));
}

/** A file may name parents and predecessors that are not there, or that wait for each other; the plan may not. */
function fitSteps(state: State, steps: readonly ModelStep[]): ModelStep[] {
  const keys = new Set([...state.steps.keys(), ...steps.map((step) => step.key)]);
  const parents = new Map<string, string>(
    [...state.steps].flatMap(([key, { parent }]) => (parent ? [[key, parent]] : [])),
  );
  const before = new Map<string, readonly string[]>([...state.steps].map(([key, { after }]) => [key, after]));
  const seen = new Set<string>();
  return steps.flatMap((step) => {
    if (seen.has(step.key)) return [];
    seen.add(step.key);
    const { parent, after, ...rest } = step;
    const fitting = { ...rest } as ModelStep;
    if (parent !== undefined && keys.has(parent) && !leadsTo(parent, step.key, (key) => only(parents.get(key)))) {
      fitting.parent = parent;
      parents.set(step.key, parent);
    }
    if (after !== undefined) {
      before.delete(step.key);
      fitting.after = after.filter(
        (key) => keys.has(key) && key !== step.key && !leadsTo(key, step.key, (one) => before.get(one) ?? []),
      );
      before.set(step.key, fitting.after);
    }
    return [fitting];
  });
}

const only = (key: string | undefined): readonly string[] => (key === undefined ? [] : [key]);

function leadsTo(from: string, target: string, next: (key: string) => readonly string[]): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (key === target) return true;
    if (seen.has(key)) continue;
    seen.add(key);
    open.push(...next(key));
  }
  return false;
}
