import type { OwnFiles } from './own-files.ts';

/**
 * What is known about runs beside the journal: the run chosen in each working tree, and how often a run was shown to a
 * session that then worked in another one. Losing it does no harm.
 */

const CHOSEN = 'hooks/use.json';
const PASSES = 'hooks/passes.json';
const KEPT_PASSES = 200;

/** The run chosen with `holdfast use` in a working tree; the main one has the empty name. */
export function chosenRun(files: OwnFiles, tree: string): string | null {
  const run = readObject(files, CHOSEN)[tree];
  return typeof run === 'string' ? run : null;
}

export function keepChosenRun(files: OwnFiles, tree: string, run: string | null): void {
  const { [tree]: _, ...others } = readObject(files, CHOSEN);
  files.replace(CHOSEN, JSON.stringify(run === null ? others : { ...others, [tree]: run }), 'derived');
}

export function readPasses(files: OwnFiles): Map<string, number> {
  const counts = Object.entries(readObject(files, PASSES)).filter(([, count]) => typeof count === 'number');
  return new Map(counts as [string, number][]);
}

/** The run shown was passed over, and the run worked in was not. */
export function countPass(files: OwnFiles, shown: string | null, worked: string): void {
  const passes = readPasses(files);
  const isKnown = passes.delete(worked);
  if (shown !== null && shown !== worked) passes.set(shown, (passes.get(shown) ?? 0) + 1);
  else if (!isKnown) return;
  try {
    files.replace(PASSES, JSON.stringify(Object.fromEntries([...passes].slice(-KEPT_PASSES))), 'derived');
  } catch {
    // Then it is shown once more.
  }
}

/** A run that is gone is chosen nowhere. */
export function forgetRun(files: OwnFiles, run: string): void {
  const chosen = readObject(files, CHOSEN);
  const others = Object.fromEntries(Object.entries(chosen).filter(([, one]) => one !== run));
  if (Object.keys(others).length < Object.keys(chosen).length) files.replace(CHOSEN, JSON.stringify(others), 'derived');
}

/** That of another folder says nothing here. */
export function forgetRunPresence(files: OwnFiles): void {
  for (const file of [CHOSEN, PASSES]) files.remove(file);
}

function readObject(files: OwnFiles, path: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(files.read(path) ?? '{}');
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? { ...found } : {};
  } catch {
    return {};
  }
}
