import {
  emptyRunModel,
  type ModelDecision,
  type ModelItem,
  type ModelSession,
  type RunModel,
} from '../../core/model/run-model.ts';
import { currentStepOf } from '../current-step.ts';
import { labelOf } from '../label.ts';
import { progressBar, progressOf } from './progress.ts';

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
 * A run model as rows. A key combines the initiative and the entry's own name, since it must be unique in its table.
 */
export function toTables(model: RunModel): CodewalkTables {
  const initiative = model.run.alias ?? model.run.id ?? 'init';
  const current = currentStepOf(model);
  const step = model.steps.find(({ key }) => key === current);
  const path = step ? [step] : [];
  for (let above = step?.parent; above !== undefined && path.length < 50; above = path[0]?.parent) {
    const parent = model.steps.find(({ key }) => key === above);
    if (!parent || path.includes(parent)) break;
    path.unshift(parent);
  }
  const progress = progressOf(model, current);
  const id = (own: string | undefined, prefix: string, index: number) =>
    `${initiative}/${own ?? `${prefix}-${String(index + 1).padStart(3, '0')}`}`;
  return {
    initiative_state: [
      {
        initiative_id: initiative,
        current_phase: whole(path[0]?.key),
        current_plan: whole(path[1]?.kind === 'plan' ? /(\d+)$/.exec(path[1].key)?.[1] : undefined),
        current_task: step && path.length > 1 && step.kind !== 'plan' ? step.title : null,
        current_wave: step?.wave ?? null,
        status: step?.status ?? null,
        progress_json: JSON.stringify({
          phases_total: progress.total,
          phases_completed: progress.done,
          current_phase_tasks: progress.tasks,
          current_phase_completed: progress.tasksDone,
          bar: progressBar(progress.percent),
        }),
        updated_at: seconds(model.run.updatedAt),
      },
    ],
    // There is no status column: a retracted decision would read as an active one.
    initiative_decisions: model.decisions.filter(isInForce).map((one, index) => ({
      id: id(one.alias ?? one.id, 'decision', index),
      initiative_id: initiative,
      date: seconds(one.at),
      context: one.context ?? null,
      decision: one.decision,
      reason: one.reason ?? null,
      alternatives_json: json(one.alternatives),
      reversible: one.irreversible === undefined ? null : one.irreversible ? 0 : 1,
    })),
    initiative_blockers: model.items
      .filter(({ kind }) => kind === 'blocker')
      .map((one, index) => ({
        id: id(one.alias ?? one.id, 'block', index),
        initiative_id: initiative,
        status: one.status === 'bypassed' || one.status === 'resolved' ? one.status : 'active',
        description: one.text,
        identified_at: seconds(one.raisedAt),
        affects_json: json(one.affects),
        workaround: one.workaround ?? null,
        resolution: one.resolution ?? null,
        resolved_at: seconds(one.settledAt),
      })),
    session_history: model.sessions.map((one, index) => ({
      id: id(one.alias ?? one.id, 'session', index),
      initiative_id: initiative,
      agent_id: one.agent ?? null,
      started_at: seconds(one.startedAt),
      ended_at: seconds(one.endedAt),
      context_usage: one.contextUsage ?? null,
      completed_json: json(one.completed),
      issues_json: json(one.issues),
      // The tables have no column for the reason a session ended; a crash must not be lost.
      handoff_reason: one.why ?? (one.status === 'crashed' ? 'crashed' : null),
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
  for (const row of tables.initiative_decisions) model(row.initiative_id).decisions.push(decisionOf(row));
  for (const row of tables.initiative_blockers) model(row.initiative_id).items.push(blockerOf(row));
  for (const row of tables.session_history) model(row.initiative_id).sessions.push(sessionOf(row));
  return [...models.values()];
}

function aliased(initiative: string): { alias?: string } {
  const alias = labelOf(initiative);
  return alias ? { alias } : {};
}

function readState(model: RunModel, row: StateRow): void {
  const progress = parsed(row.progress_json) as { phases_total?: number; phases_completed?: number } | null;
  const total = Math.min(200, Number(progress?.phases_total) || row.current_phase || 0);
  const done = Number(progress?.phases_completed) || 0;
  for (let number = 1; number <= total; number++) {
    const isCurrent = number === row.current_phase;
    model.steps.push({
      key: String(number),
      title: `Phase ${number}`,
      kind: 'phase',
      status: number <= done ? 'completed' : isCurrent ? 'in_progress' : 'pending',
    });
    if (!isCurrent) continue;
    const plan = row.current_plan === null ? null : `${number}-${row.current_plan}`;
    if (plan)
      model.steps.push({
        key: plan,
        title: `Plan ${row.current_plan}`,
        kind: 'plan',
        parent: String(number),
        status: 'in_progress',
      });
    const parent = plan ?? String(number);
    if (row.current_task)
      model.steps.push({
        key: `${parent}.task`,
        title: row.current_task,
        kind: 'task',
        parent,
        status: 'in_progress',
        ...(row.current_wave === null ? {} : { wave: row.current_wave }),
      });
    model.position = { step: row.current_task ? `${parent}.task` : parent };
  }
  if (row.updated_at !== null) model.run.updatedAt = instant(row.updated_at);
}

/** The entry's own name in a key made of initiative and name. */
function nameIn({ id, initiative_id: initiative }: { id: string | null; initiative_id: string }): { alias?: string } {
  const own = id?.startsWith(`${initiative}/`) ? id.slice(initiative.length + 1) : id;
  const alias = labelOf(own ?? undefined);
  return alias ? { alias } : {};
}

function decisionOf(row: DecisionRow): ModelDecision {
  const alternatives = parsed(row.alternatives_json);
  return {
    ...nameIn(row),
    decision: row.decision,
    ...(row.context ? { context: row.context } : {}),
    ...(row.reason ? { reason: row.reason } : {}),
    ...(Array.isArray(alternatives) && alternatives.length > 0 ? { alternatives: alternatives.map(String) } : {}),
    ...(row.reversible === null ? {} : { irreversible: Number(row.reversible) === 0 }),
    ...(row.date === null ? {} : { at: instant(row.date) }),
    status: 'active',
  };
}

function blockerOf(row: BlockerRow): ModelItem {
  const affects = parsed(row.affects_json);
  return {
    ...nameIn(row),
    kind: 'blocker',
    text: row.description,
    status: row.status,
    ...(Array.isArray(affects) && affects.length > 0 ? { affects: affects.map(String) } : {}),
    ...(row.workaround ? { workaround: row.workaround } : {}),
    ...(row.resolution ? { resolution: row.resolution } : {}),
    ...(row.identified_at === null ? {} : { raisedAt: instant(row.identified_at) }),
    ...(row.resolved_at === null ? {} : { settledAt: instant(row.resolved_at) }),
  };
}

function sessionOf(row: SessionRow): ModelSession {
  const completed = parsed(row.completed_json);
  const issues = parsed(row.issues_json);
  const crashed = row.handoff_reason === 'crashed';
  return {
    ...nameIn(row),
    status: crashed ? 'crashed' : row.ended_at === null ? 'active' : 'completed',
    ...(row.agent_id ? { agent: row.agent_id } : {}),
    ...(row.started_at === null ? {} : { startedAt: instant(row.started_at) }),
    ...(row.ended_at === null ? {} : { endedAt: instant(row.ended_at) }),
    // Both a fraction and a percentage occur; no session used less than one percent of its window.
    ...(row.context_usage === null
      ? {}
      : {
          contextUsage: Math.min(
            100,
            Math.max(0, row.context_usage <= 1 ? row.context_usage * 100 : row.context_usage),
          ),
        }),
    ...(Array.isArray(completed) && completed.length > 0 ? { completed: completed.map(String) } : {}),
    ...(Array.isArray(issues) && issues.length > 0 ? { issues: issues.map(String) } : {}),
    ...(row.handoff_reason && !crashed ? { why: row.handoff_reason } : {}),
  };
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

function instant(time: number): string {
  // Milliseconds are recognised by their size.
  const date = new Date(time > 100_000_000_000 ? time : time * 1000);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString().replace('.000Z', 'Z');
}

/** The integer column cannot hold an inserted phase (`2.1`). */
function whole(key: string | undefined): number | null {
  return key !== undefined && /^\d{1,9}$/.test(key) ? Number(key) : null;
}
