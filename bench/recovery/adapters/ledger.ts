import type { Adapter, ReportedState } from '../adapter.ts';
import { unitsOf } from '../adapter.ts';
import type { Step } from '../scenario.ts';

/**
 * For tools that keep arbitrary values and have no concept of steps and effects: what their users would write, one entry
 * for each thing. The tool keeps the entries; nothing is kept here.
 */
export type Entry =
  | { kind: 'goal'; id: 'goal'; text: string }
  | { kind: 'step'; id: string; title: string; units: string[]; status: 'pending' | 'in_progress' | 'done' | 'dropped' }
  | { kind: 'progress'; id: string; reached: string; file: string; next: string }
  | { kind: 'effect'; id: string; status: 'began' | 'ended' }
  | { kind: 'decision'; id: string; decision: string; reason: string }
  | { kind: 'blocker'; id: string; text: string };

export interface Keeper {
  /** Replaces the entry with the same kind and id; resolves when the tool acknowledges it. */
  keep(entries: readonly Entry[]): Promise<void>;
  /** All entries, as the tool's own text and parsed. */
  tell(): Promise<{ text: string; calls: number; entries: readonly Entry[] }>;
  close(): Promise<void>;
}

export function keepingAdapter(keeper: Keeper): Adapter {
  const steps = new Map<string, Entry & { kind: 'step' }>();
  const mark = async (key: string, status: 'in_progress' | 'done' | 'dropped'): Promise<void> => {
    for (const entry of steps.size > 0 ? [] : (await keeper.tell()).entries) {
      if (entry.kind === 'step') steps.set(entry.id, entry);
    }
    const step = steps.get(key);
    if (step === undefined) return;
    const entry = { ...step, status };
    steps.set(key, entry);
    await keeper.keep([entry]);
  };
  const stepEntry = (step: Step): Entry & { kind: 'step' } => {
    const units = unitsOf(step).map(({ unit }) => unit);
    const entry = { kind: 'step' as const, id: step.key, title: step.title, units, status: 'pending' as const };
    steps.set(step.key, entry);
    return entry;
  };
  return {
    begin: ({ goal, steps: planned }) =>
      keeper.keep([{ kind: 'goal', id: 'goal', text: goal }, ...planned.map(stepEntry)]),
    start: (step) => mark(step, 'in_progress'),
    checkpoint: ({ step, unit, file, next }) =>
      keeper.keep([{ kind: 'progress', id: step, reached: unit, file, next }]),
    async beginEffect({ effect }) {
      await keeper.keep([{ kind: 'effect', id: effect, status: 'began' }]);
      return 'go';
    },
    endEffect: ({ effect }) => keeper.keep([{ kind: 'effect', id: effect, status: 'ended' }]),
    decide: ({ decision, reason }) =>
      keeper.keep([{ kind: 'decision', id: decision.split(' ').at(-1) ?? '', decision, reason }]),
    // The entry is replaced.
    redecide: ({ replaces, decision, reason }) =>
      keeper.keep([{ kind: 'decision', id: replaces.split(' ').at(-1) ?? '', decision, reason }]),
    block: ({ step, text }) => keeper.keep([{ kind: 'blocker', id: step, text }]),
    async changePlan({ drop, add }) {
      await mark(drop, 'dropped');
      await keeper.keep([stepEntry(add)]);
    },
    complete: (step) => mark(step, 'done'),
    async resume() {
      const { text, calls, entries } = await keeper.tell();
      return { text: entries.length === 0 ? '' : text, calls, state: stateOf(entries) };
    },
    close: () => keeper.close(),
  };
}

function stateOf(entries: readonly Entry[]): ReportedState {
  const reached = new Map(entries.flatMap((entry) => (entry.kind === 'progress' ? [[entry.id, entry.reached]] : [])));
  const open = entries
    .flatMap((entry) => (entry.kind === 'step' ? [entry] : []))
    .filter(({ status }) => status === 'pending' || status === 'in_progress')
    .sort((a, b) => Number(b.status === 'in_progress') - Number(a.status === 'in_progress'));
  return {
    open: open.map(({ id }) => ({ step: id, reached: reached.get(id) ?? null })),
    effects: entries.flatMap((entry) =>
      entry.kind === 'effect' ? [{ effect: entry.id, ended: entry.status === 'ended' }] : [],
    ),
    blocked: entries.flatMap((entry) => (entry.kind === 'blocker' ? [entry.id] : [])),
    changed: [],
  };
}
