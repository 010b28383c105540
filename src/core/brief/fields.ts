import type { Excerpt } from '../fold/conversation.ts';
import { sideOf } from '../fold/message.ts';
import type { Decision, Item, State, Step } from '../fold/state.ts';
import { type Line, line } from '../line.ts';
import { isPast } from '../time.ts';
import type { Conflict, FileVerdict } from '../views/conflict.ts';
import { type Freshness, freshnessOf, type SeenTree } from '../views/freshness.ts';
import type { Liveness } from '../views/liveness.ts';
import { type Mail, mailOf } from '../views/mail.ts';
import { owedByPeople } from '../views/needs-you.ts';
import { type Offer, offersTo } from '../views/offer.ts';
import { type Peer, peersOf } from '../views/peer.ts';
import { type PlanView, planView, retriesLeft, type StepView } from '../views/plan.ts';
import { type Position, positionOf } from '../views/position.ts';
import { isOver } from '../views/run-state.ts';
import type { Actor, Role } from '../words.ts';
import type { ValueFact } from './facts.ts';
import type { BriefRows, Observed } from './observed.ts';
import { nextCheckpoint } from './position-facts.ts';
import type { FileAdvice } from './reading.ts';
import type { BriefReader } from './record.ts';

/** What programs read of a brief. The text says the same in fewer words, and leaves out what has no room. */
export interface BriefFields {
  run: { id: string; title: string; status: string; goal: string | null; percent: number; done: number; total: number };
  headline: Line;
  freshness: Freshness;
  /** Open handoff offers to the reader. */
  offers: readonly Offer[];
  uncertain: readonly UncertainField[];
  /** Not accepted ones only. */
  conflicts: readonly Conflict[];
  evidence: BriefEvidence | null;
  position: BriefPosition;
  /** The last requests to the last two sessions, unless they repeat the goal, and the answer at the end of the last turn. */
  asked: readonly Excerpt[];
  said: Excerpt | null;
  nextAction: BriefAction;
  errors: readonly BriefItem[];
  blockers: readonly BriefItem[];
  mail: Mail;
  commitments: readonly BriefItem[];
  others: readonly Peer[];
  owed: readonly Line[];
  decisions: readonly Decision[];
  decisionsTotal: number;
  files: readonly FileAdvice[];
  /** How many context files the current step names; more than the limit is reported. */
  contextFiles: number;
  /** The newest first. */
  results: readonly StepResult[];
  /** Questions to the reader first. */
  questions: readonly BriefItem[];
  findings: readonly BriefItem[];
  constraints: readonly { id: string; text: string }[];
  deadEnds: readonly { id: string; text: string }[];
  /** Keys of a program's state, the last set first; what is in them is not told. */
  values: readonly ValueFact[];
  role: Role;
  budgetTokens: number;
}

export interface UncertainField {
  id: string;
  name: string;
  class: string;
  began: string;
  session: string | null;
  /** None: the search found no process of it. */
  process: 'alive' | 'none' | 'unknown';
}

export type BriefAction =
  /** In the words of an agent or a person, or of a file that was read. */
  | { text: string; basis: 'declared'; session: string | null; file?: string }
  /** It follows from what is recorded. */
  | { text: Line; basis: 'derived'; session: null };

/** What was verified in the working tree; null in a brief that was composed without examining it. */
export interface BriefEvidence {
  holds: number;
  drifted: number;
  unknown: number;
  /** Accepted conflicts. */
  accepted: number;
  files: readonly FileVerdict[];
}

export interface BriefPosition {
  phase: string | null;
  plan: string | null;
  task: string | null;
  step: string | null;
  status: string | null;
  checkpoint: string | null;
  nextCheckpoint: string | null;
  lastCompleted: string | null;
  interrupted: readonly string[];
  ready: readonly string[];
  /** The next pending steps of the plan after the current one. */
  following: readonly { key: string; title: string }[];
  /** Interrupted steps of one wave, which are resumed together. */
  batch: readonly string[];
}

export interface BriefItem {
  id: string;
  /** Its name in another tool's file. */
  alias?: string | undefined;
  text: string;
  status: string;
  since: string;
  step: string | null;
  severity: string | null;
  type: string | null;
  affects: readonly string[];
  workaround: string | null;
  to: string | null;
  by: string;
  due: string | null;
  overdue: boolean;
  /** Addressed to the reader of the brief. */
  forReader: boolean;
  options: readonly Line[];
}

export interface StepResult {
  step: string;
  summary: string | null;
  verified: Step['verified'];
}

export const actorOf = ({ agent, person }: BriefReader): Actor | null =>
  agent === null ? null : { kind: person ? 'person' : 'agent', name: agent };

/** All fields but those that follow from the facts. */
export function listFields(
  state: State,
  liveness: Liveness,
  reader: BriefReader,
  rows: BriefRows,
  observed: Observed,
  budgetTokens: number,
): Omit<BriefFields, 'headline' | 'uncertain' | 'nextAction'> {
  const { run } = state;
  if (!run) throw new TypeError('a brief needs a run');
  const plan = planView(state);
  const position = positionOf(state, plan, reader.session);
  const actor = actorOf(reader);
  const items = (kind: Item['kind']) =>
    [...state.items.values()]
      .filter((item) => item.kind === kind)
      .sort((a, b) => urgency(b, position.current) - urgency(a, position.current))
      .map((item) => briefItem(state, item, liveness.now, actor))
      .sort((a, b) => pressing(b) - pressing(a));
  const notes = (kind: string) =>
    [...state.notes.values()].filter((note) => note.kind === kind).map(({ id, text }) => ({ id, text }));
  const { percent, done, total } = plan.progress;
  const previous = rows.sessions.find(({ id, parent }) => id !== reader.session && parent === null) ?? null;
  return {
    run: { id: run.id, title: run.title, status: run.status, goal: run.goal, percent, done, total },
    freshness: freshnessOf(state, liveness.now, {
      previous,
      mark: observed.mark,
      clone: observed.clone,
      seen: observed.seen,
    }),
    offers: offersTo(state, reader.agent),
    conflicts: (observed.seen?.conflicts ?? []).filter((conflict) => !conflict.accepted),
    evidence: observed.seen ? evidenceOf(observed.seen) : null,
    position: { ...briefPosition(position, plan), ...(isOver(run) ? { batch: [], following: [] } : {}) },
    asked: state.asked.filter(({ text }) => !run.goal?.startsWith(text.replace(/…$/, ''))),
    said: state.said,
    errors: items('error'),
    blockers: items('blocker'),
    mail: mailOf(state, actor, liveness.now),
    commitments: items('commitment'),
    others: peersOf(state, liveness, reader.session, actor),
    owed: owedByPeople(state, plan),
    decisions: rows.decisions,
    decisionsTotal: state.totals.activeDecisions,
    files: observed.files ?? [],
    contextFiles: position.current?.step.context.length ?? 0,
    results: resultsOf(state),
    questions: items('question'),
    findings: items('finding'),
    constraints: notes('constraint'),
    deadEnds: notes('dead-end'),
    values: rows.values ?? [],
    role: reader.role ?? 'worker',
    budgetTokens,
  };
}

function evidenceOf({ conflicts, files }: SeenTree): BriefEvidence {
  const counted = (verdict: FileVerdict['verdict']): number => files.filter((file) => file.verdict === verdict).length;
  return {
    holds: counted('holds'),
    drifted: counted('drifted'),
    unknown: counted('unknown'),
    accepted: conflicts.filter((conflict) => conflict.accepted).length,
    files,
  };
}

function briefPosition(
  { current, phase, plan, lastCompleted, interrupted, ready }: Position,
  { leaves }: PlanView,
): BriefPosition {
  const step = current?.step ?? null;
  const wave = step?.wave ?? null;
  const batch = interrupted.filter(
    (view) => wave !== null && view.step.wave === wave && view.step.parent === step?.parent,
  );
  return {
    phase: phase ? `${phase.number}: ${phase.step.title}` : null,
    plan: plan ? `${plan.number}: ${plan.step.title}` : null,
    task: step?.title ?? null,
    step: step?.key ?? null,
    status: current?.status ?? null,
    checkpoint: step?.checkpoint?.name ?? null,
    nextCheckpoint: step ? nextCheckpoint(step) : null,
    lastCompleted: lastCompleted?.key ?? null,
    interrupted: interrupted.map((view) => view.step.key),
    ready: ready.map((view) => view.step.key),
    following: leaves
      .slice(current ? leaves.indexOf(current) + 1 : 0)
      .filter((view) => view.status === 'pending')
      .slice(0, FOLLOWING)
      .map((view) => ({ key: view.step.key, title: view.step.title })),
    batch: batch.length > 1 ? batch.map((view) => view.step.key) : [],
  };
}

const FOLLOWING = 4;

/** Items of the current step come first, then by severity, then the oldest. */
function urgency({ step, affects, severity }: Item, current: StepView | null): number {
  const key = current?.step.key;
  const bears = key !== undefined && (step === key || affects?.includes(key));
  return (bears ? 4 : 0) + (severity === 'must_fix' ? 2 : severity === 'suggestion' ? 0 : 1);
}

/** Overdue items and items for the reader come first. */
const pressing = ({ overdue, forReader }: BriefItem): number => (overdue ? 2 : 0) + (forReader ? 1 : 0);

function briefItem(state: State, item: Item, now: string, reader: Actor | null): BriefItem {
  const step = item.step ? state.steps.get(item.step) : undefined;
  return {
    id: item.id,
    alias: item.alias,
    text: item.text,
    status: item.status,
    since: item.raisedAt,
    step: item.step ?? null,
    severity: item.severity ?? null,
    type: item.type ?? null,
    affects: item.affects ?? [],
    workaround: item.workaround ?? null,
    to: item.to ?? null,
    by: item.by,
    due: item.due ?? null,
    overdue: item.due !== undefined && isPast(item.due, now),
    forReader: reader !== null && item.to !== undefined && sideOf({ from: item.by, to: item.to }, reader) === 'to',
    options:
      item.kind === 'error' && step && isStuck(step) && !(state.run && isOver(state.run))
        ? [line`retry (${retriesLeft(step)} left)`, line`skip`, line`abort`, line`adjust`]
        : [],
  };
}

/** It failed, or it was left in progress with an error: someone must choose. */
const isStuck = ({ status, holder }: Step): boolean =>
  status === 'failed' || (status === 'in_progress' && holder === null);

const RESULTS = 10;

function resultsOf(state: State): StepResult[] {
  const finished = [...state.steps.values()].filter((step) => step.status === 'completed' && step.endedAt !== null);
  finished.sort((a, b) => ((a.endedAt ?? '') < (b.endedAt ?? '') ? 1 : -1));
  return finished.slice(0, RESULTS).map(({ key, summary, verified }) => ({ step: key, summary, verified }));
}
