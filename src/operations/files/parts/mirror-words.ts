import { quoted } from '../../../core/fault.ts';
import type { Mirror } from '../../../core/fold/state.ts';
import type { Ask } from '../../../core/model/merge.ts';
import { oneLine } from '../../../core/text.ts';
import type { Problem } from '../../../formats/format.ts';
import { PAUSE_HINT } from './mirror-pause.ts';

/** What syncing one mirror did. */
export interface Synced extends Mirror {
  /** Events recorded from an edit of the file. */
  absorbed: number;
  /** What the edit changed, one sentence each. */
  news: string[];
  /** What the file and the journal disagree about. */
  asks: Ask[];
  /** Why nothing is read or written; null unless the mirror is paused. */
  paused: string | null;
  /** The copy of an edit that could not be read. */
  rejected: string | null;
  written: string[];
  problems: Problem[];
}

/** The edits of mirrors, and what they wait for, as text. */
export function editsOf(synced: readonly Synced[]): { path: string; found: string }[] {
  return synced.flatMap((one) => {
    const { path, rejected, paused } = one;
    const changes = [
      ...(paused ? [`paused: ${paused} ${PAUSE_HINT}`] : []),
      ...askWords(one),
      ...newsWords(one),
      ...(rejected ? [`edited but not readable, the edit was kept as ${rejected}`] : []),
    ];
    return changes.length > 0 ? [{ path, found: changes.join('; ') }] : [];
  });
}

const NEWS_SHOWN = 5;

export function newsWords({ news }: Pick<Synced, 'news'>): string[] {
  const more = news.length - NEWS_SHOWN;
  return [...news.slice(0, NEWS_SHOWN), ...(more > 0 ? [`and ${more} more ${more === 1 ? 'change' : 'changes'}`] : [])];
}

export function askWords({ asks }: Pick<Synced, 'asks'>): string[] {
  if (asks.length === 0) return [];
  const all = asks.slice(0, NEWS_SHOWN).map(({ list, id, field, file, journal, words }) => {
    const name = `${list.slice(0, -1)} ${quoted(id)}`;
    return field === null
      ? `${name} (${oneLine(words, 60)}) was removed there and is kept here`
      : `${name}: ${field} is ${quoted(oneLine(file, 60))} there and ${quoted(oneLine(journal, 60))} here`;
  });
  const more = asks.length - all.length;
  return [...all, ...(more > 0 ? [`and ${more} more`] : []), PAUSE_HINT];
}
