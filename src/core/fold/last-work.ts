import type { Event } from '../journal/event.ts';
import type { State } from './state.ts';

/** So many working trees are remembered; agents make and drop them by the dozen. */
const PLACES_LIMIT = 20;

/**
 * Keeps where the work stood at its last moment, by working tree. Beginning something is no such moment: who begins on
 * another branch is to be told where the work was, and would otherwise have overwritten it by asking.
 */
export function recordLastWork(state: State, event: Event): void {
  const place = placeIn(state, event);
  if (!place) return;
  const tree = treeOf(state, event) ?? '';
  const mark = 'mark' in event.body ? event.body.mark : undefined;
  state.lastWork.delete(tree);
  state.lastWork.set(tree, {
    head: mark?.head ?? null,
    branch: mark?.branch ?? null,
    step: place.step,
    session: place.session,
    at: event.at,
    version: event.version,
  });
  const [oldest] = state.lastWork.keys();
  if (state.lastWork.size > PLACES_LIMIT && oldest !== undefined) state.lastWork.delete(oldest);
}

function placeIn(state: State, event: Event): { step: string | null; session: string | null } | null {
  switch (event.type) {
    case 'step.checkpointed':
    case 'step.completed':
    case 'step.failed':
      return state.steps.has(event.body.step) ? { step: event.body.step, session: event.session } : null;
    case 'session.ended': {
      const { id, mark } = event.body;
      const held = state.sessions.get(id)?.held ?? [];
      return mark && held.length > 0 ? { step: held.at(-1) ?? null, session: id } : null;
    }
    default:
      return null;
  }
}

/** The linked working tree an event comes from: its own mark says so, else that of its session; null is the main one. */
export function treeOf(state: State, event: Event): string | null {
  const mark = 'mark' in event.body ? event.body.mark : undefined;
  const session = event.session === null ? undefined : state.sessions.get(event.session);
  return (mark ?? session?.mark)?.tree ?? null;
}

/** What could be a path in a sentence on what was built; whether there is such a file is for others to see. */
export function namedPaths(sentence: string): string[] {
  const words = sentence.slice(0, 4096).split(/[\s"'`()<>[\]{},;:|]+/);
  const paths = words.map((word) => word.replace(/^\.\//, '').replace(/[.!?]+$/, ''));
  return [...new Set(paths.filter((path) => /[^.\s]\.[^./\s]+$|.\/./.test(path)))].slice(0, 50);
}
