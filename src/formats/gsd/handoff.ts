import type { ModelDecision, ModelFile, ModelItem } from '../../core/model/run-model.ts';
import type { Problem } from '../format.ts';
import { isObject } from '../is-object.ts';
import { readFrontMatter } from '../text/front-matter.ts';
import { parseJson } from '../text/json.ts';
import { lineFinder } from '../text/lines.ts';
import { type Entry, readEntries } from '../text/list.ts';
import { plain } from '../text/node.ts';
import { type Page, scanPage } from '../text/page.ts';
import { readRows } from '../text/rows.ts';
import { readDecision, readItem } from './entries.ts';
import { type NoteEntry, type NoteFields, noteEntryRows, noteRows, saidIn } from './table.ts';
import { type SectionKind, sectionKind } from './words/headings.ts';
import { isNone } from './words/none.ts';
import { readDate } from './words/numbers.ts';

/** What a session that paused left behind: HANDOFF.json, or `.continue-here.md` in the same terms. */
export interface HandoffNote extends NoteFields {
  path: string;
  tasks: { id: string; name: string; done: boolean; inProgress: boolean; summary: string | undefined }[];
  decisions: ModelDecision[];
  items: ModelItem[];
  constraints: string[];
  deadEnds: string[];
  files: ModelFile[];
  notes: string[];
}

interface Read {
  note: HandoffNote | null;
  problems: Problem[];
}

export function readHandoffJson(path: string, text: string): Read {
  const { root, found } = parseJson(text);
  const lineOf = lineFinder(text);
  const problem = (line: number, message: string): Problem => ({
    code: 'not_json',
    level: 'error',
    path,
    line,
    message,
  });
  const problems = found
    .filter(({ level }) => level === 'error')
    .slice(0, 5)
    .map(({ offset, message }) => problem(lineOf(offset), message));
  const value = root && plain(root);
  if (isObject(value)) return { note: noteOf(path, value), problems };
  return { note: null, problems: problems.length > 0 ? problems : [problem(1, 'HANDOFF.json is not an object.')] };
}

const entriesIn = (value: unknown): NoteEntry[] =>
  (Array.isArray(value) ? value : []).map((entry: unknown) => {
    // An entry of another shape is kept whole.
    if (isObject(entry)) return { text: JSON.stringify(entry), ...readRows(noteEntryRows, entry) };
    const text = saidIn(entry);
    return text === undefined ? {} : { text, name: text };
  });

/** Those that say something. */
const toldIn = (value: unknown): (NoteEntry & { text: string })[] =>
  entriesIn(value).flatMap((entry) => (entry.text && !isNone(entry.text) ? [{ ...entry, text: entry.text }] : []));

function noteOf(path: string, value: Record<string, unknown>): HandoffNote {
  const phase = saidIn(value['phase_dir'])?.split('/').at(-1);
  const open = (kind: 'commitment', text: string): ModelItem => ({ kind, text, status: 'open' });
  return {
    ...{ path, ...(phase ? { phase } : {}), ...readRows(noteRows, value), constraints: [], deadEnds: [] },
    tasks: [
      ...entriesIn(value['completed_tasks']).flatMap((task) => taskOf(task, true)),
      ...entriesIn(value['remaining_tasks']).flatMap((task) => taskOf(task, false)),
    ],
    decisions: toldIn(value['decisions']).map(({ text, reason, context }) => ({
      ...{ decision: text, status: 'active', ...(reason ? { reason } : {}) },
      ...(context ? { context: `Phase ${context}`.replace(/^Phase (?=\D)/, '') } : {}),
    })),
    items: [
      ...toldIn(value['blockers']).map(({ text, workaround }): ModelItem => {
        const real = workaround && !isNone(workaround) ? { workaround } : {};
        return { kind: 'blocker', text, status: 'active', ...real };
      }),
      ...toldIn(value['human_actions_pending']).map(({ text, context }) => ({
        ...open('commitment', context ? `${text} (${context})` : text),
        to: 'human',
      })),
      ...toldIn(value['async_jobs']).map(({ text }) => open('commitment', text)),
    ],
    files: toldIn(value['uncommitted_files']).flatMap(({ text }) => (text.length <= 4096 ? [{ path: text }] : [])),
    notes: [saidIn(value['context_notes']), saidIn(value['note'])].filter((note) => note !== undefined),
  };
}

function taskOf({ id = '', name, status = '', commit, progress }: NoteEntry, done: boolean): HandoffNote['tasks'] {
  const inProgress = /in.?progress|partial/i.test(status);
  const summary = commit ? `commit ${commit}` : progress;
  return name ? [{ id, name, done: done && !inProgress, inProgress, summary }] : [];
}

/** `.continue-here.md`: front matter, then parts between tags (`<current_state>`), or headings with the same meaning. */
export function readContinueHere(path: string, text: string): Read {
  const page = scanPage(text);
  const [block] = page.frontMatter;
  const front = block ? [...readFrontMatter(page, block).fields.values()] : [];
  const said = front.filter(({ value }) => !isNone(value) && value !== 'null').map(({ key, value }) => [key, value]);
  const { parts, open } = partsOf(page);
  const of = (name: PartName) => parts.filter((part) => part.name === name);
  const entries = (name: PartName): Entry[] =>
    of(name).flatMap(({ from, to }) => readEntries(page, from, to, isNone).entries);
  const prose = (name: PartName): string[] => of(name).flatMap(({ from, to }) => page.prose(from, to) || []);
  const none = (): boolean => false;
  const next = prose('next').join('\n\n');
  const date = readDate(page.prose(0, Math.min(page.lines.length, 12)));
  return {
    problems: [
      ...(block && !block.closed ? [{ code: 'front_matter_open', level: 'error', line: 1 } as const] : []),
      ...open.map((line) => ({ code: 'tag_open', level: 'warning', line: line + 1 }) as const),
    ].map((one) => ({ ...one, path, message: messages[one.code] })),
    note: {
      ...{ path, tasks: [], files: [] },
      ...{ ...(date ? { timestamp: date } : {}), ...readRows(noteRows, Object.fromEntries(said)) },
      ...(next === '' ? {} : { next }),
      decisions: entries('decisions').flatMap((entry) => readDecision(entry, none) ?? []),
      items: entries('blockers').flatMap((entry) => readItem(entry, 'blocker', null, none) ?? []),
      constraints: entries('constraints').map(({ text: words }) => words),
      deadEnds: entries('dead-ends').map(({ text: words }) => words),
      notes: [
        ...prose('position'),
        ...prose('remaining').map((words) => `Remaining work:\n${words}`),
        ...prose('context'),
      ],
    },
  };
}

const messages = { front_matter_open: 'The front matter is never closed.', tag_open: 'This tag is never closed.' };

type PartName = SectionKind | 'done' | 'remaining' | 'context';

const tags: ReadonlyMap<string, PartName> = new Map([
  ...([
    ['current_state', 'position'],
    ['completed_work', 'done'],
    ['remaining_work', 'remaining'],
  ] as const),
  ...([
    ['decisions_made', 'decisions'],
    ['decisions', 'decisions'],
    ['blockers', 'blockers'],
  ] as const),
  ...([
    ['context', 'context'],
    ['next_action', 'next'],
    ['next_actions', 'next'],
  ] as const),
]);

function partsOf(page: Page): { parts: { name: PartName; from: number; to: number }[]; open: number[] } {
  const parts: { name: PartName; from: number; to: number }[] = [];
  const open: number[] = [];
  let inside: { name: PartName; tag: string; from: number } | null = null;
  const covered = new Uint8Array(page.lines.length);
  for (let line = page.body; line < page.lines.length; line++) {
    const [, close = '', tag = ''] = /^\s*<(\/?)([a-z_]{3,30})>\s*$/.exec(page.line(line)) ?? [];
    const name = tags.get(tag);
    // Free text may have its own headings.
    if (inside && !['context', 'position', 'done'].includes(inside.name)) covered[line] = 1;
    if (!name) continue;
    if (inside) parts.push({ name: inside.name, from: inside.from, to: line });
    if (inside && close === '' && inside.tag !== tag) open.push(inside.from - 1);
    inside = close === '' ? { name, tag, from: line + 1 } : null;
  }
  if (inside) {
    parts.push({ name: inside.name, from: inside.from, to: page.lines.length });
    open.push(inside.from - 1);
  }
  for (const { line, title, level, bodyEnd, end } of page.headings) {
    const name = covered[line] === 1 ? null : partOfHeading(title);
    if (name) parts.push({ name, from: line + 1, to: level === 1 ? bodyEnd : end });
  }
  return { parts, open };
}

function partOfHeading(title: string): PartName | null {
  const kind = sectionKind(title);
  if (kind !== null) return kind;
  return /^remaining work/i.test(title) ? 'remaining' : /^context\b/i.test(title) ? 'context' : null;
}
