import type { Prompt } from '../prompt/prompt.ts';
import { plainWords, significantWords } from '../prompt/words.ts';
import { msBetween } from '../time.ts';
import type { TurnKind } from '../words.ts';
import { type Candidate, type Field, isInTree, type Viewer } from './candidate.ts';
import { runNamedIn } from './run-name.ts';

/** The run that a first prompt belongs to, and the rule that chose it. */
export type Choice =
  | { run: string; why: JoinRule; kind: TurnKind }
  /** A run of its own. */
  | { run: null; why: 'new request' | 'nothing to continue'; kind: TurnKind }
  /** No run yet: the next prompt is judged as the first. */
  | { run: null; why: 'command'; kind: 'command' };

type Joined = Extract<Choice, { run: string }>;

export type JoinRule =
  | 'same conversation'
  | 'approved plan'
  | 'named run'
  | 'chosen run'
  | 'continuation'
  | 'continuation of work under way'
  | 'continuation of work elsewhere'
  | 'continuation of what was finished last'
  | 'continuation of older work'
  | 'answer';

const FINISHED_MS = 24 * 3600 * 1000;

/** The first rule that applies. `given` is a run named by the environment. */
export function chooseRun(prompt: Prompt, field: Field, viewer: Viewer, given: string | null = null): Choice {
  const own = ownRun(field, viewer);
  if (own) return { run: own.run, why: 'same conversation', kind: kindOf(prompt, own) };
  if (prompt.is === 'command') return { run: null, why: 'command', kind: 'command' };
  const planned = approvedPlan(prompt, field, viewer);
  if (planned) return { run: planned.run, why: 'approved plan', kind: 'continuation' };
  const named = runNamedIn(prompt.text, field.all);
  if (named) return { run: named.run, why: 'named run', kind: kindOf(prompt, named) };
  const chosen = given ?? chosenRun(field, viewer);
  if (chosen !== null) {
    const run = field.all.find((one) => one.run === chosen);
    return { run: chosen, why: 'chosen run', kind: kindOf(prompt, run ?? null) };
  }
  return continued(prompt, field, viewer) ?? answered(prompt, field, viewer) ?? { run: null, ...asNew(prompt) };
}

function ownRun({ all }: Field, { conversations }: Viewer): Candidate | null {
  const own = all.filter(({ facts }) => facts.conversations.some((one) => conversations.includes(one)));
  // A conversation that was moved has its last session in the run that was recorded in last.
  return own.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0] ?? null;
}

const PLAN_CHARS = 20;

/** A client that clears its context gives the approved plan to the next conversation as its first prompt. */
function approvedPlan({ text }: Prompt, { all }: Field, { pid }: Viewer): Candidate | null {
  const words = plainWords(text);
  const isMeant = ({ facts: { plan } }: Candidate): boolean =>
    plan !== null && plan.pid === pid && plan.start.length >= PLAN_CHARS && words.includes(plan.start);
  return pid === null ? null : (all.find(isMeant) ?? null);
}

/** It holds until the run is finished. */
function chosenRun({ all }: Field, { chosen }: Viewer): string | null {
  const run = all.find((one) => one.run === chosen);
  return run && run.state.state !== 'finished' && run.state.state !== 'completed' ? run.run : null;
}

function asNew({ is }: Prompt): { why: 'new request' | 'nothing to continue'; kind: TurnKind } {
  if (is === 'request' || is === 'about' || is === 'answer-and-more') return { why: 'new request', kind: 'request' };
  return { why: 'nothing to continue', kind: is === 'answer' ? 'answer' : 'continuation' };
}

/** "continue" means the first run that exists, from near to far. */
function continued(prompt: Prompt, field: Field, viewer: Viewer): Joined | null {
  if (prompt.is !== 'continuation' && prompt.is !== 'about') return null;
  const here = field.candidates.filter(({ place }) => isInTree(place));
  const elsewhere = field.candidates.filter(({ place }) => !isInTree(place));
  if (prompt.is === 'about') {
    // What is to be continued was named: a run about something else is not meant.
    const [about] = byWords(prompt, [...here, ...working(field), ...elsewhere]).filter(({ shared }) => shared > 0);
    return about ? { run: about.run.run, why: 'continuation', kind: 'continuation' } : null;
  }
  const [last] = field.finished;
  const recent = last && msBetween(last.updatedAt, viewer.now) <= FINISHED_MS ? [last] : [];
  const steps: readonly [JoinRule, readonly Candidate[]][] = [
    ['continuation', here],
    ['continuation of work under way', working(field)],
    ['continuation of work elsewhere', elsewhere],
    ['continuation of what was finished last', recent],
    ['continuation of older work', field.older],
  ];
  for (const [why, runs] of steps) {
    const [best] = prompt.saysMore ? byWords(prompt, runs) : runs.map((run) => ({ run, shared: 0 }));
    if (best) return { run: best.run.run, why, kind: 'continuation' };
  }
  return null;
}

const working = ({ working: runs }: Field): Candidate[] =>
  runs.filter(({ place, facts }) => isInTree(place) && !facts.isTrivial);

/** The most shared words first; equal ones keep their order. */
function byWords({ words }: Prompt, runs: readonly Candidate[]): { run: Candidate; shared: number }[] {
  return runs
    .map((run) => ({ run, shared: run.facts.words.filter((word) => words.has(word)).length }))
    .sort((a, b) => b.shared - a.shared);
}

/** A short answer is meant for the run that waits for one; a longer one must share a word with the question. */
function answered(prompt: Prompt, field: Field, viewer: Viewer): Choice | null {
  if (prompt.is !== 'answer' && prompt.is !== 'answer-and-more') return null;
  const waiting = field.candidates.filter(({ state }) => state.state === 'waiting');
  const asks = (run: Candidate): boolean => {
    const asked = significantWords(run.facts.asked ?? '');
    return [...prompt.words].some((word) => asked.has(word));
  };
  const run = prompt.is === 'answer' ? waiting[0] : waiting.find(asks);
  if (run) return { run: run.run, why: 'answer', kind: 'answer' };
  if (prompt.is !== 'answer') return null;
  const other = continued({ ...prompt, is: 'continuation', saysMore: false }, field, viewer);
  return other && { ...other, kind: 'answer' };
}

/** What a prompt is to the run it goes to. Whatever follows a question in its conversation answers it. */
export function kindOf({ is }: Prompt, run: Candidate | null): TurnKind {
  if (is === 'command') return 'command';
  if (is === 'continuation') return 'continuation';
  if (is === 'answer' || is === 'answer-and-more') return 'answer';
  if (is === 'about') return 'continuation';
  return run?.facts.waits === 'question' ? 'answer' : 'request';
}
