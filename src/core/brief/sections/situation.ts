import {
  agent,
  ago,
  at,
  COPIED,
  counted,
  type Fixed,
  fixed,
  id,
  joined,
  type Line,
  line,
  number,
  type Part,
  quote,
  quotePath,
  quoteStart,
  runId,
} from '../../line.ts';
import { leftWords } from '../../views/left.ts';
import type { Place, Resuming, RunFacts, Situation } from '../facts.ts';
import { who } from './requests.ts';

/** `Resuming from Phase 2, Plan 3, Task: "Implement token rotation" (checkpoint: "phase_2_waf")`. */
export function resumingLine({ phase, plan, kind, title, ...step }: Resuming, chars: number): Line {
  const word = { Phase: fixed('Phase'), Plan: fixed('Plan'), Task: fixed('Task') }[kind];
  const parts = [
    ...(phase === null ? [] : [line`Phase ${number(phase)}`]),
    ...(plan === null ? [] : [line`Plan ${number(plan)}`]),
    line`${word}: ${quote(title, 'title', chars)}`,
  ];
  return line`Resuming from ${joined(parts)} (${placeInStep(step)})`;
}

function placeInStep({
  checkpoint,
  nextCheckpoint,
  status,
}: Omit<Resuming, 'phase' | 'plan' | 'kind' | 'title'>): Line {
  if (checkpoint !== null) {
    const then = nextCheckpoint === null ? '' : line`, next: ${quote(nextCheckpoint, 'name')}`;
    return line`checkpoint: ${quote(checkpoint, 'name')}${then}`;
  }
  if (status === 'failed') return line`failed`;
  return status === 'not started' ? line`not started` : line`no checkpoint yet`;
}

/** The line on the run: its state, then its place. */
export function runLine(run: RunFacts, now: string, chars: number): Line {
  const { situation, place, commitsSince } = run;
  const isNamed = run.isPlanned || situation.is === 'unattended' || situation.is === 'program';
  const name = line`${run.isPlanned ? quote(run.id, 'title', chars) : runId(run.id)}${isNamed ? line` ${quote(run.title, 'title', chars)}` : ''}`;
  const parts = [
    line`Run ${name}${run.isCopied ? line` ${COPIED}` : ''}: ${situationWords(situation, now, chars)}`,
    ...additions(situation),
    ...(place ? [placeWords(place, chars)] : []),
    ...(commitsSince ? [line`${counted(commitsSince, fixed('commit'))} since.`] : []),
  ];
  return joined(parts, ' ');
}

function situationWords(situation: Situation, now: string, chars: number): Line {
  switch (situation.is) {
    case 'cut-off':
      return line`${who(situation.who)} was cut off in the middle of a turn at ${when(situation.at, now)}; ${cutOffWords[situation.because]}`;
    case 'stopped': {
      const by =
        situation.by === 'rate-limit'
          ? line`by a rate limit.`
          : line`by an error: ${quoteStart(situation.by.error, chars)}.`;
      return line`${who(situation.who)} was stopped at ${when(situation.at, now)}, ${by}`;
    }
    case 'waiting':
      return situation.for === 'answer'
        ? line`${who(situation.who)} ended its turn with a question to the user at ${when(situation.at, now)}; no answer is recorded.`
        : line`${who(situation.who)} showed a plan to the user at ${when(situation.at, now)}; no approval is recorded.`;
    case 'open': {
      const left = situation.left.length > 0 ? line`; left: ${joined(situation.left.map(leftWords))}` : '';
      return line`${who(situation.who)} ended its turn at ${when(situation.at, now)}${left}.`;
    }
    case 'not-started':
      return line`planned ${at(situation.at, now)}; nobody has worked on it.`;
    case 'program': {
      const reached = situation.reached === null ? '' : line`, at ${quote(situation.reached, 'name', chars)}`;
      return line`kept by the program ${quote(situation.source, 'name')}; last record ${when(situation.at, now)}${reached}.`;
    }
    case 'unattended':
      return line`last record ${when(situation.at, now)}; no session has worked on it.`;
    case 'finished': {
      const by = situation.who ? line`${who(situation.who)} ` : '';
      const last = situation.isLast ? line` Nothing is unfinished in this folder; this run was finished last.` : '';
      return line`${by}finished at ${when(situation.at, now)}; nothing was left open.${last}`;
    }
    case 'archived':
    case 'abandoned': {
      const reason = situation.reason ? line`: ${quoteStart(situation.reason, chars)}` : '';
      return line`${situation.is === 'archived' ? fixed('archived') : fixed('abandoned')} at ${when(situation.at, now)}${reason}.`;
    }
    case 'working': {
      const both = situation.isShared ? line` Both sessions record here.` : '';
      const changed =
        situation.changed.length > 0
          ? line` It changed ${joined(situation.changed.map(quotePath))} in the last 10 min.`
          : '';
      return line`${who(situation.who)} is working on this now, last sign ${ago(situation.seenAt, now)}.${both}${changed}`;
    }
    case 'own':
      return situation.since === null
        ? line`this session (${id(situation.session)}), between turns.`
        : line`this session (${id(situation.session)}), in a turn since ${at(situation.since, now)}.`;
    default:
      return situation satisfies never;
  }
}

const when = (instant: string, now: string): Line => line`${at(instant, now)}, ${ago(instant, now)}`;

const cutOffWords = {
  process: line`the client's process is gone.`,
  silence: line`no sign of it since.`,
  'session-end': line`the client ended before the turn did.`,
} as const;

function additions(situation: Situation): Line[] {
  const found: Line[] = [];
  if ('hasWindow' in situation && situation.hasWindow) found.push(line`Its window is still open.`);
  if (situation.is === 'cut-off') {
    for (const name of situation.subagents.slice(0, SUBAGENTS))
      found.push(line`Its subagent ${quote(name, 'name')} was at work.`);
  }
  return found;
}

const SUBAGENTS = 3;

function placeWords(place: Place, chars: number): Line {
  switch (place.is) {
    case 'here': {
      const branch = quote(place.branch, 'branch', chars);
      if (place.branch === place.branchNow) return line`Branch ${branch}, as now.`;
      const now: Part = place.branchNow === null ? fixed('no branch') : quote(place.branchNow, 'branch', chars);
      return line`It was on branch ${branch}; this worktree is on ${now} now.`;
    }
    case 'worktree': {
      const branch = place.branch === null ? '' : line` on branch ${quote(place.branch, 'branch', chars)}`;
      return line`The work is in worktree ${quote(place.tree, 'path', chars)}${branch}; files named below are there.`;
    }
    case 'host':
      return line`The work is on host ${quote(place.host, 'name')}; files named below are there and were not checked.`;
    case 'clone':
      return line`The work is in another clone; files named below are there and were not checked.`;
    default:
      return place satisfies never;
  }
}

/** A run in a few words: its title and state. */
export function shortState({ title, situation }: Pick<RunFacts, 'title' | 'situation'>, now: string): Line {
  const time = 'at' in situation ? line` ${ago(situation.at, now)}` : '';
  const by = 'who' in situation && situation.who ? line`, ${agent(situation.who.agent)}` : '';
  return line`${quote(title, 'title')}, ${stateWords[situation.is]}${time}${by}`;
}

const stateWords: Readonly<Record<Situation['is'], Fixed>> = {
  'cut-off': fixed('cut off'),
  stopped: fixed('stopped'),
  waiting: fixed('waiting for the user'),
  open: fixed('open'),
  'not-started': fixed('not started, planned'),
  program: fixed('kept by a program, last record'),
  unattended: fixed('not worked on, last record'),
  finished: fixed('finished'),
  archived: fixed('archived'),
  abandoned: fixed('abandoned'),
  working: fixed('working now'),
  own: fixed('in a turn'),
};
