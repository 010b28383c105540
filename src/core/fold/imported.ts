import type { Event, EventOf, ImportedRange } from '../journal/event.ts';
import type { Act, Run, State, Step } from './state.ts';
import type { AddTouch } from './touch.ts';

/**
 * Marks what was imported. A skipped step stays skipped, as a claim; an open gate counts as closed, because an agent would
 * pass it. Marks of an import somewhere else, which came along, are taken back.
 */
export function applyImport(state: State, { body }: EventOf<'run.imported'>, touch: AddTouch): void {
  const before = state.run;
  if (!before) return;
  const { ranges, clone } = body;
  const isUntouched = ranges.some(({ from }) => from === 1);
  const { isCopied: _, ...run } = before;
  state.run = { ...run, imported: ranges, isUntouched, ...(clone === undefined ? {} : { isCopied: true }) };
  touch('run', before.id, before, state.run);
  for (const step of state.steps.values()) {
    const after = markedStep(step, ranges);
    if (after === step) continue;
    state.steps.set(step.key, after);
    touch('step', step.key, step, after);
  }
}

export function isImported(version: number, ranges: readonly ImportedRange[]): boolean {
  return ranges.some(({ from, upTo }) => version >= from && version <= upTo);
}

function markedStep(step: Step, ranges: readonly ImportedRange[]): Step {
  const { skipped, gate } = step;
  const isClaim = (act: Partial<Act> | null): boolean => act?.version !== undefined && isImported(act.version, ranges);
  const next = { ...step };
  if (skipped && isClaim(skipped) !== (skipped.isClaim ?? false))
    next.skipped = { ...skipped, isClaim: isClaim(skipped) };
  if (gate?.state === 'open' && isClaim(gate)) next.gate = { ...gate, state: 'closed', isClaim: true };
  if (gate?.isClaim && !isClaim(gate)) next.gate = { ...gate, state: 'open', isClaim: false };
  return next.skipped === skipped && next.gate === gate ? step : next;
}

/** What a person confirms here is no longer a claim. */
export function confirmedStep(step: Step): Step {
  const { skipped, gate } = step;
  return {
    ...step,
    skipped: skipped?.isClaim ? { ...skipped, isClaim: false } : skipped,
    gate: gate?.isClaim ? { ...gate, state: 'open', isClaim: false } : gate,
  };
}

/** A command that records something in an imported run has named it. */
export function touchImported(state: State, before: Run, event: Event, touch: AddTouch): void {
  if (event.type === 'run.imported') return;
  state.run = { ...before, isUntouched: false };
  touch('run', before.id, before, state.run);
}
