import type { ModelDecision, ModelFile, ModelItem } from '../../core/model/run-model.ts';
import type { Problem } from '../format.ts';
import { isObject } from '../is-object.ts';
import { parseJson } from '../text/json.ts';
import { lineFinder } from '../text/lines.ts';
import { plain } from '../text/node.ts';
import { type Row, readRows, type Value } from '../text/rows.ts';
import { isNone } from './words/none.ts';

/** What a session that paused left behind: HANDOFF.json, or `.continue-here.md` in the same terms. */
export interface HandoffNote {
  path: string;
  timestamp: string | null;
  phase: string | null;
  phaseName: string | null;
  plan: string | null;
  task: string | null;
  status: string | null;
  tasks: { id: string; name: string; done: boolean; inProgress: boolean; summary: string | null }[];
  decisions: ModelDecision[];
  items: ModelItem[];
  constraints: string[];
  deadEnds: string[];
  files: ModelFile[];
  next: string | null;
  notes: string[];
}

export function readHandoffJson(path: string, text: string): { note: HandoffNote | null; problems: Problem[] } {
  const { root, found } = parseJson(text);
  const lineOf = lineFinder(text);
  const problems = found
    .filter(({ level }) => level === 'error')
    .slice(0, 5)
    .map(({ offset, message }) => ({ code: 'not_json', level: 'error' as const, path, line: lineOf(offset), message }));
  const value = root && plain(root);
  if (isObject(value)) return { note: noteOf(path, value), problems };
  if (problems.length === 0)
    problems.push({ code: 'not_json', level: 'error', path, line: 1, message: 'HANDOFF.json is not an object.' });
  return { note: null, problems };
}

/** Keys and entries in the spellings that occur; an entry may be a text alone. */
const said: Value = { read: (raw) => words(raw) ?? undefined, write: (value: string) => value };
const row = <E>(at: string, is: keyof E & string): Row<E> => ({ at, is, as: said, says: '' });

type Top = Pick<HandoffNote, 'timestamp' | 'phase' | 'phaseName' | 'plan' | 'task' | 'status' | 'next'>;
const topRows: readonly Row<Top>[] = [
  row('timestamp|last_updated', 'timestamp'),
  row('phase', 'phase'),
  row('phase_name', 'phaseName'),
  row('plan', 'plan'),
  row('task', 'task'),
  row('status', 'status'),
  row('next_action', 'next'),
];

interface Entry {
  text: string;
  name: string;
  id: string;
  status: string;
  reason: string;
  context: string;
  workaround: string;
  progress: string;
  commit: string;
}
const entryRows: readonly Row<Entry>[] = [
  row('decision|summary|description|blocker|action|path|file|name|title', 'text'),
  row('name|title|description', 'name'),
  row('id', 'id'),
  row('status', 'status'),
  row('rationale|reason', 'reason'),
  row('phase|context', 'context'),
  row('workaround', 'workaround'),
  row('progress', 'progress'),
  row('commit', 'commit'),
];

const entriesIn = (value: unknown): Partial<Entry>[] =>
  (Array.isArray(value) ? value : []).map((entry: unknown) => {
    // An entry of another shape is kept whole.
    if (isObject(entry)) return { text: JSON.stringify(entry), ...readRows(entryRows, entry) };
    const text = words(entry);
    return text ? { text, name: text } : {};
  });

/** Those that say something. */
const toldIn = (value: unknown): (Partial<Entry> & { text: string })[] =>
  entriesIn(value).flatMap((entry) => (entry.text && !isNone(entry.text) ? [{ ...entry, text: entry.text }] : []));

function noteOf(path: string, value: Record<string, unknown>): HandoffNote {
  const none: Top = { timestamp: null, phase: null, phaseName: null, plan: null, task: null, status: null, next: null };
  const top = { ...none, ...readRows(topRows, value) };
  const tasks = (['completed_tasks', 'remaining_tasks'] as const).flatMap((list) =>
    entriesIn(value[list]).map((task) => taskOf(task, list === 'completed_tasks')),
  );
  return {
    path,
    ...top,
    phase: top.phase ?? words(value['phase_dir'])?.split('/').at(-1) ?? null,
    tasks: tasks.filter((task) => task.name !== ''),
    decisions: toldIn(value['decisions']).map(({ text, reason, context }) => ({
      decision: text,
      status: 'active',
      ...(reason ? { reason } : {}),
      ...(context ? { context: `Phase ${context}`.replace(/^Phase (?=\D)/, '') } : {}),
    })),
    items: [
      ...toldIn(value['blockers']).map(({ text, workaround }): ModelItem => {
        const real = workaround && !isNone(workaround) ? { workaround } : {};
        return { kind: 'blocker', text, status: 'active', ...real };
      }),
      ...toldIn(value['human_actions_pending']).map(({ text, context }): ModelItem => {
        const whole = context ? `${text} (${context})` : text;
        return { kind: 'commitment', text: whole, status: 'open', to: 'human' };
      }),
      ...toldIn(value['async_jobs']).map(({ text }): ModelItem => ({ kind: 'commitment', text, status: 'open' })),
    ],
    constraints: [],
    deadEnds: [],
    files: toldIn(value['uncommitted_files']).flatMap(({ text }) => (text.length <= 4096 ? [{ path: text }] : [])),
    notes: [words(value['context_notes']), words(value['note'])].filter((note) => note !== null),
  };
}

function taskOf({ id = '', name = '', status = '', commit, progress }: Partial<Entry>, done: boolean) {
  const inProgress = /in.?progress|partial/i.test(status);
  return { id, name, done: done && !inProgress, inProgress, summary: commit ? `commit ${commit}` : (progress ?? null) };
}

function words(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}
