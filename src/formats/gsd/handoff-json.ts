import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import type { ModelDecision, ModelFile, ModelItem } from '../../core/model/run-model.ts';
import type { Problem } from '../format.ts';
import { isObject } from '../is-object.ts';
import { lineFinder } from '../text/lines.ts';
import { isNone } from './none.ts';

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
  const errors: ParseError[] = [];
  const value: unknown = parse(text.replace(/^\ufeff/, ''), errors, { allowTrailingComma: true });
  const problems: Problem[] = errors.slice(0, 5).map((error) => ({
    code: 'not_json',
    level: 'error' as const,
    path,
    line: lineFinder(text)(error.offset),
    message: `HANDOFF.json is not JSON here (${printParseErrorCode(error.error)}).`,
  }));
  if (!isObject(value)) {
    if (problems.length === 0)
      problems.push({ code: 'not_json', level: 'error', path, line: 1, message: 'HANDOFF.json is not an object.' });
    return { note: null, problems };
  }
  return { note: noteOf(path, value), problems };
}

function noteOf(path: string, value: Record<string, unknown>): HandoffNote {
  const done = list(value['completed_tasks']).map((task) => taskOf(task, true));
  const remaining = list(value['remaining_tasks']).map((task) => taskOf(task, false));
  return {
    path,
    timestamp: words(value['timestamp']) ?? words(value['last_updated']),
    phase: words(value['phase']) ?? words(value['phase_dir'])?.split('/').at(-1) ?? null,
    phaseName: words(value['phase_name']),
    plan: words(value['plan']),
    task: words(value['task']),
    status: words(value['status']),
    tasks: [...done, ...remaining].filter((task) => task.name !== ''),
    decisions: list(value['decisions']).flatMap(decisionOf),
    items: [
      ...list(value['blockers']).flatMap(blockerOf),
      ...list(value['human_actions_pending']).flatMap(actionOf),
      ...list(value['async_jobs']).flatMap((job) => {
        const text = words(isObject(job) ? (job['description'] ?? job['name'] ?? JSON.stringify(job)) : job);
        return text ? [{ kind: 'commitment' as const, text, status: 'open' as const }] : [];
      }),
    ],
    constraints: [],
    deadEnds: [],
    files: list(value['uncommitted_files']).flatMap((file) => {
      const name = words(isObject(file) ? (file['path'] ?? file['file']) : file);
      return name && name.length <= 4096 ? [{ path: name }] : [];
    }),
    next: words(value['next_action']),
    notes: [words(value['context_notes']), words(value['note'])].filter((note) => note !== null),
  };
}

function taskOf(task: unknown, done: boolean): HandoffNote['tasks'][number] {
  if (!isObject(task)) return { id: '', name: words(task) ?? '', done, inProgress: false, summary: null };
  const status = words(task['status'])?.toLowerCase() ?? '';
  const commit = words(task['commit']);
  return {
    id: words(task['id']) ?? '',
    name: words(task['name']) ?? words(task['title']) ?? words(task['description']) ?? '',
    done: done && !/in.?progress|partial/.test(status),
    inProgress: /in.?progress|partial/.test(status),
    summary: commit ? `commit ${commit}` : words(task['progress']),
  };
}

function decisionOf(value: unknown): ModelDecision[] {
  if (!isObject(value)) {
    const text = words(value);
    return text && !isNone(text) ? [{ decision: text, status: 'active' }] : [];
  }
  const decision = words(value['decision']) ?? words(value['summary']) ?? words(value['description']);
  if (!decision) return [];
  const reason = words(value['rationale']) ?? words(value['reason']);
  const context = words(value['phase']) ?? words(value['context']);
  return [
    {
      decision,
      status: 'active',
      ...(reason ? { reason } : {}),
      ...(context ? { context: `Phase ${context}`.replace(/^Phase (?=\D)/, '') } : {}),
    },
  ];
}

function blockerOf(value: unknown): ModelItem[] {
  const text = words(isObject(value) ? (value['description'] ?? value['blocker'] ?? value['name']) : value);
  if (!text || isNone(text)) return [];
  const workaround = isObject(value) ? words(value['workaround']) : null;
  const real = workaround && !isNone(workaround) ? { workaround } : {};
  return [{ kind: 'blocker', text, status: 'active', ...real }];
}

function actionOf(value: unknown): ModelItem[] {
  const action = words(isObject(value) ? (value['action'] ?? value['description']) : value);
  if (!action || isNone(action)) return [];
  const context = isObject(value) ? words(value['context']) : null;
  const text = context ? `${action} (${context})` : action;
  return [{ kind: 'commitment', text, status: 'open', to: 'human' }];
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function words(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return null;
}
