import { defined } from '../defined.ts';
import type { Decision, FileRow, Item, Message, Note, Result, Session, State, Step, Verbatim } from '../fold/state.ts';
import type { Foreign } from '../fold/touch.ts';
import type {
  ModelDecision,
  ModelItem,
  ModelMessage,
  ModelNote,
  ModelSession,
  ModelStep,
  RunModel,
} from '../model/run-model.ts';
import { planView } from './plan.ts';

/** The rows of a run that folded state does not hold. */
export interface RunRows {
  decisions: readonly Decision[];
  items: readonly Item[];
  notes: readonly Note[];
  sessions: readonly Session[];
  messages: readonly Message[];
  results: readonly Result[];
  files: readonly FileRow[];
  foreign: readonly Foreign[];
}

/** A run as a run model, to be written to a file. Everything is in the order in which it was recorded. */
export function runModelOf(state: State, rows: RunRows): RunModel {
  const { run } = state;
  if (!run) throw new Error('There is no run to make a model of.');
  const plan = planView(state);
  const holding = new Map(
    [...state.steps.values()].flatMap(({ key, holder }) => (holder ? [[holder.session, key]] : [])),
  );
  const results = new Map(rows.results.map((result) => [result.step, result]));
  const kept = Object.assign({}, ...rows.foreign.map((one) => one.kept ?? {})) as Record<string, unknown>;
  const position = rows.foreign.find((one) => one.position)?.position;
  const inSteps = new Set([...results.values()].flatMap((result) => result.artifacts.map((file) => file.path)));
  return {
    run: {
      ...defined({ alias: run.alias, goal: run.goal ?? undefined, reason: run.reason ?? undefined }),
      id: run.id,
      title: run.title,
      // A run whose only session was moved is history.
      status: run.status === 'moved' ? 'archived' : run.status,
      ...asWritten(run.stated, { openedAt: run.openedAt }),
      updatedAt: run.updatedAt,
      ...defined({ design: run.design ?? undefined, plan: run.plan?.path, branch: run.branch }),
    },
    steps: [...state.steps.values()].map((step) =>
      modelStep(step, plan.byKey.get(step.key)?.status ?? step.status, results.get(step.key)),
    ),
    decisions: inOrder(rows.decisions).map(modelDecision),
    items: inOrder(rows.items).map(modelItem),
    notes: inOrder(rows.notes).flatMap(modelNote),
    sessions: inOrder(rows.sessions).map((row) => modelSession(row, holding.get(row.id))),
    messages: inOrder(rows.messages).map(modelMessage),
    claims: [
      ...(rows.foreign.find((one) => one.claims)?.claims ?? []),
      ...[...state.claims.values()].map(({ id, alias, agent, files, reason, since }) => ({
        id,
        agent,
        files: [...files],
        since,
        ...defined({ alias: alias ?? undefined, reason: reason ?? undefined }),
      })),
    ],
    usage: [...state.usage.values()].map(({ agent, input, output, cached }) => ({
      agent,
      ...defined({ input: input ?? undefined, output: output ?? undefined, cached: cached ?? undefined }),
    })),
    files: rows.files
      .filter((file) => !file.read && !inSteps.has(file.path))
      .map(({ path, change }) => ({ path, ...defined({ change }) })),
    ...(position ? { position } : {}),
    ...(state.next ? { next: state.next.text } : {}),
    ...(Object.keys(kept).length > 0 ? { kept } : {}),
  };
}

function modelStep(step: Step, status: ModelStep['status'], result: Result | undefined): ModelStep {
  const { key, title, kind, alias, parent, after, wave, agents, parallel, gate, context, checkpoints, stated } = step;
  const artifacts = [...(result?.artifacts ?? []), ...step.artifacts];
  const worker = step.holder?.agent ?? step.lastAgent;
  return {
    key,
    title,
    kind,
    status,
    ...defined({ alias: alias ?? undefined, parent: parent ?? undefined, wave: wave ?? undefined }),
    // A step without named agents is given the agent that took it.
    ...filled({ after, agents: agents.length === 0 && worker ? [worker] : agents, context, checkpoints }),
    ...(parallel ? { parallel } : {}),
    ...(gate ? { gate: { state: gate.state, ...defined({ name: gate.name, by: gate.by, at: gate.at }) } } : {}),
    ...(step.checkpoint ? { checkpoint: step.checkpoint.name } : {}),
    ...asWritten(stated, { startedAt: step.startedAt, endedAt: step.endedAt }),
    ...(step.retries > 0 ? { retries: step.retries } : {}),
    ...defined({ reason: step.reason ?? undefined, summary: result?.summary ?? step.summary ?? undefined }),
    ...filled({ built: [...new Set([...(result?.built ?? []), ...step.built])], contextRead: step.contextRead }),
    ...(step.status === 'in_progress' && !step.holder && step.crashes > 0 ? { interrupted: true } : {}),
    ...(artifacts.length > 0
      ? { artifacts: [...new Map(artifacts.map((file) => [file.path, file])).values()].map(plainFile) }
      : {}),
  };
}

const plainFile = ({ path, change }: { path: string; change?: 'created' | 'modified' | 'deleted' | undefined }) => ({
  path,
  ...defined({ change }),
});

function modelDecision(row: Decision): ModelDecision {
  const { id, alias, key, type, context, decision, reason, alternatives, irreversible, affects, step } = row;
  return {
    id,
    decision,
    status: row.status,
    ...asWritten(row.stated, { by: row.by, at: row.at }),
    ...defined({ alias, key, type, irreversible, step, supersedes: row.supersedes }),
    ...defined({ context: context || undefined, reason: reason || undefined }),
    ...filled({ alternatives, affects }),
  };
}

function modelItem(row: Item): ModelItem {
  const { id, alias, kind, text, status, severity, type, step, workaround, to, due, by } = row;
  return {
    id,
    kind,
    text,
    status,
    ...asWritten(row.stated, { by, raisedAt: row.raisedAt, settledAt: row.settledAt }),
    ...defined({ alias, severity, type, step, workaround, to, due, resolution: row.resolution ?? undefined }),
    ...filled({ affects: row.affects, followUp: row.followUp }),
  };
}

/** A plan that was only shown is not part of the run yet. */
function modelNote({ id, alias, kind, text, step, by, at, stated }: Note): ModelNote[] {
  return kind === 'plan' ? [] : [{ id, kind, text, ...asWritten(stated, { by, at }), ...defined({ alias, step }) }];
}

/** A session works on the step it holds, or on the one it left when it ended. */
function modelSession(row: Session, held: string | undefined): ModelSession {
  const { id, agent, role, status, continues, notes, issues, contextUsage, alias, finished, why, stated } = row;
  const workingOn = held ?? row.workingOn ?? row.left.at(-1);
  return {
    id,
    status: (stated?.['status'] as ModelSession['status'] | undefined) ?? (status === 'moved' ? 'superseded' : status),
    ...asWritten(stated, { agent, role, startedAt: row.startedAt, endedAt: row.endedAt }),
    ...defined({ alias: alias ?? undefined, continues: continues ?? undefined, workingOn }),
    ...defined({ contextUsage: contextUsage ?? undefined, why }),
    ...filled({ completed: finished ?? row.completed, notes, issues }),
  };
}

function modelMessage(row: Message): ModelMessage {
  const { id, alias, from, to, type, priority, status, subject, body, respondBy, disposition, acks, replies } = row;
  return {
    id,
    from,
    to,
    type,
    priority,
    status,
    subject,
    body,
    ...asWritten(row.stated, { at: row.at }),
    ...defined({ alias, respondBy, disposition }),
    ...filled({
      acks: acks.map(({ by, at, to: status, note }) => ({
        by,
        note,
        to: status,
        ...(at ? { at } : {}),
      })),
      replies: replies.map(({ from: sender, at, body: text }) => ({ from: sender, body: text, ...(at ? { at } : {}) })),
    }),
  };
}

/** Values as the file wrote them, else as they are known here. What the file left out stays out. */
function asWritten<T extends Record<string, string | null | undefined>>(stated: Verbatim | undefined, known: T) {
  const words = Object.entries(known).map(([name, word]) => [name, stated?.[name] ?? word] as const);
  return Object.fromEntries(words.filter(([, word]) => word)) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Only the lists that are not empty. */
function filled<T extends Record<string, readonly unknown[] | undefined>>(lists: T) {
  const some = Object.entries(lists).filter(([, list]) => list !== undefined && list.length > 0);
  return Object.fromEntries(some) as { [K in keyof T]?: NonNullable<T[K]>[number][] };
}

/** Sorted by the number in their ids: rows come in the order in which they were touched last. */
function inOrder<T extends { id: string }>(rows: readonly T[]): T[] {
  const number = ({ id }: T): number => Number(/\d+$/.exec(id)?.[0] ?? 0);
  return [...rows].sort((a, b) => number(a) - number(b));
}
