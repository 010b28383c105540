import type { ModelClaim, ModelItem, ModelSession, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { flat } from '../text/lines.ts';
import { at } from '../text/node.ts';
import { readRows } from '../text/rows.ts';
import { defined } from '../text/values.ts';
import { label, stepKeyOf, textOf } from './names.ts';
import { agentRows, lockRows, type Task, type TaskWord, taskRows } from './table.ts';
import type { Entry, Turnfile } from './turnfile.ts';

export interface TurnfileModel {
  title: string | undefined;
  steps: ModelStep[];
  sessions: ModelSession[];
  claims: ModelClaim[];
  /** Blocked tasks without an entry about the blocker elsewhere. */
  blockers: ModelItem[];
  position: RunModel['position'];
}

/** A Turnfile as a run model: tasks are steps, agents are their newest sessions, locks are claims. */
export function modelOfTurnfile(turnfile: Turnfile): TurnfileModel {
  const keys = taskKeys(turnfile);
  const steps = [...turnfile.tasks.values()].map((task) => readTask(task, keys));
  return {
    title: label(textOf(turnfile.sections.get('turnfile')?.fields['project'])),
    steps,
    sessions: [...turnfile.agents.values()].flatMap((agent) => readAgent(agent, keys)),
    claims: [...turnfile.locks.values()].flatMap(readLock),
    blockers: [...turnfile.tasks.values()].flatMap((task) => readBlocker(task, keys)),
    position: positionIn(turnfile, keys, steps),
  };
}

/** Step keys by task id. */
export function taskKeys({ tasks }: Turnfile): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const keys = new Map<string, string>();
  for (const id of tasks.keys()) {
    const key = stepKeyOf(id, taken);
    taken.add(key);
    keys.set(id, key);
  }
  return keys;
}

/** Prefixes in the notes of a task whose end its status cannot express. */
const prefixes = { failed: 'Failed:', skipped: 'Cancelled:' } as const;

/** What a task says, as a step. */
export function readTask({ id, fields }: Pick<Entry, 'id' | 'fields'>, keys: ReadonlyMap<string, string>): ModelStep {
  const { title, owner, word, after = [], claimed, notes = '' } = taskIn(fields);
  const key = keys.get(id) as string;
  const status = statusOf(word, notes, claimed);
  const prefix = status === 'failed' || status === 'skipped' ? prefixes[status] : null;
  const hasPrefix = prefix !== null && notes.startsWith(prefix);
  const [reason, ...rest] = hasPrefix ? notes.slice(prefix.length).split('\n') : [undefined, notes];
  const first = after.flatMap((one) => keys.get(one) ?? []);
  return defined({
    key,
    alias: key === id ? undefined : (label(id) ?? key),
    title: title ?? id,
    kind: 'task' as const,
    after: first.length > 0 ? first : undefined,
    agents: owner === undefined ? undefined : [owner],
    status,
    reason: reason?.trim() || undefined,
    summary: rest.join('\n').trim() || undefined,
  });
}

const taskIn = (fields: Entry['fields']): Task => ({ word: 'pending', ...readRows(taskRows, fields) });

function statusOf(word: TaskWord, notes: string, claimed: number | undefined): ModelStep['status'] {
  switch (word) {
    case 'done':
      return notes.startsWith(prefixes.skipped) ? 'skipped' : 'completed';
    case 'blocked':
      if (notes.startsWith(prefixes.failed)) return 'failed';
      return claimed === undefined ? 'pending' : 'in_progress';
    case 'cancelled':
      return 'skipped';
    default:
      return word;
  }
}

/** A step as its task; `had` is what the task said before. */
export function taskOf(step: ModelStep, word: TaskWord, ids: ReadonlyMap<string, string>, had: Entry['fields']): Task {
  const { title, status, summary = '', reason = '' } = step;
  const told = status === 'failed' || status === 'skipped' ? `${prefixes[status]} ${flat(reason)}`.trim() : '';
  const { claimed, completed } = taskIn(had);
  return {
    ...{ title, word, owner: step.agents?.[0], after: step.after?.map((one) => ids.get(one) ?? one) },
    ...{ claimed, completed, notes: [told, summary].join('\n').trim() || undefined },
  };
}

function readBlocker({ id, fields }: Entry, keys: ReadonlyMap<string, string>): ModelItem[] {
  const { word, notes } = taskIn(fields);
  if (word !== 'blocked' || notes?.startsWith(prefixes.failed)) return [];
  const step = keys.get(id) as string;
  return [{ kind: 'blocker', text: notes ?? 'Blocked; the file does not say by what', status: 'active', step }];
}

function readAgent({ id, fields }: Entry, keys: ReadonlyMap<string, string>): ModelSession[] {
  const { status, task, session } = readRows(agentRows, fields);
  const alias = label(session ?? textOf(fields['last_seen']));
  if (alias === undefined) return [];
  const isActive = status === 'active' || status === 'blocked';
  return [
    defined({
      alias,
      agent: label(id) ?? id.slice(0, 200),
      status: isActive ? ('active' as const) : status === 'offline' ? ('timeout' as const) : ('completed' as const),
      workingOn: task === undefined ? undefined : (keys.get(task) ?? task),
    }),
  ];
}

function readLock({ id, fields }: Entry): ModelClaim[] {
  const { agent, files, ...claim } = readRows(lockRows, fields);
  return agent === undefined || !files ? [] : [{ ...claim, alias: label(id) ?? 'lock', agent, files }];
}

/** `active_step` if it names a task; else the task of the first active agent, with the phase in the file's words. */
function positionIn(
  { root, sections, agents }: Turnfile,
  keys: ReadonlyMap<string, string>,
  steps: readonly ModelStep[],
): RunModel['position'] {
  const fields = sections.get('coordination')?.fields ?? {};
  const named = textOf(fields['active_step']);
  const step = named === undefined ? undefined : keys.get(named);
  if (step !== undefined) return { step };
  const current = [...agents.values()].map((agent) => keys.get(textOf(agent.fields['current_task']) ?? ''));
  const found = current.find((key) => key !== undefined) ?? steps.find((one) => one.status === 'in_progress')?.key;
  const phase = textOf(fields['active_phase']);
  const words = flat([phase, named].filter((one) => one !== undefined && one !== NO_STEP).join(' / '));
  if (at(root, 'coordination')?.type !== 'map' || (found === undefined && (named === undefined || named === NO_STEP)))
    return undefined;
  return { step: found ?? null, ...(words === '' ? {} : { words }) };
}

/** The value of `active_step` when there is none: the schema requires text. */
export const NO_STEP = 'none';
