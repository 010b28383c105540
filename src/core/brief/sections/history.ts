import { at, counted, fixed, joined, type Line, line, runId, storeId } from '../../line.ts';
import type { History } from '../facts.ts';

const NAMED = 3;

/** What is gone of the record: said in every brief until a person accepts it. */
export function historyLines({ lost, before }: History, now: string): Line[] {
  const lines: Line[] = [];
  if (lost) {
    lines.push(
      line`The journal went back: at least ${counted(lost.events, fixed('event'))} of ${named(lost.runs)}, recorded until ${at(lost.at, now)}, ${lost.events === 1 ? fixed('is') : fixed('are')} gone (noticed ${at(lost.noticedAt, now)}).${ACCEPTING}`,
    );
  }
  if (before) {
    lines.push(
      line`This journal is new: the one that was here, ${storeId(before.store)} with ${named(before.runs)}, last used ${at(before.usedAt, now)}, is gone (noticed ${at(before.noticedAt, now)}).${ACCEPTING}`,
    );
  }
  return lines;
}

export const ACCEPTING = line` A person accepts that with \`holdfast doctor --accept-history\`.`;

/** `run "auth"`, `runs "auth" and "docs"`, `runs "a", "b", "c" and 4 more`. */
function named(runs: readonly string[]): Line {
  const names = runs.slice(0, NAMED).map(runId);
  const more = runs.length - names.length;
  const noun = runs.length === 1 ? fixed('run') : fixed('runs');
  return line`${noun} ${joined(names)}${more > 0 ? line` and ${more} more` : ''}`;
}
