import { msBetween } from '../time.ts';
import { isSameClone } from '../tree-name.ts';
import type { RunFacts } from '../views/run-facts.ts';
import { isUnfinished, type RunState } from '../views/run-state.ts';

/** A run as a list of runs knows it, with its state now. */
export interface KnownRun {
  run: string;
  title: string;
  openedAt: string;
  updatedAt: string;
  facts: RunFacts;
  state: RunState;
  /**
   * It came from an import, a copied folder or another clone that nobody agreed to, and nothing was recorded in it here
   * since: it is used only when it is named.
   */
  isImported: boolean;
  /** It came with a copied folder. */
  isCopied?: boolean;
}

/** Who looks, and from where. */
export interface Viewer {
  now: string;
  machine: string | null;
  clone?: string | null | undefined;
  /** The linked working tree; empty for the main one. */
  tree: string;
  branch: string | null;
  /** The client's process. */
  pid: number | null;
  /** The client's conversation, and the one it was forked from. */
  conversations: readonly string[];
  /** The run chosen with `holdfast use` in this working tree. */
  chosen: string | null;
  /** How often a session was given the brief of a run and then worked in another one. */
  passes: ReadonlyMap<string, number>;
}

/** Nearest first. */
export const places = ['here', 'other branch', 'other worktree', 'elsewhere'] as const;
export type PlaceWord = (typeof places)[number];

export interface Candidate extends KnownRun {
  place: PlaceWord;
  /** The user passed it over often enough: it is named, not shown. */
  isPassed: boolean;
}

/** The runs that a session may continue, in order, and those that it may not but that are named. */
export interface Field {
  candidates: readonly Candidate[];
  working: readonly Candidate[];
  /** Past their age. */
  older: readonly Candidate[];
  /** Finished ones of this working tree, the last first. */
  finished: readonly Candidate[];
  all: readonly Candidate[];
}

const AGE_MS = 14 * 24 * 3600 * 1000;

export function fieldOf(runs: readonly KnownRun[], viewer: Viewer): Field {
  const all = runs
    .filter(({ state }) => state.state !== 'archived' && state.state !== 'abandoned' && state.state !== 'moved')
    .map((run) => candidateOf(run, viewer))
    .sort((a, b) => compare(a, b, viewer));
  const real = all.filter(({ facts, isImported }) => !facts.isTrivial && !isImported && !isAtRest(facts));
  const open = real.filter(({ state, facts }) => state.state !== 'working' && isUnfinished(state, facts));
  const isOld = ({ facts, updatedAt }: KnownRun): boolean =>
    facts.kind === 'ad-hoc' && msBetween(updatedAt, viewer.now) > AGE_MS;
  return {
    all,
    candidates: open.filter((run) => !isOld(run)),
    working: all.filter(({ state, isImported }) => state.state === 'working' && !isImported),
    older: open.filter(isOld),
    finished: all
      .filter(
        ({ state, place, isImported, facts }) =>
          isFinishedState(state) && isInTree(place) && !isImported && facts.source === undefined,
      )
      .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1)),
  };
}

/** A program continues its own run; only while that waits for someone is it offered to others. */
const isAtRest = ({ source, forPerson }: RunFacts): boolean => source !== undefined && forPerson.length === 0;

const isFinishedState = ({ state }: RunState): boolean => state === 'finished' || state === 'completed';

export const isInTree = (place: PlaceWord): boolean => place === 'here' || place === 'other branch';

/** The first candidate is shown in full at the start of a session, if its work is in this working tree. */
export function shownInFull({ candidates }: Field, { chosen }: Viewer): Candidate | null {
  const first = candidates.find((run) => run.run === chosen) ?? candidates[0];
  if (!first || !isInTree(first.place)) return null;
  return first.isPassed && first.run !== chosen ? null : first;
}

/**
 * The run that RESUME.md is about: the first candidate. A run at work counts too, because the file is read when nobody can
 * ask the tool, and by then its session may be gone.
 */
export function runOfPage({ candidates, working, older }: Field, viewer: Viewer): Candidate | null {
  const all = [...candidates, ...working.filter(({ facts }) => !facts.isTrivial)];
  return all.sort((a, b) => compare(a, b, viewer))[0] ?? older[0] ?? null;
}

const NAMED = 3;

/** What an index line says: working runs first, at most three, and how many more there are. */
export function namedRuns(field: Field, except: string | null): { runs: readonly Candidate[]; more: number } {
  const rest = [...field.working, ...field.candidates].filter(({ run, facts }) => run !== except && !facts.isTrivial);
  const older = rest.length > 0 || except !== null ? field.older.length : 0;
  return { runs: rest.slice(0, NAMED), more: Math.max(0, rest.length - NAMED) + (rest.length > 0 ? older : 0) };
}

function candidateOf(run: KnownRun, viewer: Viewer): Candidate {
  const limit = run.state.state === 'cut off' ? 2 : 1;
  return { ...run, place: placeOf(run.facts, viewer), isPassed: (viewer.passes.get(run.run) ?? 0) >= limit };
}

/** A run without a place was opened by a command here. */
function placeOf({ place }: RunFacts, viewer: Viewer): PlaceWord {
  const { machine, tree, branch } = place;
  if (!isSameClone(place, viewer)) return 'elsewhere';
  if (machine !== null && viewer.machine !== null && machine !== viewer.machine) return 'elsewhere';
  if (tree !== null && tree !== viewer.tree) return 'other worktree';
  return tree === null || branch === viewer.branch ? 'here' : 'other branch';
}

const states: readonly string[] = ['working', 'cut off', 'waiting', 'open'];
const rank = <T>(list: readonly T[], item: T): number => (list.includes(item) ? list.indexOf(item) : list.length);

const orderRules = ['conversation', 'chosen', 'place', 'state', 'time', 'id'] as const;
export type OrderRule = (typeof orderRules)[number];

const isOwn = ({ facts }: Candidate, { conversations }: Viewer): boolean =>
  facts.conversations.some((one) => conversations.includes(one));
const stateRank = ({ state, isPassed }: Candidate): number => (isPassed ? states.length : rank(states, state.state));

const comparisons: Readonly<Record<OrderRule, (a: Candidate, b: Candidate, viewer: Viewer) => number>> = {
  conversation: (a, b, viewer) => Number(isOwn(b, viewer)) - Number(isOwn(a, viewer)),
  chosen: (a, b, { chosen }) => Number(b.run === chosen) - Number(a.run === chosen),
  place: (a, b) => rank(places, a.place) - rank(places, b.place),
  state: (a, b) => stateRank(a) - stateRank(b),
  time: (a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0),
  id: (a, b) => (a.run < b.run ? -1 : 1),
};

/** The first rule by which two runs differ decides their order. */
export const orderedBy = (a: Candidate, b: Candidate, viewer: Viewer): OrderRule =>
  orderRules.find((rule) => comparisons[rule](a, b, viewer) !== 0) ?? 'id';

const compare = (a: Candidate, b: Candidate, viewer: Viewer): number =>
  comparisons[orderedBy(a, b, viewer)](a, b, viewer);
