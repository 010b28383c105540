import { isMap, type Node, type YAMLMap } from 'yaml';
import {
  type Account,
  type AccountDecision,
  type AccountItem,
  type AccountSession,
  type AccountStep,
  emptyAccount,
} from '../../core/account.ts';
import { isName } from '../../core/text.ts';
import type { Files, Found, Problem } from '../format.ts';
import { labelOf } from '../label.ts';
import { bare, conflictMarkers, elidedLines, scanMarkdown, splitLines } from '../markdown.ts';
import { stepStatus } from '../status-words.ts';
import { itemsOf, listOf, nodeOf, pairOf, problem, readYamlPage, wordsOf, type YamlPage } from './yaml-page.ts';

/** STATE.md with the files of its folder form: the account, and the node of YAML that says each record. */
export interface Reading {
  account: Account;
  page: YamlPage | null;
  decisions: Placed<AccountDecision>[];
  blockers: Placed<AccountItem>[];
  questions: AccountItem[];
  sessions: Placed<AccountSession>[];
  /** What is said in prose, or in a list of words: read, and left as it is. */
  loose: Pick<Account, 'decisions' | 'items' | 'sessions'>;
  /** Records lie in files of their own. */
  folders: boolean;
  problems: Problem[];
  writable: boolean;
}

export interface Placed<T> {
  value: T;
  page: YamlPage;
  path: string;
  node: YAMLMap;
}

export function readCodewalk(found: Found, files: Files): Reading {
  const text = files.get(found.main);
  const reading: Reading = {
    account: emptyAccount('Initiative'),
    page: text === undefined || text.trim() === '' ? null : readYamlPage(text),
    decisions: [],
    blockers: [],
    questions: [],
    sessions: [],
    loose: { decisions: [], items: [], sessions: [] },
    folders: [...files.keys()].some((path) => recordFolder(path) !== null),
    problems: [],
    writable: true,
  };
  if (text === undefined || text.trim() === '') {
    reading.problems.push(problem('empty', 'error', found.main, text === undefined ? null : 1, 'The file is empty.'));
  } else damage(reading, found.main, text);
  const root = reading.page?.root ?? null;
  if (reading.page && root) readRoot(reading, reading.page, root, found.main);
  else if (reading.page)
    reading.problems.push(problem('no_map', 'error', found.main, 1, 'The file holds no YAML with keys and values.'));
  for (const [path, record] of files) {
    const folder = recordFolder(path);
    if (folder) readRecordFile(reading, folder, path, record);
  }
  fill(reading);
  if (reading.page && root) contradictions(reading, reading.page, root, found.main);
  return reading;
}

function damage(reading: Reading, path: string, text: string): void {
  const report = (code: string, level: Problem['level'], line: number, message: string, stops: boolean) => {
    reading.problems.push(problem(code, level, path, line, message));
    if (stops) reading.writable = false;
  };
  const lines = splitLines(text);
  const zero = lines.findIndex((line) => line.includes('\0'));
  if (zero >= 0) report('binary', 'error', zero + 1, 'There are zero bytes in the file: it is not text.', true);
  for (const line of conflictMarkers(lines).slice(0, 20))
    report('conflict_markers', 'error', line + 1, 'A merge left its markers here.', true);
  for (const line of elidedLines(lines).slice(0, 20))
    report('elided', 'warning', line + 1, 'Something was left out here when the file was written.', false);
  for (const error of reading.page?.errors ?? [])
    report('not_yaml', 'error', Math.min(error.line, lines.length), error.message, true);
}

function readRoot(reading: Reading, page: YamlPage, root: YAMLMap, path: string): void {
  const { account } = reading;
  const seen = new Set<string>();
  for (const pair of root.items) {
    const key = wordsOf(pair.key as Node) ?? '';
    if (seen.has(key))
      reading.problems.push(
        problem('duplicate_key', 'warning', path, page.lineOf(pair.key), `"${key}" is there twice; the first counts.`),
      );
    seen.add(key);
  }
  const id = wordsOf(nodeOf(root, 'initiative'));
  const alias = labelOf(id);
  if (alias) account.run.alias = alias;
  account.run.title = wordsOf(nodeOf(root, 'title')) ?? id ?? 'Initiative';
  const next = wordsOf(nodeOf(root, 'next_action'));
  if (next) account.next = next.replace(/\s+$/, '');
  for (const node of mapsOf(root, 'decisions')) add(reading.decisions, readDecision(node), page, path, node);
  for (const node of mapsOf(root, 'blockers')) add(reading.blockers, readBlocker(node), page, path, node);
  for (const node of mapsOf(root, 'sessions')) add(reading.sessions, readSession(node), page, path, node);
  for (const node of itemsOf(nodeOf(root, 'decisions'))) {
    const words = wordsOf(node);
    if (words) reading.loose.decisions.push({ decision: words, status: 'active' });
  }
  const context = nodeOf(root, 'resume_context');
  if (isMap(context)) {
    account.files = unique(listOf(nodeOf(context, 'files_modified_this_session')))
      .filter((file) => file.length <= 4096)
      .map((file) => ({ path: file, change: 'modified' as const }));
    reading.questions = listOf(nodeOf(context, 'open_questions')).map((text) => ({
      kind: 'question',
      text,
      status: 'open',
    }));
  }
  readPosition(account, root);
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
    account.kept = {
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
  // One record without a list around it counts.
  if (isMap(node)) return [node as YAMLMap];
  return itemsOf(node).filter((item): item is YAMLMap & Node => isMap(item));
}

export function readDecision(node: YAMLMap): AccountDecision | null {
  const word = (key: string) => wordsOf(nodeOf(node, key)) ?? undefined;
  const decision = word('decision') ?? word('choice');
  if (decision === undefined) return null;
  const status = word('status');
  const reversible = word('reversible');
  return {
    ...optional('alias', labelOf(word('id'))),
    ...optional('context', word('context')),
    decision,
    ...optional('reason', word('reason') ?? word('rationale')),
    ...filled('alternatives', listOf(nodeOf(node, 'alternatives_considered'))),
    ...(reversible === 'false' ? { irreversible: true } : {}),
    ...optional('at', word('date')?.slice(0, 200)),
    status: status === 'superseded' || status === 'retracted' ? status : 'active',
  };
}

export function readBlocker(node: YAMLMap): AccountItem | null {
  const word = (key: string) => wordsOf(nodeOf(node, key)) ?? undefined;
  const text = word('description') ?? word('title');
  if (text === undefined) return null;
  const status = word('status')?.toLowerCase();
  const resolution = word('resolution');
  return {
    ...optional('alias', labelOf(word('id'))),
    kind: 'blocker',
    text,
    status:
      status === 'bypassed'
        ? 'bypassed'
        : status === 'resolved' || (status === undefined && resolution)
          ? 'resolved'
          : 'active',
    ...filled('affects', listOf(nodeOf(node, 'affects'))),
    ...optional('workaround', word('workaround')),
    ...filled('followUp', taskKeys(nodeOf(node, 'workaround_tasks'))),
    ...optional('raisedAt', (word('identified_at') ?? word('blocked_since'))?.slice(0, 200)),
    ...optional('settledAt', word('resolved_at')?.slice(0, 200)),
    ...optional('resolution', resolution),
  };
}

/** `- task-abc: "Apply final styles"`: the key of the one pair. */
function taskKeys(node: Node | null): string[] {
  return itemsOf(node)
    .map((item) => (isMap(item) ? wordsOf(item.items[0]?.key as Node) : wordsOf(item)) ?? '')
    .filter((key) => isName(key, '._-', 64));
}

const sessionStatuses = [
  'active',
  'completed',
  'context-exhausted',
  'timeout',
  'maintainer-directed',
  'crashed',
  'superseded',
] as const;

export function readSession(node: YAMLMap): AccountSession | null {
  const word = (key: string) => wordsOf(nodeOf(node, key)) ?? undefined;
  const alias = labelOf(word('id'));
  const started = word('started');
  if (alias === undefined && started === undefined && word('agent') === undefined) return null;
  const said = sessionStatuses.find((status) => status === word('status')?.toLowerCase());
  const reason = word('handoff_reason');
  const usage = Number(word('context_usage')?.replace('%', ''));
  const share = word('context_usage')?.includes('%') || usage > 1 ? usage : usage * 100;
  const notes = listOf(nodeOf(node, 'notes'));
  const resumed = /^Resuming from (\S{1,100}?)(?: crash)?\.?$/i.exec(notes.length === 1 ? (notes[0] as string) : '');
  return {
    ...optional('alias', alias),
    ...optional('agent', word('agent')?.slice(0, 200)),
    status: said ?? (reason && /context/i.test(reason) ? 'context-exhausted' : word('ended') ? 'completed' : 'active'),
    ...optional('startedAt', started?.slice(0, 200)),
    ...optional('endedAt', word('ended')?.slice(0, 200)),
    ...optional('continues', labelOf(resumed?.[1])),
    ...filled('completed', listOf(nodeOf(node, 'completed'))),
    ...optional('workingOn', word('working_on')),
    ...filled('notes', resumed ? [] : notes),
    ...filled('issues', listOf(nodeOf(node, 'issues'))),
    ...(share >= 0 && share <= 100 ? { contextUsage: share } : {}),
    ...optional('why', reason),
  };
}

/** Phases by number, the current one with its plan and task. */
function readPosition(account: Account, root: YAMLMap): void {
  const position = nodeOf(root, 'position');
  const progress = nodeOf(root, 'progress');
  const word = (node: Node | null, key: string) =>
    isMap(node) ? (wordsOf(nodeOf(node, key)) ?? undefined) : undefined;
  const total = Number(word(progress, 'phases_total'));
  const done = Number(word(progress, 'phases_completed'));
  const current = keyOf(word(position, 'phase'));
  const steps: AccountStep[] = [];
  for (let number = 1; Number.isSafeInteger(total) && number <= Math.min(total, 200); number++)
    if (String(number) !== current)
      steps.push({
        key: String(number),
        title: `Phase ${number}`,
        kind: 'phase',
        status: number <= done ? 'completed' : 'pending',
      });
  account.steps = steps;
  if (!isMap(position)) return;
  const words = position.items
    .map((pair) => `${wordsOf(pair.key as Node)}: ${wordsOf(pair.value as Node | null) ?? ''}`)
    .join('\n');
  const status = stepStatus(word(position, 'status') ?? '') ?? 'in_progress';
  account.position = { step: null, ...(words === '' ? {} : { words }) };
  if (current === null) return;
  const over = Number(current) <= done;
  const at = steps.findIndex((step) => Number(step.key) > Number(current));
  const path: AccountStep[] = [
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
  const last = path.at(-1) as AccountStep;
  last.status = over && status === 'in_progress' ? 'completed' : status;
  if (Number.isSafeInteger(wave) && wave >= 0) last.wave = wave;
  const built = isMap(nodeOf(root, 'resume_context'))
    ? listOf(nodeOf(nodeOf(root, 'resume_context') as YAMLMap, 'key_implementations'))
    : [];
  if (built.length > 0) last.built = built;
  steps.splice(at < 0 ? steps.length : at, 0, ...path);
  account.position.step = last.key;
}

/** A task is known by its title; its key is made of it. */
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

export type RecordFolder = 'decisions' | 'blockers' | 'sessions';

export function recordFolder(path: string): RecordFolder | null {
  return (
    (/(?:^|\/)(decisions|blockers|sessions)\/[^/]+\.(?:md|ya?ml)$/i.exec(path)?.[1]?.toLowerCase() as
      | RecordFolder
      | undefined) ?? null
  );
}

/** One record in its file: YAML, front matter, or a page with headings named like the keys. */
function readRecordFile(reading: Reading, folder: RecordFolder, path: string, text: string): void {
  const page = readYamlPage(text);
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '');
  const root = page.root && page.errors.length === 0 ? page.root : null;
  const before =
    reading.decisions.length + reading.blockers.length + reading.sessions.length + reading.account.decisions.length;
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
      problem('not_understood', 'warning', path, 1, `This file says nothing that reads as one of the ${folder}.`),
    );
}

function withAlias<T extends { alias?: string | undefined }>(record: T | null, alias: string | undefined): T | null {
  return record && !record.alias && labelOf(alias) ? { ...record, alias: labelOf(alias) } : record;
}

function readProse(text: string): Map<string, string> {
  const page = scanMarkdown(text);
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

function fill({ account, decisions, blockers, questions, sessions, loose }: Reading): void {
  account.decisions = [...decisions.map(({ value }) => value), ...loose.decisions];
  account.items = [...blockers.map(({ value }) => value), ...loose.items, ...questions];
  account.sessions = [...sessions.map(({ value }) => value), ...loose.sessions];
}

function contradictions({ account, problems }: Reading, page: YamlPage, root: YAMLMap, path: string): void {
  const progress = nodeOf(root, 'progress');
  const warn = (code: string, node: unknown, message: string) =>
    problems.push(problem(code, 'warning', path, page.lineOf(node), message));
  const count = (key: string) =>
    isMap(progress)
      ? { node: nodeOf(progress, key), value: Number(wordsOf(nodeOf(progress, key)) ?? Number.NaN) }
      : { node: null, value: Number.NaN };
  for (const [done, all] of [
    ['phases_completed', 'phases_total'],
    ['current_phase_completed', 'current_phase_tasks'],
  ] as const) {
    if (count(done).value > count(all).value)
      warn(
        'completed_above_total',
        count(done).node,
        `${done} is ${count(done).value}, ${all} is ${count(all).value}.`,
      );
  }
  const bar = isMap(progress) ? nodeOf(progress, 'bar') : null;
  const percent = Number(/(\d+)\s*%/.exec(wordsOf(bar) ?? '')?.[1] ?? Number.NaN);
  if (percent > 100) warn('percent_above_100', bar, `${percent} % is more than all.`);
  const phases = count('phases_total').value;
  const share =
    (count('phases_completed').value +
      (count('current_phase_completed').value / count('current_phase_tasks').value || 0)) /
    phases;
  if (Math.abs(percent - Math.round(100 * share)) > 1)
    warn('percent_disagrees', bar, `The bar says ${percent} %; the counters give ${Math.round(100 * share)} %.`);
  const active = account.sessions.filter(({ status }) => status === 'active');
  if (active.length > 1)
    warn('two_active_sessions', nodeOf(root, 'sessions'), `${active.length} sessions are active at once.`);
  for (const { alias, startedAt, endedAt } of account.sessions)
    if (startedAt && endedAt && endedAt < startedAt && startedAt.length === endedAt.length)
      warn('ended_before_started', nodeOf(root, 'sessions'), `${alias ?? 'A session'} ended before it started.`);
  const ids = new Set<string>();
  for (const { alias } of account.items) {
    if (alias && ids.has(alias)) warn('duplicate_id', nodeOf(root, 'blockers'), `The id ${alias} is there twice.`);
    if (alias) ids.add(alias);
  }
  if (!pairOf(root, 'position')) warn('no_position', null, 'Nothing says where the work stands.');
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

function filled<K extends string>(key: K, value: string[]): { [P in K]?: string[] } {
  return value.length === 0 ? {} : ({ [key]: value } as { [P in K]?: string[] });
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
