import { isMap, type Node, type YAMLMap } from 'yaml';
import { emptyRunModel, type ModelStep, type RunModel } from '../../core/model/run-model.ts';
import { isName } from '../../core/text.ts';
import type { Files, Found } from '../format.ts';
import { labelOf } from '../label.ts';
import { stepStatus } from '../step-status.ts';
import { bare } from '../text/lines.ts';
import { scanPage } from '../text/page.ts';
import { findContradictions, findDamage } from './contradictions.ts';
import { COUNTED, type Counted } from './progress.ts';
import { optional, readBlocker, readDecision, readSession } from './read-entry.ts';
import type { Placed, Reading } from './reading.ts';
import { itemsOf, listOf, nodeOf, problem, readMainPage, readYamlPage, wordsOf, type YamlPage } from './yaml-page.ts';

export function readCodewalk(found: Found, files: Files): Reading {
  const text = files.get(found.main);
  const reading: Reading = {
    model: emptyRunModel('Initiative'),
    page: text === undefined || text.trim() === '' ? null : readMainPage(text),
    decisions: [],
    blockers: [],
    questions: [],
    sessions: [],
    loose: { decisions: [], items: [], sessions: [] },
    folders: [...files.keys()].some((path) => entryFolder(path) !== null),
    problems: [],
    writable: true,
  };
  if (text === undefined || text.trim() === '') {
    reading.problems.push(problem('empty', 'error', found.main, text === undefined ? null : 1, 'The file is empty.'));
  } else findDamage(reading, found.main, text);
  const root = reading.page?.root ?? null;
  if (reading.page && root) readRoot(reading, reading.page, root, found.main);
  else if (reading.page)
    reading.problems.push(problem('no_map', 'error', found.main, 1, 'The file has no YAML with keys and values.'));
  for (const [path, content] of files) {
    const folder = entryFolder(path);
    if (folder) readEntryFile(reading, folder, path, content);
  }
  fill(reading);
  if (reading.page && root) findContradictions(reading, reading.page, root, found.main);
  return reading;
}

function readRoot(reading: Reading, page: YamlPage, root: YAMLMap, path: string): void {
  const { model } = reading;
  const seen = new Set<string>();
  for (const pair of root.items) {
    const key = wordsOf(pair.key as Node) ?? '';
    if (seen.has(key))
      reading.problems.push(
        problem(
          'duplicate_key',
          'warning',
          path,
          page.lineOf(pair.key),
          `Duplicate key "${key}"; the first one counts.`,
        ),
      );
    seen.add(key);
  }
  const id = wordsOf(nodeOf(root, 'initiative'));
  const alias = labelOf(id);
  if (alias) model.run.alias = alias;
  model.run.title = wordsOf(nodeOf(root, 'title')) ?? id ?? 'Initiative';
  const next = wordsOf(nodeOf(root, 'next_action'));
  if (next) model.next = next.replace(/\s+$/, '');
  for (const node of mapsOf(root, 'decisions')) add(reading.decisions, readDecision(node), page, path, node);
  for (const node of mapsOf(root, 'blockers')) add(reading.blockers, readBlocker(node), page, path, node);
  for (const node of mapsOf(root, 'sessions')) add(reading.sessions, readSession(node), page, path, node);
  for (const node of itemsOf(nodeOf(root, 'decisions'))) {
    const words = wordsOf(node);
    if (words) reading.loose.decisions.push({ decision: words, status: 'active' });
  }
  const context = nodeOf(root, 'resume_context');
  if (isMap(context)) {
    model.files = unique(listOf(nodeOf(context, 'files_modified_this_session')))
      .filter((file) => file.length <= 4096)
      .map((file) => ({ path: file, change: 'modified' as const }));
    reading.questions = listOf(nodeOf(context, 'open_questions')).map((text) => ({
      kind: 'question',
      text,
      status: 'open',
    }));
  }
  readPosition(model, root);
  const known = new Set([
    'initiative',
    'title',
    'position',
    'progress',
    'decisions',
    'blockers',
    'sessions',
    'next_action',
    'resume_context',
  ]);
  const others = root.items.filter((pair) => !known.has(wordsOf(pair.key as Node) ?? ''));
  if (others.length > 0)
    model.kept = {
      ...model.kept,
      codewalk: Object.fromEntries(
        others.map((pair) => [wordsOf(pair.key as Node) ?? '', plain(page, pair.value as Node | null)]),
      ),
    };
}

function plain(page: YamlPage, node: Node | null): unknown {
  try {
    return node?.toJS(page.document, { maxAliasCount: 100 }) ?? null;
  } catch {
    return null;
  }
}

function add<T>(list: Placed<T>[], value: T | null, page: YamlPage, path: string, node: YAMLMap): void {
  if (value) list.push({ value, page, path, node });
}

function mapsOf(root: YAMLMap, key: string): YAMLMap[] {
  const node = nodeOf(root, key);
  // A single entry without a list counts.
  if (isMap(node)) return [node as YAMLMap];
  return itemsOf(node).filter((item): item is YAMLMap & Node => isMap(item));
}

/** Phases by number, the current one with its plan and task. */
function readPosition(model: RunModel, root: YAMLMap): void {
  const position = nodeOf(root, 'position');
  const progress = nodeOf(root, 'progress');
  const word = (node: Node | null, key: string) =>
    isMap(node) ? (wordsOf(nodeOf(node, key)) ?? undefined) : undefined;
  const total = Number(word(progress, 'phases_total'));
  const done = Number(word(progress, 'phases_completed'));
  const current = keyOf(word(position, 'phase'));
  const steps: ModelStep[] = [];
  for (let number = 1; Number.isSafeInteger(total) && number <= Math.min(total, 200); number++)
    if (String(number) !== current)
      steps.push({
        key: String(number),
        title: `Phase ${number}`,
        kind: 'phase',
        status: number <= done ? 'completed' : 'pending',
      });
  model.steps = steps;
  if (!isMap(position)) return;
  const words = position.items
    .map((pair) => `${wordsOf(pair.key as Node)}: ${wordsOf(pair.value as Node | null) ?? ''}`)
    .join('\n');
  const status = stepStatus(word(position, 'status') ?? '') ?? 'in_progress';
  model.position = { step: null, ...(words === '' ? {} : { words }) };
  if (current === null) return;
  const over = Number(current) <= done;
  const at = steps.findIndex((step) => Number(step.key) > Number(current));
  const path: ModelStep[] = [
    {
      key: current,
      title: word(position, 'phase_name') ?? `Phase ${current}`,
      kind: 'phase',
      status: over ? 'completed' : 'in_progress',
    },
  ];
  const plan = keyOf(word(position, 'plan'));
  if (plan !== null)
    path.push({
      key: `${current}-${plan}`,
      title: word(position, 'plan_name') ?? `Plan ${plan}`,
      kind: 'plan',
      parent: current,
      status: over ? 'completed' : 'in_progress',
    });
  const task = word(position, 'task');
  const wave = Number(word(position, 'wave'));
  if (task)
    path.push({
      key: taskKey(path.at(-1)?.key ?? current, task),
      title: task,
      kind: 'task',
      parent: path.at(-1)?.key ?? current,
      status,
    });
  const last = path.at(-1) as ModelStep;
  last.status = over && status === 'in_progress' ? 'completed' : status;
  if (Number.isSafeInteger(wave) && wave >= 0) last.wave = wave;
  const built = isMap(nodeOf(root, 'resume_context'))
    ? listOf(nodeOf(nodeOf(root, 'resume_context') as YAMLMap, 'key_implementations'))
    : [];
  if (built.length > 0) last.built = built;
  steps.splice(at < 0 ? steps.length : at, 0, ...path);
  model.position.step = last.key;
  const tasks = Number(word(progress, 'current_phase_tasks'));
  const tasksDone = Number(word(progress, 'current_phase_completed'));
  const named = last.key === current ? 0 : 1;
  if (Number.isSafeInteger(tasks) && Number.isSafeInteger(tasksDone) && tasks > named && tasksDone >= 0)
    model.kept = {
      ...model.kept,
      [COUNTED]: {
        phase: current,
        tasks,
        done: Math.max(0, tasksDone - (isOverStatus(last.status) ? named : 0)),
      } satisfies Counted,
    };
}

const isOverStatus = (status: ModelStep['status']): boolean => status === 'completed' || status === 'skipped';

/** A task is identified by its title, so its key is derived from it. */
export function taskKey(parent: string, title: string): string {
  const slug =
    title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 40) || 'task';
  return `${parent}.${slug}`;
}

function keyOf(words: string | undefined): string | null {
  const key = words?.trim() ?? '';
  return isName(key, '._', 20) ? key : null;
}

export type EntryFolder = 'decisions' | 'blockers' | 'sessions';

export function entryFolder(path: string): EntryFolder | null {
  return (
    (/(?:^|\/)(decisions|blockers|sessions)\/[^/]+\.(?:md|ya?ml)$/i.exec(path)?.[1]?.toLowerCase() as
      | EntryFolder
      | undefined) ?? null
  );
}

/** Reads one entry from its own file: YAML, front matter, or a page with headings named like the keys. */
function readEntryFile(reading: Reading, folder: EntryFolder, path: string, text: string): void {
  const page = readYamlPage(text);
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '');
  const root = page.root && page.errors.length === 0 ? page.root : null;
  const before =
    reading.decisions.length + reading.blockers.length + reading.sessions.length + reading.model.decisions.length;
  if (root && folder === 'decisions') add(reading.decisions, readDecision(root), page, path, root);
  if (root && folder === 'blockers')
    add(reading.blockers, withAlias(readBlocker(root), /^[a-z]+-\d+/i.exec(name)?.[0]), page, path, root);
  if (root && folder === 'sessions') add(reading.sessions, withAlias(readSession(root), name), page, path, root);
  if (before < reading.decisions.length + reading.blockers.length + reading.sessions.length) return;
  const prose = readProse(text);
  if (folder === 'decisions' && prose.get('decision')) {
    reading.loose.decisions.push({
      ...optional('context', prose.get('context')),
      decision: prose.get('decision') as string,
      ...optional('reason', prose.get('reason') ?? prose.get('rationale')),
      ...optional('at', /^\d{4}-\d\d-\d\d/.exec(name)?.[0]),
      status: 'active',
    });
  } else if (folder === 'blockers' && (prose.get('description') ?? prose.get('title'))) {
    const alias = labelOf(/^[a-z]+-\d+/i.exec(name)?.[0]);
    const status = /resolved|bypassed/i.exec(prose.get('status') ?? '')?.[0].toLowerCase();
    reading.loose.items.push({
      ...optional('alias', alias),
      kind: 'blocker',
      text: (prose.get('description') ?? prose.get('title')) as string,
      status: (status as 'resolved' | undefined) ?? 'active',
      ...optional('workaround', prose.get('workaround')),
    });
  } else if (folder === 'sessions' && text.trim() !== '') {
    reading.loose.sessions.push({
      ...optional('alias', labelOf(name)),
      status: 'completed',
      notes: [text.trim().slice(0, 300_000)],
    });
  } else
    reading.problems.push(
      problem('not_understood', 'warning', path, 1, `Nothing in this file could be read as one of the ${folder}.`),
    );
}

function withAlias<T extends { alias?: string | undefined }>(entry: T | null, alias: string | undefined): T | null {
  return entry && !entry.alias && labelOf(alias) ? { ...entry, alias: labelOf(alias) } : entry;
}

function readProse(text: string): Map<string, string> {
  const page = scanPage(text);
  const found = new Map<string, string>();
  for (const { title, level, line, bodyEnd } of page.headings) {
    const body = page.lines
      .slice(line + 1, bodyEnd)
      .map(bare)
      .join('\n')
      .trim();
    if (level === 1) {
      found.set('title', title);
      if (!found.has('decision')) found.set('decision', title.replace(/^decision:\s*/i, ''));
    } else if (body !== '') found.set(title.toLowerCase(), body);
  }
  return found;
}

function fill({ model, decisions, blockers, questions, sessions, loose }: Reading): void {
  model.decisions = [...decisions.map(({ value }) => value), ...loose.decisions];
  model.items = [...blockers.map(({ value }) => value), ...loose.items, ...questions];
  model.sessions = [...sessions.map(({ value }) => value), ...loose.sessions];
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
