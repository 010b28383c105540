import { Fault, type Holdfast } from '../index.ts';

/** Opens a run that a program keeps, unless it is there. Its title is made of an id that may be anything. */
export async function openOwnRun(
  hf: Holdfast,
  { run, source, title }: { run: string; source: string; title: string },
): Promise<void> {
  try {
    await hf.init({
      id: run,
      title: title
        .replace(/[\p{C}\s]+/gu, ' ')
        .slice(0, 100)
        .trim(),
      source,
    });
  } catch (thrown) {
    // Another process has just opened it.
    if (!(thrown instanceof Fault) || thrown.code !== 'illegal') throw thrown;
  }
}

/** What is read of a run; null if there is no such run, or no workspace yet. */
export async function unlessAbsent<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'not_found') return null;
    throw thrown;
  }
}

/** Work under one name is done one after the other. */
export async function inTurn<T>(turns: Map<string, Promise<unknown>>, id: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(id) ?? Promise.resolve();
  const mine = before.then(work, work);
  turns.set(id, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(id) === mine) turns.delete(id);
  }
}
