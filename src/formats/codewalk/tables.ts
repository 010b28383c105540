import {
  emptyRunModel,
  type ModelDecision,
  type ModelItem,
  type ModelSession,
  type RunModel,
} from '../../core/model/run-model.ts';
import { labelOf } from '../label.ts';
import { type Counters, placeIn, progressIn, readPlace } from './position.ts';
import { readBlocker, readDecision, readSession } from './read.ts';
import { handoffReason, nameIn } from './rows.ts';

/** The four tables of the design, as rows. Times are seconds since 1970; lists are JSON. */
export interface CodewalkTables {
  initiative_state: StateRow[];
  initiative_decisions: DecisionRow[];
  initiative_blockers: BlockerRow[];
  session_history: SessionRow[];
}

export interface StateRow {
  initiative_id: string;
  current_phase: number | null;
  current_plan: number | null;
  current_task: string | null;
  current_wave: number | null;
  status: string | null;
  progress_json: string | null;
  updated_at: number | null;
}

export interface DecisionRow {
  id: string;
  initiative_id: string;
  date: number | null;
  context: string | null;
  decision: string;
  reason: string | null;
  alternatives_json: string | null;
  reversible: 0 | 1 | null;
}

export interface BlockerRow {
  id: string;
  initiative_id: string;
  status: 'active' | 'bypassed' | 'resolved';
  description: string;
  identified_at: number | null;
  affects_json: string | null;
  workaround: string | null;
  resolution: string | null;
  resolved_at: number | null;
}

export interface SessionRow {
  id: string;
  initiative_id: string;
  agent_id: string | null;
  started_at: number | null;
  ended_at: number | null;
  context_usage: number | null;
  completed_json: string | null;
  issues_json: string | null;
  handoff_reason: string | null;
}

/**
 * A run model as rows. A key combines the initiative and the entry's own name, since it must be unique in its table. The
 * views of the journal show the same.
 */
export function toTables(model: RunModel): CodewalkTables {
  const initiative = model.run.alias ?? model.run.id ?? 'init';
  const { phase, plan, task, wave, status } = placeIn(model);
  const blockers = model.items.filter(({ kind }) => kind === 'blocker');
  const blockName = nameIn('block', blockers);
  const sessionName = nameIn('session', model.sessions);
  return {
    initiative_state: [
      {
        initiative_id: initiative,
        current_phase: whole(phase),
        current_plan: whole(plan),
        current_task: task ?? null,
        current_wave: whole(wave),
        status: status ?? null,
        progress_json: JSON.stringify(progressIn(model)),
        updated_at: seconds(model.run.updatedAt),
      },
    ],
    // There is no status column: a retracted decision would read as an active one.
    initiative_decisions: model.decisions.filter(isInForce).map((one, index) => ({
      id: `${initiative}/${one.alias ?? one.id ?? `decision-${String(index + 1).padStart(3, '0')}`}`,
      initiative_id: initiative,
      date: seconds(one.at),
      context: one.context ?? null,
      decision: one.decision,
      reason: one.reason ?? null,
      alternatives_json: json(one.alternatives),
      reversible: one.irreversible === undefined ? null : one.irreversible ? 0 : 1,
    })),
    initiative_blockers: blockers.map((one) => ({
      id: `${initiative}/${one.alias ?? blockName(one)}`,
      initiative_id: initiative,
      status: one.status === 'bypassed' || one.status === 'resolved' ? one.status : 'active',
      description: one.text,
      identified_at: seconds(one.raisedAt),
      affects_json: json(one.affects),
      workaround: one.workaround ?? null,
      resolution: one.resolution ?? null,
      resolved_at: seconds(one.settledAt),
    })),
    session_history: model.sessions.map((one) => ({
      id: `${initiative}/${one.alias ?? sessionName(one)}`,
      initiative_id: initiative,
      agent_id: one.agent ?? null,
      started_at: seconds(one.startedAt),
      ended_at: seconds(one.endedAt),
      context_usage: one.contextUsage ?? null,
      completed_json: json(one.completed),
      issues_json: json(one.issues),
      // The tables have no column for how a session ended; a crash must not be lost.
      handoff_reason: handoffReason(one) ?? (one.status === 'crashed' ? 'crashed' : null),
    })),
  };
}

const isInForce = ({ status }: ModelDecision): boolean => (status ?? 'active') === 'active';

/** What the tables cannot hold, as paths into a run model. */
export const tablesLose: readonly string[] = [
  ...['title', 'goal', 'status', 'openedAt', 'design', 'plan', 'branch', 'reason'].map((name) => `run.${name}`),
  'steps',
  'decisions[status=superseded]',
  'decisions[status=retracted]',
  ...['key', 'type', 'affects', 'step', 'by', 'supersedes'].map((name) => `decisions.${name}`),
  ...['finding', 'question', 'commitment', 'error'].map((kind) => `items[kind=${kind}]`),
  ...['step', 'followUp', 'to', 'due', 'by'].map((name) => `items.${name}`),
  'notes',
  ...['role', 'continues', 'workingOn', 'notes', 'next'].map((name) => `sessions.${name}`),
  ...['context-exhausted', 'timeout', 'maintainer-directed', 'superseded'].map(
    (status) => `sessions[status=${status}].status`,
  ),
  'messages',
  'claims',
  'usage',
  'files',
  'position',
  'next',
];

/** One run model for each initiative in the tables. */
export function fromTables(tables: CodewalkTables): RunModel[] {
  const models = new Map<string, RunModel>();
  const model = (initiative: string): RunModel => {
    const there = models.get(initiative) ?? {
      ...emptyRunModel(initiative),
      run: { title: initiative, ...aliased(initiative), status: 'active' as const },
    };
    models.set(initiative, there);
    return there;
  };
  for (const row of tables.initiative_state) readState(model(row.initiative_id), row);
  for (const row of tables.initiative_decisions) push(model(row.initiative_id).decisions, decisionOf(row));
  for (const row of tables.initiative_blockers) push(model(row.initiative_id).items, blockerOf(row));
  for (const row of tables.session_history) push(model(row.initiative_id).sessions, sessionOf(row));
  return [...models.values()];
}

function push<T>(list: T[], entry: T | null): void {
  if (entry !== null) list.push(entry);
}

function aliased(initiative: string): { alias?: string } {
  const alias = labelOf(initiative);
  return alias ? { alias } : {};
}

function readState(model: RunModel, row: StateRow): void {
  const words = (value: number | string | null): string | undefined => (value === null ? undefined : String(value));
  const counters = (parsed(row.progress_json) ?? {}) as Counters;
  const place = {
    phase: words(row.current_phase),
    plan: words(row.current_plan),
    task: words(row.current_task),
    wave: words(row.current_wave),
    status: words(row.status),
  };
  const total = Number(counters.phases_total) || row.current_phase || 0;
  Object.assign(model, readPlace(place, { ...counters, phases_total: total }));
  const updated = instant(row.updated_at);
  if (updated !== null) model.run.updatedAt = updated;
}

/** The entry's own name in a key made of initiative and name. */
const ownName = ({ id, initiative_id: initiative }: { id: string | null; initiative_id: string }): string | null =>
  id?.startsWith(`${initiative}/`) ? id.slice(initiative.length + 1) : id;

const decisionOf = (row: DecisionRow): ModelDecision | null =>
  readDecision({
    ...row,
    id: ownName(row),
    date: instant(row.date),
    alternatives_considered: parsed(row.alternatives_json),
    reversible: row.reversible === null ? null : Number(row.reversible) !== 0,
  });

const blockerOf = (row: BlockerRow): ModelItem | null =>
  readBlocker({
    ...row,
    id: ownName(row),
    identified_at: instant(row.identified_at),
    affects: parsed(row.affects_json),
    resolved_at: instant(row.resolved_at),
  });

function sessionOf(row: SessionRow): ModelSession | null {
  const isCrashed = row.handoff_reason === 'crashed';
  return readSession({
    ...row,
    id: ownName(row),
    agent: row.agent_id,
    started: instant(row.started_at),
    ended: instant(row.ended_at),
    completed: parsed(row.completed_json),
    issues: parsed(row.issues_json),
    ...(isCrashed ? { status: 'crashed', handoff_reason: null } : {}),
  });
}

function json(list: readonly string[] | undefined): string | null {
  return list && list.length > 0 ? JSON.stringify(list) : null;
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : (JSON.parse(text) as unknown);
  } catch {
    return null;
  }
}

/** A date without a time is the start of that day in UTC. */
function seconds(when: string | undefined): number | null {
  const time = when === undefined ? Number.NaN : Date.parse(when);
  return Number.isNaN(time) ? null : Math.floor(time / 1000);
}

function instant(time: number | null): string | null {
  if (time === null) return null;
  // Milliseconds are recognised by their size.
  const date = new Date(time > 100_000_000_000 ? time : time * 1000);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString().replace('.000Z', 'Z');
}

/** The integer column cannot hold an inserted phase (`2.1`). */
function whole(key: string | undefined): number | null {
  return key !== undefined && /^\d{1,9}$/.test(key) ? Number(key) : null;
}
