import type { ModelClaim, ModelItem, ModelSession, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { flat } from '../text/lines.ts';
import { at } from '../text/node.ts';
import { label, slug, stepKeyOf } from './names.ts';
import { type Entry, type Turnfile, textOf } from './turnfile.ts';
import { listOf } from './turnfile-rules.ts';

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

/** Prefixes in the notes of a task whose end the five statuses cannot express. */
export const FAILED = 'Failed:';
export const CANCELLED = 'Cancelled:';

function readTask({ id, fields }: Entry, keys: ReadonlyMap<string, string>): ModelStep {
  const key = keys.get(id) as string;
  const after = listOf(fields['depends_on']).flatMap((one) => keys.get(one) ?? []);
  const owner = label(textOf(fields['owner']));
  const notes = textOf(fields['notes']);
  const status = statusOf(fields, notes);
  const prefix = status === 'failed' ? FAILED : status === 'skipped' ? CANCELLED : null;
  const words = notes ?? '';
  const hasPrefix = prefix !== null && words.startsWith(prefix);
  const [reason, ...rest] = hasPrefix ? words.slice(prefix.length).split('\n') : [undefined, words];
  const summary = rest.join('\n').trim();
  return {
    key,
    ...(key === id ? {} : { alias: label(id) ?? key }),
    title: textOf(fields['description']) ?? id,
    kind: 'task',
    ...(after.length > 0 ? { after } : {}),
    ...(owner === undefined || owner === 'unassigned' ? {} : { agents: [owner] }),
    status,
    ...(reason?.trim() ? { reason: reason.trim() } : {}),
    ...(summary === '' ? {} : { summary }),
  };
}

function statusOf(fields: Entry['fields'], notes: string | undefined): ModelStep['status'] {
  switch (slug(textOf(fields['status']))) {
    case 'done':
    case 'complete':
    case 'completed':
    case 'closed':
      return notes?.startsWith(CANCELLED) ? 'skipped' : 'completed';
    case 'cancelled':
    case 'canceled':
    case 'skipped':
      return 'skipped';
    case 'failed':
      return 'failed';
    case 'claimed':
    case 'in-progress':
    case 'active':
      return 'in_progress';
    case 'blocked':
      if (notes?.startsWith(FAILED)) return 'failed';
      return typeof fields['claim_rev'] === 'number' ? 'in_progress' : 'pending';
    default:
      return 'pending';
  }
}

function readBlocker({ id, fields }: Entry, keys: ReadonlyMap<string, string>): ModelItem[] {
  const notes = textOf(fields['notes']);
  if (slug(textOf(fields['status'])) !== 'blocked' || notes?.startsWith(FAILED)) return [];
  const step = keys.get(id) as string;
  return [{ kind: 'blocker', text: notes ?? 'Blocked; the file does not say by what', status: 'active', step }];
}

function readAgent({ id, fields }: Entry, keys: ReadonlyMap<string, string>): ModelSession[] {
  const alias = label(textOf(fields['session_id']) ?? textOf(fields['last_seen']));
  const status = textOf(fields['status']);
  if (alias === undefined) return [];
  const current = textOf(fields['current_task']);
  const isActive = status === 'active' || status === 'blocked';
  return [
    {
      alias,
      agent: label(id) ?? id.slice(0, 200),
      status: isActive ? 'active' : status === 'offline' ? 'timeout' : 'completed',
      ...(current === undefined ? {} : { workingOn: keys.get(current) ?? current }),
    },
  ];
}

function readLock({ id, fields }: Entry): ModelClaim[] {
  // The template writes target and purpose where the schema has files and reason.
  const files = listOf(fields['files'] ?? fields['target']);
  const agent = label(textOf(fields['holder']));
  const reason = textOf(fields['reason']) ?? textOf(fields['purpose']);
  if (agent === undefined || files.length === 0) return [];
  return [{ alias: label(id) ?? 'lock', agent, files, ...(reason === undefined ? {} : { reason }) }];
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
