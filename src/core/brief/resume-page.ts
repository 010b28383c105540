import type { State, Step } from '../fold/state.ts';
import { clock, joined, type Line, line, quote, time } from '../line.ts';
import { planView } from '../views/plan.ts';
import { positionOf } from '../views/position.ts';
import { headlineOf } from './headline.ts';
import { nextActionOf, nextLine } from './next-action.ts';

/** RESUME.md: the brief, and a last line that names the event it is from. */
export function resumePage(brief: string, { run, version }: State): string {
  return `${brief}\n${line`From event ${version} of run ${quote(run?.id ?? '', 'title')}, ${time(run?.updatedAt ?? '')}.`}\n`;
}

export interface PageOrigin {
  /** As it is quoted. */
  run: string;
  version: number;
  at: string;
}

/** The event that a page is from; null if the text is no such page. */
export function originOf(page: string): PageOrigin | null {
  const [, version, run = '', at = ''] = LAST_LINE.exec(page) ?? [];
  return version === undefined ? null : { run, version: Number(version), at };
}

const LAST_LINE = /\nFrom event (\d{1,15}) of run ("[^"\n]*"), (\S{1,40})\.\n$/;

/**
 * The page after a checkpoint. Composing it takes longer than recording the checkpoint, so only what a checkpoint changes
 * is replaced: the position and the next action. A line says which event the rest is from. Null if the page is not one of
 * this run, or too much has happened since.
 */
export function pageAfterCheckpoint(page: string, state: State, checkpointed: ReadonlySet<string>): string | null {
  const origin = originOf(page);
  if (origin?.run !== quote(state.run?.id ?? '', 'title')) return null;
  const reached = [...state.steps.values()].filter(
    (step) => step.checkpoint !== null && (step.checkpoint.at > origin.at || checkpointed.has(step.key)),
  );
  if (reached.length > MOST_REACHED) return null;
  const plan = planView(state);
  const position = positionOf(state, plan);
  const first = joined(
    [
      headlineOf(state, plan, position),
      nextLine(nextActionOf(state, plan, position, null)),
      ...reached.map((step) => reachedLine(step, state.run?.updatedAt ?? '')),
      line`What follows is from event ${origin.version}, before that.`,
    ],
    '\n',
  );
  return `${first}\n\n${page.replace(FIRST_LINES, '').replace(REPLACED_LINES, '')}`;
}

/** More would hide what the page is for. */
const MOST_REACHED = 6;
/** The lines of an earlier checkpoint. */
const FIRST_LINES = /^(?:.+\n)+What follows is from event \d+, before that\.\n\n/;
/** Lines begin with words of our own: what anyone wrote is inside quotes. */
const REPLACED_LINES = /^(?:Resuming from |Next action: ).*\n\n?/gm;

function reachedLine({ key, checkpoint }: Step, now: string): Line {
  return line`Step ${quote(key, 'name')} reached checkpoint ${quote(checkpoint?.name ?? '', 'name')} at ${clock(checkpoint?.at ?? '', now)}.`;
}
