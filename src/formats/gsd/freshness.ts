import { instantOf } from '../../core/time.ts';
import type { HandoffNote } from './handoff.ts';
import type { StatePage } from './state-markdown.ts';
import { isNone } from './words/none.ts';
import { readDate } from './words/numbers.ts';

/** The newest time that STATE.md gives for itself. */
export function stateTime(state: StatePage | null): string | null {
  if (!state) return null;
  const { anywhere, position, session } = state;
  const lines = [anywhere.get('last updated'), position.get('last activity'), session.get('last session')];
  const said = [
    ...['last_updated', 'last_activity', 'paused_at'].map((key) => state.said(key)),
    ...lines.map((field) => field?.value),
  ].flatMap((words) => (words && !isNone(words) ? (readDate(words) ?? []) : []));
  return said.reduce<string | null>((newest, at) => (newest === null || isNewer(at, newest) ? at : newest), null);
}

/**
 * Whether a time is after another one. On the same day both must have a time of day; otherwise the other one counts,
 * which is that of STATE.md: its tool writes it with every step.
 */
export function isNewer(one: string, other: string): boolean {
  const [day, otherDay] = [one.slice(0, 10), other.slice(0, 10)];
  if (one.length > 10 && other.length > 10) {
    const [at, otherAt] = [instantOf(one), instantOf(other)];
    if (at !== null && otherAt !== null) return at > otherAt;
  }
  return day > otherDay;
}

/** The note of a session that paused after everything else was written; null where STATE.md is the newest. */
export function leadingNote(
  state: StatePage | null,
  notes: readonly HandoffNote[],
  isHere: (note: HandoffNote) => boolean,
): HandoffNote | null {
  const at = stateTime(state);
  let lead: HandoffNote | null = null;
  for (const note of notes) {
    const time = readDate(note.timestamp ?? '');
    // A page without a time may be newer or not: a note on the same phase adds to it, any other is left to history.
    const isLead = state === null || (at === null ? isHere(note) : time !== null && isNewer(time, at));
    const before = readDate(lead?.timestamp ?? '');
    if (isLead && (lead === null || (time !== null && (before === null || isNewer(time, before))))) lead = note;
  }
  return lead;
}
