import { evolve } from '../fold/evolve.ts';
import { itemPrefixes, nextId } from '../fold/ids.ts';
import type { State } from '../fold/state.ts';
import { forkState } from '../fold/state-tables.ts';
import type { Rows } from '../fold/touch.ts';
import type { CommandOf, ReadRunModel } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import type { ModelStep, RunModelPart } from '../model/run-model.ts';
import { changesOf } from '../views/change.ts';
import { draft, mustBeActive, provisionalEvent, type RuleContext } from './rule-context.ts';

/** A file is recorded as it is, without lifecycle rules. Only ids and the shape of the plan are checked. */
export function readRunModel(context: RuleContext, { type: _, ...read }: CommandOf<'account.read'>): Draft[] {
  mustBeActive(context);
  const work = forkState(context.state);
  return draftRunModel(context, read).filter((one) => {
    const event = provisionalEvent(one, work, context.now, { ...context, session: null });
    return changesOf(evolve(work, event, context.recall)).length > 0;
  });
}

/** One event for run and plan, and one for each other entry, so that each can be erased alone. */
export function draftRunModel(context: RuleContext, { account: model, ...source }: ReadRunModel): Draft[] {
  const { decisions, items, notes, sessions, messages, steps, ...rest } = withIds(context, model);
  const fitting = steps ? fitSteps(context.state, steps) : undefined;
  const plan = { ...rest, ...(fitting ? { steps: fitting } : {}) };
  const parts: RunModelPart[] = [
    ...(Object.values(plan).some((part) => part !== undefined && !(Array.isArray(part) && part.length === 0))
      ? [plan]
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
 * An entry that is known by its alias keeps its id; any other gets the next id. An entry that folded state no longer holds
 * is recorded in full, so that the event is complete by itself.
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
      const letter = prefix(one);
      const ahead = Math.max(given[letter] ?? 0, aheadOf(context.state, kind, letter, one.alias));
      given[letter] = ahead + 1;
      return { ...one, id: nextId(context.state, letter, ahead) };
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

/** Ids do not follow the numbers in a file further than this. */
const MOST_AHEAD = 10_000;

/**
 * A mailbox may number its messages as we do (`M-4`). Such a message gets the same id while it is free; otherwise that
 * name would soon mean two messages.
 */
function aheadOf(state: State, kind: NamedKind, prefix: string, alias: string | undefined): number {
  const [, digits] = kind === 'message' ? (/^M-([1-9]\d{0,8})$/.exec(alias ?? '') ?? []) : [];
  const ahead = digits === undefined ? 0 : Number(digits) - (state.counters[prefix] ?? 0) - 1;
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

/** Fields of the row that an entry may leave out. */
function pastOf(kind: NamedKind, row: Rows[NamedKind]): object {
  if (kind === 'decision') return { was: (row as Rows['decision']).status };
  if (kind === 'session') return {};
  const { session: _, stated: _s, basis: _b, ...past } = row as Rows['item'];
  // A null field of a row is an absent field of an entry.
  return Object.fromEntries(Object.entries(past).filter(([, value]) => value !== null));
}

/** Drops parents and predecessors that do not exist or form a cycle; a file may name such steps, the plan may not. */
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
