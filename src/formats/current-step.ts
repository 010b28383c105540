import type { ModelStep, RunModel } from '../core/model/run-model.ts';

/**
 * The current step of a run model: the step in progress, else the position it names while that is open, else the next
 * open step after it. The named position may be older than the steps, so the file moves only when this does.
 */
export function currentStepOf(model: RunModel): string | null {
  const named = model.position?.step ?? null;
  const parents = new Set(model.steps.map(({ parent }) => parent));
  const leaves = model.steps.filter(({ key }) => !parents.has(key));
  const there = model.steps.find(({ key }) => key === named);
  const running = leaves.filter(({ status }) => status === 'in_progress');
  if (running.length > 0) return (running.find(({ key }) => key === named) ?? running[0])?.key ?? null;
  if (there && isOpen(there)) return there.key;
  const above = new Map(model.steps.map(({ key, parent }) => [key, parent]));
  const at = leaves.findLastIndex(({ key }) => isBelow(above, key, named));
  return (leaves.slice(at + 1).find(isOpen) ?? there)?.key ?? named;
}

function isBelow(above: ReadonlyMap<string, string | undefined>, key: string, top: string | null): boolean {
  let one: string | undefined = key;
  for (let depth = 0; one !== undefined && depth < 50; depth++, one = above.get(one)) if (one === top) return true;
  return false;
}

function isOpen({ status }: ModelStep): boolean {
  return status !== 'completed' && status !== 'skipped';
}
