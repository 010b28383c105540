import { agent, ago, fixed, ids, joined, type Line, line, quote, quotePath, runId } from '../../line.ts';
import type { OtherRun, OtherRuns } from '../facts.ts';
import { who } from './requests.ts';
import { listed, type Section } from './section.ts';

/** Other unfinished runs, a line each. */
export function otherSection({ lines, more }: OtherRuns, now: string, share: number): Section {
  const written = lines.map(
    (run) =>
      (chars: number): Line =>
        otherLine(run, now, chars),
  );
  return listed('others', share, written, (kept) => [
    {
      noun: fixed('more'),
      plural: fixed('more'),
      command: fixed('`holdfast runs`'),
      count: lines.length - kept + more,
    },
  ]);
}

function otherLine(run: OtherRun, now: string, chars: number): Line {
  const title = quote(run.title, 'title', chars);
  if (run.is === 'working') {
    const changed = run.changed.length > 0 ? line`, changed ${joined(run.changed.map(quotePath))}` : '';
    return line`Working now: ${who(run.who)}, ${title}, last sign ${ago(run.seenAt, now)}${changed}.`;
  }
  const parts = [
    line`${stateWords[run.state]} ${ago(run.at, now)}`,
    ...(run.agent === null ? [] : [agent(run.agent)]),
    ...(run.tree === null ? [] : [line`worktree ${quote(run.tree, 'path')}`]),
    ...(run.host === null ? [] : [line`host ${quote(run.host, 'name')}`]),
    ...(run.uncertain.length > 0 ? [line`${ids(run.uncertain.slice(0, UNCERTAIN))} uncertain`] : []),
  ];
  return line`Also here: ${run.isPlanned ? quote(run.id, 'title', chars) : runId(run.id)} ${title}, ${joined(parts)}.`;
}

const UNCERTAIN = 3;

const stateWords = {
  'cut off': line`cut off`,
  waiting: line`waiting for the user`,
  open: line`open`,
  'not started': line`not started, planned`,
} as const;
