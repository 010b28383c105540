import { lastWorkIn } from '../fold/last-work.ts';
import type { Session, State } from '../fold/state.ts';
import type { TreeMark } from '../journal/event.ts';
import { counted, duration, type Fixed, fixed, id, joined, type Line, line, type Part, quote, word } from '../line.ts';
import { msBetween } from '../time.ts';
import { isSameClone, type TreeName } from '../tree-name.ts';
import type { Conflict, FileVerdict } from './conflict.ts';

/** How current the brief is. */
export interface Freshness {
  now: string;
  lastEventAt: string;
  /** Time since work was last recorded. */
  age: Fixed;
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
  text: Line;
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
  /** The reader's clone. */
  clone?: string | null | undefined;
  /** Absent if the working tree was not examined. */
  seen?: SeenTree | undefined;
}

export function freshnessOf(state: State, now: string, { previous, mark, clone, seen }: FreshnessInput): Freshness {
  const here = { clone, tree: mark?.tree };
  const last = lastWorkIn(state, here);
  const lastEventAt = state.run?.updatedAt ?? now;
  const facts = {
    age: duration(msBetween((seen && last?.at) || lastEventAt, now)),
    version: state.version,
    branch: mark?.branch ?? null,
    commitsSince: seen?.commitsSince ?? null,
    eventsSince: last ? state.version - last.version : null,
    dirtyFiles: seen?.dirty ?? null,
    fresh: seen !== undefined && seen.commitsSince === 0 && !hasMoved(seen),
  };
  const ended = previous
    ? line` Previous session ${id(previous.id)} (${quote(previous.agent, 'name')}): ${word(previous.status)}.`
    : '';
  const elsewhere = last
    ? []
    : [...state.lastWork].map(([key, { tree = key, ...place }]) => treeWords({ ...place, tree }, here));
  return {
    now,
    lastEventAt,
    head: mark?.head ?? null,
    previous: previous ? { id: previous.id, agent: previous.agent, status: previous.status } : null,
    ...facts,
    text: line`${seen ? seenWords(facts, elsewhere) : unseenWords(facts)}${ended}`,
  };
}

function treeWords(place: TreeName, here: TreeName): Part {
  if (!isSameClone(place, here)) return fixed('one in another clone');
  return place.tree ? quote(place.tree, 'path') : fixed('the main one');
}

function hasMoved({ conflicts, files }: SeenTree): boolean {
  return conflicts.some((conflict) => !conflict.accepted) || files.some((file) => file.verdict === 'unknown');
}

type Facts = Pick<Freshness, 'age' | 'version' | 'branch' | 'commitsSince' | 'eventsSince' | 'dirtyFiles' | 'fresh'>;

const unseenWords = ({ age, version, branch }: Facts): Line =>
  line`As of ${age} ago, event ${version}${branch ? line`, branch ${quote(branch, 'branch')}` : ''}.`;

/** `Fresh as of 14 min ago, event 412: 0 commits and 3 events since, branch "feature/auth", 1 dirty file.` */
function seenWords(facts: Facts, elsewhere: readonly Part[]): Line {
  const { age, version, branch, commitsSince, eventsSince, dirtyFiles, fresh } = facts;
  const since = [
    ...(commitsSince === null ? [] : [counted(commitsSince, fixed('commit'))]),
    ...(eventsSince === null ? [] : [counted(eventsSince, fixed('event'))]),
  ];
  const recorded = eventsSince !== null;
  const unknown = [
    ...(recorded && commitsSince === null ? [fixed('commits')] : []),
    ...(dirtyFiles === null ? [fixed('changed files')] : []),
  ];
  const parts = [
    ...(recorded ? [line`${joined(since, ' and ')} since`] : [line`no work recorded in this working tree`]),
    ...(elsewhere.length > 0 ? [line`work recorded in other working trees: ${joined(elsewhere.slice(-3))}`] : []),
    ...(branch ? [line`branch ${quote(branch, 'branch')}`] : []),
    ...(dirtyFiles === null ? [] : [counted(dirtyFiles, fixed('dirty file'))]),
    ...(unknown.length > 0 ? [line`${joined(unknown, ' and ')} unknown`] : []),
  ];
  return line`${fresh ? fixed('Fresh as') : fixed('As')} of ${age} ago, event ${version}: ${joined(parts)}.`;
}

/** An offer is stale when more events than this were recorded since; a few belong to the offer itself. */
export const STALE_EVENTS = 10;

export const offeredAgo = (events: number): Line =>
  line`${events > STALE_EVENTS ? fixed('stale, ') : ''}${counted(events, fixed('event'))} ago`;
