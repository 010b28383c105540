import type { ModelStep, RunModel } from '../../../core/model/run-model.ts';
import { oneLine } from '../../../core/text.ts';
import { currentStepOf } from '../../../formats/current-step.ts';
import type { Unknown } from '../../../formats/format.ts';

/** What was taken over from a file, in words. */
export interface TakenOver {
  /** `8 steps (1 complete, 1 in progress), 6 decisions, 2 open findings`. */
  taken: string;
  /** `step 2 Architecture after phase_2_waf`; null where the file has no position. */
  position: string | null;
  next: string | null;
  /** Keys and sections that have no place in a run; they stay in the file and are found by search. */
  left: string[];
}

export function takenOver(model: RunModel, unknown: readonly Unknown[] | undefined, main: Text): TakenOver {
  const key = model.position?.step ?? currentStepOf(model);
  const step = model.steps.find((one) => one.key === key);
  return {
    taken: takenIn(model),
    position: step ? positionWords(step) : null,
    next: model.next ? oneLine(model.next, 160) : null,
    left: unknown ? unknown.map((one) => placed(one, main.path)) : leftIn(model.kept).map((name) => found(name, main)),
  };
}

function takenIn({ steps, decisions, items, notes, sessions, messages }: RunModel): string {
  const parents = new Set(steps.map(({ parent }) => parent));
  const leaves = steps.filter((step) => !parents.has(step.key));
  const states = (['completed', 'in_progress', 'failed', 'skipped'] as const).flatMap((status) => {
    const count = leaves.filter((step) => step.status === status).length;
    return count > 0 ? [`${count} ${stateWords[status]}`] : [];
  });
  const open = items.filter(({ status }) => status === 'open' || status === 'active' || status === 'bypassed');
  const kinds = (['blocker', 'finding', 'question', 'commitment', 'error'] as const).flatMap((kind) =>
    counted(open.filter((item) => item.kind === kind).length, `open ${kind}`),
  );
  const artifacts = new Set(steps.flatMap((step) => step.artifacts ?? []).map(({ path }) => path));
  const parts = [
    ...counted(leaves.length, 'step').map((words) => (states.length > 0 ? `${words} (${states.join(', ')})` : words)),
    ...counted(decisions.length, 'decision'),
    ...kinds,
    ...counted(artifacts.size, 'artifact'),
    ...counted(messages.filter(({ status }) => status !== 'closed').length, 'open message'),
    ...counted(notes.filter(({ kind }) => kind === 'constraint').length, 'rule'),
    ...counted(sessions.length, 'session'),
  ];
  return parts.length > 0 ? parts.join(', ') : 'nothing but its title';
}

const stateWords = { completed: 'complete', in_progress: 'in progress', failed: 'failed', skipped: 'skipped' } as const;

function positionWords({ key, title, status, checkpoint }: ModelStep): string {
  const name = title === key ? key : `${key} ${oneLine(title, 80)}`;
  if (checkpoint) return `step ${name} after ${oneLine(checkpoint, 80)}`;
  return `step ${name}${status === 'pending' ? ', not started' : ''}`;
}

/** The main file of what was taken over. */
interface Text {
  path: string;
  text: string;
}

function placed({ name, path, line }: Unknown, main: string): string {
  const file = path === main ? '' : `${path.slice(path.lastIndexOf('/') + 1)} `;
  return `${oneLine(name, 60)} (${file}line ${line})`;
}

/** The name with the line that has it as a key or a heading; the name alone where no line has. */
function found(name: string, { path, text }: Text): string {
  const starts = [`"${name}":`, `${name}:`];
  const at = text.split('\n').findIndex((line) => {
    const words = line.trim();
    return starts.some((start) => words.startsWith(start)) || words.replace(/^#+\s+/, '') === name;
  });
  return at < 0 ? name : placed({ name, path, line: at + 1 }, path);
}

/** The names of what was kept, without Holdfast's own entries. */
function leftIn(kept: RunModel['kept']): string[] {
  return Object.entries(kept ?? {}).flatMap(([format, value]) => {
    if (format.includes('-') || !isMap(value)) return [];
    return Object.entries(value)
      .flatMap(([name, inner]) => namesIn(name, inner))
      .map((name) => oneLine(name, 60));
  });
}

/** Formats keep keys of the top, of steps, and whole sections. */
function namesIn(name: string, value: unknown): string[] {
  if (name === 'from' || name === 'milestone_name') return [];
  if (name === 'sections' && Array.isArray(value))
    return value.map((section: { heading?: string }) => (section.heading ?? '').replace(/^#+\s*/, ''));
  if ((name === 'top' || name === 'front') && isMap(value)) return Object.keys(value);
  if ((name === 'steps' || name === 'phases' || name === 'tasks') && isMap(value))
    return counted(Object.keys(value).length, name.slice(0, -1)).map((words) => `fields of ${words}`);
  return [name];
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `1 step`, `3 steps`; nothing for none. */
export const counted = (count: number, noun: string): string[] =>
  count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`];
