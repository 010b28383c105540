import type { Place, Turn } from '../fold/conversation.ts';
import type { Session, State } from '../fold/state.ts';
import type { Owner } from '../journal/event.ts';
import { plainWords, significantWords } from '../prompt/words.ts';
import type { RunKind } from '../words.ts';
import { isBegun, isInTurn, isTodo, isUncertain, isWaiting, type Left, openQuestion, whatIsLeft } from './left.ts';
import { waitsForPerson } from './needs-you.ts';
import { isDone, type PlanView, planView, readySteps } from './plan.ts';

/**
 * What the state of a run follows from, and what a list of runs shows. It is saved with the head of the run, so that
 * candidates are compared without folding any of them. Only a look at processes separates working from cut off.
 */
export interface RunFacts {
  format: number;
  kind: RunKind;
  status: string;
  /** The program that keeps the run; such a run is offered to others only while it waits for someone. */
  source?: string;
  /** The last turn, without its words. */
  turn: Omit<Turn, 'request' | 'said'> | null;
  /** Sessions that have not ended, without subagents. */
  sessions: readonly SessionFacts[];
  /** The session that recorded last, and where. */
  last: { session: string; agent: string } | null;
  place: Place;
  /** The user was asked and has not answered; `plan` if a plan was shown. */
  waits: 'question' | 'plan' | null;
  left: readonly Left[];
  /** Something that is left is for a person. */
  forPerson: readonly string[];
  /** A blocker stops every step that remains. */
  blockedBy: readonly string[] | null;
  isBegun: boolean;
  isTrivial: boolean;
  progress: { done: number; total: number };
  /** Ids of effects whose outcome is unknown. */
  uncertain: readonly string[];
  /** Conversations that recorded here, as their sessions name them, the last ones. */
  conversations: readonly string[];
  /** Significant words of titles, requests, to-do entries and names of changed files. */
  words: readonly string[];
  /** Titles of steps that are neither completed nor skipped. */
  steps: readonly string[];
  /** The beginning of the plan that the user approved last, and the process it was shown in. */
  plan: { start: string; pid: number | null } | null;
  /** The end of the last words, if they ask. */
  asked: string | null;
}

export interface SessionFacts extends Pick<Session, 'id' | 'agent' | 'leaseMs' | 'seenAt'> {
  owner: Owner | null;
  conversation: string | null;
  /** Its turn is open; a session without turns counts as one. */
  isOpen: boolean;
  steps: readonly string[];
}

/** Raised whenever the shape of these facts changes: older ones are folded again. */
export const FACTS_FORMAT = 2;

const SHOWN_STEPS = 40;

export function runFactsOf(state: State): RunFacts {
  const { run } = state;
  const plan = planView(state);
  const sessions = [...state.sessions.values()].filter(({ parent }) => parent === null);
  const left = whatIsLeft(state);
  const question = openQuestion(state);
  return {
    format: FACTS_FORMAT,
    kind: run?.kind ?? 'ad-hoc',
    status: run?.status ?? 'active',
    ...(run?.source === undefined ? {} : { source: run.source }),
    turn: turnFacts(state),
    sessions: sessions.map((session) => ({
      id: session.id,
      agent: session.agent,
      leaseMs: session.leaseMs,
      seenAt: session.seenAt,
      owner: session.owner,
      conversation: session.client?.id ?? null,
      // Once the plan is completed, a session without turns has nothing under way.
      isOpen: isInTurn(session) && !(session.turn === null && run?.status === 'completed'),
      steps: [...state.steps.values()].filter(({ holder }) => holder?.session === session.id).map(({ key }) => key),
    })),
    last: state.last.session,
    place: state.last.place,
    waits: isWaiting(state) ? (question?.asks ?? 'question') : null,
    left,
    forPerson: waitsForPerson(state)
      .filter(({ kind }) => kind !== 'escalation')
      .map(({ kind, id }) => `${kind} ${id}`),
    blockedBy: blockers(state, plan),
    isBegun: isBegun(state),
    isTrivial: isTrivial(state),
    progress: { done: plan.progress.done, total: plan.progress.total },
    uncertain: [...state.effects.values()].filter((effect) => isUncertain(effect) && !effect.asks).map(({ id }) => id),
    conversations: state.last.conversations,
    words: wordsOf(state),
    steps: plan.leaves
      .filter((view) => !isDone(view.status))
      .slice(0, SHOWN_STEPS)
      .map(({ step }) => step.title),
    plan: approvedPlan(state),
    asked: state.turn?.asks ? (state.turn.said?.slice(-600) ?? null) : null,
  };
}

const PLAN_CHARS = 80;

function approvedPlan({ plan }: State): RunFacts['plan'] {
  if (!plan || plan.approvedAt === null) return null;
  return { start: plainWords(plan.text).slice(0, PLAN_CHARS), pid: plan.pid };
}

function turnFacts(state: State): RunFacts['turn'] {
  if (state.turn === null) return null;
  const { request: _, said: _said, ...turn } = state.turn;
  return turn;
}

function blockers(state: State, plan: PlanView): readonly string[] | null {
  const active = [...state.items.values()].filter((item) => item.kind === 'blocker' && item.status === 'active');
  // Without a plan only the next action itself can be blocked.
  const told = state.next?.text ?? '';
  const stops = plan.leaves.length > 0 ? [] : active.filter(({ text }) => told.includes(text));
  if (stops.length > 0) return stops.map(({ id }) => id);
  const remains = plan.progress.done < plan.progress.total;
  const isInterrupted = plan.leaves.some((view) => view.interrupted || view.step.holder !== null);
  if (!remains || isInterrupted || !(plan.escalated || readySteps(plan).length === 0)) return null;
  return active.map(({ id }) => id);
}

export const TRIVIAL_TOOLS = 3;

/** Hardly anything happened: nobody would want to continue it. */
function isTrivial(state: State): boolean {
  const { run, tally, commands, steps, effects } = state;
  if (
    run?.kind === 'planned' ||
    run?.source !== undefined ||
    tally.tools >= TRIVIAL_TOOLS ||
    tally.changed.length > 0 ||
    tally.declared
  )
    return false;
  if (commands.failed !== null || steps.size > 0 || isWaiting(state)) return false;
  return ![...effects.values()].some(isUncertain);
}

const WORDS = 150;

function wordsOf(state: State): string[] {
  const { run, requests, tally } = state;
  const texts = [run?.title, requests.current?.text, requests.latest?.text, requests.first?.text, ...tally.changed];
  const todos = [...state.steps.values()].filter(({ key }) => isTodo(key)).map(({ title }) => title);
  return [...significantWords([...texts, ...todos].join(' '))].slice(0, WORDS);
}
