import type { Session, State } from '../fold/state.ts';
import type { TreeMark } from '../journal/event.ts';
import { inWords, msBetween } from '../time.ts';
import type { Conflict, FileVerdict } from './conflict.ts';

/** How current the brief is. */
export interface Freshness {
  now: string;
  lastEventAt: string;
  /** Time since work was last recorded. */
  age: string;
  version: number;
  branch: string | null;
  head: string | null;
  /** Since work was last recorded; null if unknown. */
  commitsSince: number | null;
  eventsSince: number | null;
  dirtyFiles: number | null;
  /** Known to be unchanged since. */
  fresh: boolean;
  /** The session that worked last, and how it ended. */
  previous: { id: string; agent: string; status: string } | null;
  text: string;
}

/** The working tree as it was found just now. */
export interface SeenTree {
  /** Including accepted ones. */
  conflicts: readonly Conflict[];
  files: readonly FileVerdict[];
  commitsSince: number | null;
  dirty: number | null;
}

interface FreshnessInput {
  previous?: Session | null | undefined;
  mark?: TreeMark | undefined;
  /** Absent if the working tree was not examined. */
  seen?: SeenTree | undefined;
}

export function freshnessOf(state: State, now: string, { previous, mark, seen }: FreshnessInput): Freshness {
  const last = state.lastWork.get(mark?.tree ?? '');
  const lastEventAt = state.run?.updatedAt ?? now;
  const facts = {
    age: inWords(msBetween((seen && last?.at) || lastEventAt, now)),
    version: state.version,
    branch: mark?.branch ?? null,
    commitsSince: seen?.commitsSince ?? null,
    eventsSince: last ? state.version - last.version : null,
    dirtyFiles: seen?.dirty ?? null,
    fresh: seen !== undefined && seen.commitsSince === 0 && !hasMoved(seen),
  };
  const ended = previous ? ` Previous session ${previous.id} (${previous.agent}): ${previous.status}.` : '';
  const elsewhere = last ? [] : [...state.lastWork.keys()].map((tree) => tree || 'the main one');
  return {
    now,
    lastEventAt,
    head: mark?.head ?? null,
    previous: previous ? { id: previous.id, agent: previous.agent, status: previous.status } : null,
    ...facts,
    text: `${seen ? seenWords(facts, elsewhere) : unseenWords(facts)}${ended}`,
  };
}

function hasMoved({ conflicts, files }: SeenTree): boolean {
  return conflicts.some((conflict) => !conflict.accepted) || files.some((file) => file.verdict === 'unknown');
}

type Facts = Pick<Freshness, 'age' | 'version' | 'branch' | 'commitsSince' | 'eventsSince' | 'dirtyFiles' | 'fresh'>;

const unseenWords = ({ age, version, branch }: Facts): string =>
  `As of ${age} ago, event ${version}${branch ? `, branch ${branch}` : ''}.`;

/** `Fresh as of 14 min ago, event 412: 0 commits and 3 events since, branch feature/auth, 1 dirty file.` */
function seenWords(facts: Facts, elsewhere: readonly string[]): string {
  const { age, version, branch, commitsSince, eventsSince, dirtyFiles, fresh } = facts;
  const since = [
    ...(commitsSince === null ? [] : [counted(commitsSince, 'commit')]),
    ...(eventsSince === null ? [] : [counted(eventsSince, 'event')]),
  ];
  const recorded = eventsSince !== null;
  const unknown = [
    ...(recorded && commitsSince === null ? ['commits'] : []),
    ...(dirtyFiles === null ? ['changed files'] : []),
  ];
  const parts = [
    ...(recorded ? [`${since.join(' and ')} since`] : ['no work recorded in this working tree']),
    ...(elsewhere.length > 0 ? [`work recorded in other working trees: ${elsewhere.slice(-3).join(', ')}`] : []),
    ...(branch ? [`branch ${branch}`] : []),
    ...(dirtyFiles === null ? [] : [counted(dirtyFiles, 'dirty file')]),
    ...(unknown.length > 0 ? [`${unknown.join(' and ')} unknown`] : []),
  ];
  return `${fresh ? 'Fresh as' : 'As'} of ${age} ago, event ${version}: ${parts.join(', ')}.`;
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** An offer is stale when more events than this were recorded since; a few belong to the offer itself. */
export const STALE_EVENTS = 10;

export const offeredAgo = (events: number): string =>
  `${events > STALE_EVENTS ? 'stale, ' : ''}${counted(events, 'event')} ago`;
