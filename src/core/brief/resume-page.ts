import type { State, Step } from '../fold/state.ts';
import { at, joined, type Line, line, quote, time } from '../line.ts';
import { planView } from '../views/plan.ts';
import { positionOf } from '../views/position.ts';
import { decidingFacts } from './deciding-facts.ts';
import { resumingOf } from './position-facts.ts';
import { headerLine } from './sections/header.ts';
import { nextLine } from './sections/next.ts';
import { resumingLine } from './sections/situation.ts';

/** RESUME.md: the brief, and a last line that names the event it is from. */
export function resumePage(brief: string, { run, version }: State): string {
  return `${brief}${line`From event ${version} of run ${quote(run?.id ?? '', 'title')}, ${time(run?.updatedAt ?? '')}.`}\n`;
}

export interface PageOrigin {
  /** As it is quoted. */
  run: string;
  version: number;
  at: string;
}

/** The event that a page is from; null if the text is not such a page. */
export function originOf(page: string): PageOrigin | null {
  const [, version, run = '', when = ''] = LAST_LINE.exec(page) ?? [];
  return version === undefined ? null : { run, version: Number(version), at: when };
}

const LAST_LINE = /\nFrom event (\d{1,15}) of run ("[^"\n]*"), (\S{1,40})\.\n$/;

/** Whether a page is about another run than this one. */
export function isPageOfOther(page: string, { run }: State): boolean {
  const origin = originOf(page);
  return origin !== null && origin.run !== quote(run?.id ?? '', 'title');
}

/** Whether two pages say the same, apart from the time at which they were written. */
export const isSamePage = (one: string, other: string): boolean => withoutClock(one) === withoutClock(other);

/** The last line counts: it shows that the end of a journal was lost. */
const withoutClock = (page: string): string =>
  page.replace(/^Holdfast record of \S+ \S+ UTC/, '').replace(/\b\d+ (?:s|min|h|days) ago\b/g, '');

export interface LastEnded {
  title: string;
  at: string;
  as: 'finished' | 'archived' | 'abandoned';
}

export function emptyPage(last: LastEnded | null, now: string): Line {
  if (last === null) return line`Nothing is unfinished here.\n`;
  const word = { finished: line`finished`, archived: line`archived`, abandoned: line`abandoned` }[last.as];
  return line`Nothing is unfinished here. Last ${word}: ${quote(last.title, 'title')}, ${at(last.at, now)}.\n`;
}

/**
 * The page after a checkpoint. Composing it takes longer than recording the checkpoint, so only what a checkpoint changes
 * is replaced: header, position and next action. A line says which event the rest is from. Null if it is not a page of ours, or
 * too much has happened since.
 */
export function pageAfterCheckpoint(
  page: string,
  state: State,
  checkpointed: ReadonlySet<string>,
  now: string,
): string | null {
  const origin = originOf(page);
  if (origin === null) return null;
  const reached = [...state.steps.values()].filter(
    (step) => step.checkpoint !== null && (step.checkpoint.at > origin.at || checkpointed.has(step.key)),
  );
  if (reached.length > MOST_REACHED) return null;
  const lines = [
    headerLine('start', now),
    ...positionLines(state, now),
    ...reached.map((step) => reachedLine(step, now)),
    line`What follows is from event ${origin.version}, before that.`,
  ];
  return `${joined(lines, '\n')}\n${page.replace(FIRST_LINES, '').replace(REPLACED_LINES, '')}`;
}

/** More would hide what the page is for. */
const MOST_REACHED = 6;
const CHARS = 240;
/** The lines of an earlier checkpoint. */
const FIRST_LINES = /^(?:.+\n)+What follows is from event \d+, before that\.\n/;
/** Lines begin with words of our own: what anyone wrote is inside quotes. */
const REPLACED_LINES = /^(?:Holdfast record of |Resuming from |Next[:,] ).*\n/gm;

/** `Resuming from …` and `Next: …`, from folded state alone. */
function positionLines(state: State, now: string): Line[] {
  const resuming = resumingOf(positionOf(state, planView(state)));
  const next = nextLine(decidingFacts(state, now), 'start', now, CHARS);
  return [...(resuming ? [resumingLine(resuming, CHARS)] : []), ...(next ? [next] : [])];
}

function reachedLine({ key, checkpoint }: Step, now: string): Line {
  return line`Step ${quote(key, 'name')} reached checkpoint ${quote(checkpoint?.name ?? '', 'name')} at ${at(checkpoint?.at ?? '', now)}.`;
}
