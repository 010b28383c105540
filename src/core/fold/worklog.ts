import type { EventOf } from '../journal/event.ts';
import type { State } from './state.ts';
import type { AddTouch, Recall } from './touch.ts';

/** An entry has a heading, and an empty line before and after its text. */
const FRAME_LINES = 3;
/** A session's entry has a summary and the pointer to its snapshot. */
export const SESSION_LINES = FRAME_LINES + 2;

export function noteLines(text: string): number {
  return FRAME_LINES + text.split(/\r\n?|\n/).length;
}

export function growWorklog(state: State, lines: number): void {
  const { worklog } = state;
  state.worklog = { ...worklog, lines: worklog.lines + lines, entries: worklog.entries + 1 };
}

export function applyCompaction(
  state: State,
  event: EventOf<'worklog.compacted'>,
  touch: AddTouch,
  recall: Recall,
): void {
  const { archive, entries, lines, proof } = event.body;
  const { worklog } = state;
  const made = { number: archive, at: event.at, by: event.actor.name, entries: entries.length, lines, proof };
  state.worklog = {
    lines: Math.max(0, worklog.lines - lines),
    entries: Math.max(0, worklog.entries - entries.length),
    archives: [...worklog.archives, made],
  };
  for (const id of entries) {
    for (const kind of ['note', 'session'] as const) {
      const before = recall(kind, id);
      if (before) touch(kind, id, before, { ...before, archive });
    }
    // A constraint stays in the brief when its entry is archived.
    const note = state.notes.get(id);
    if (note) state.notes.set(id, { ...note, archive });
  }
}
