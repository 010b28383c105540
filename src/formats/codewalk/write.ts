import { isMap, type Node, type YAMLMap } from 'yaml';
import type { ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { currentStepOf } from '../current-step.ts';
import { blockerEntries, decisionEntries, sessionEntries } from './model-entries.ts';
import { progressBar, progressOf } from './progress.ts';
import type { Placed, Reading } from './reading.ts';
import { type Entries, editList, entries, fromJson, renderEntries, setKey, type Value } from './write-yaml.ts';
import { nodeOf, type Splice, type YamlPage } from './yaml-page.ts';

export function renderNew(model: RunModel): string {
  const current = currentStepOf(model);
  const progress = progressOf(model, current);
  const kept = model.kept?.['codewalk'];
  const parts: [string, Entries][] = [
    [
      'STATE.md',
      entries(['initiative', model.run.alias ?? model.run.id ?? slug(model.run.title)], ['title', model.run.title]),
    ],
    ['Current Position', entries(['position', positionEntries(model, current)])],
    [
      'Progress Tracking',
      entries([
        'progress',
        entries(
          ['phases_total', progress.total],
          ['phases_completed', progress.done],
          ['current_phase_tasks', progress.tasks],
          ['current_phase_completed', progress.tasksDone],
          ['bar', progressBar(progress.percent)],
        ),
      ]),
    ],
    ['Decisions Made', entries(['decisions', model.decisions.map(decisionEntries)])],
    [
      'Active Blockers',
      entries([
        'blockers',
        model.items
          .filter(isBlocker)
          .map((item, index) => blockerEntries(item, model, `block-${String(index + 1).padStart(3, '0')}`)),
      ]),
    ],
    [
      'Session History',
      entries([
        'sessions',
        model.sessions.map((session, index) =>
          sessionEntries(session, model.sessions, `session-${String(index + 1).padStart(3, '0')}`),
        ),
      ]),
    ],
    ...(model.next ? [['Next Action', entries(['next_action', model.next])] as [string, Entries]] : []),
    [
      'Context for Resume',
      entries([
        'resume_context',
        entries(
          ['files_modified_this_session', model.files.map(({ path }) => path)],
          ['key_implementations', builtOf(model, current)],
          ['open_questions', model.items.filter(isOpenQuestion).map(({ text }) => text)],
        ),
      ]),
    ],
    ...(typeof kept === 'object' && kept !== null
      ? Object.entries(kept).map(([key, value]): [string, Entries] => ['Also', entries([key, fromJson(value)])])
      : []),
  ];
  return `${parts.map(([title, pairs]) => `# ${title}\n${renderEntries(pairs, 0)}`).join('\n\n')}\n`;
}

/** The splices that update the document to a run model. `format.ts` writes entries that have their own files. */
export function editDocument(reading: Reading, model: RunModel, changes: EntryChanges): Splice[] {
  const { page } = reading;
  const root = page?.root;
  if (!page || !root) return [];
  const before = reading.model;
  const splices: Splice[] = [];
  if (model.run.title !== before.run.title) splices.push(...setKey(page, root, 'title', model.run.title));
  if ((model.next ?? '') !== (before.next ?? ''))
    splices.push(...setKey(page, root, 'next_action', model.next ?? null));
  splices.push(...editPosition(reading, model, page, root));
  for (const { placed, splices: at } of changes.changed) if (placed.page === page) splices.push(...at);
  for (const key of ['decisions', 'blockers', 'sessions'] as const)
    splices.push(...editList(page, root, key, changes.removed, reading.folders ? [] : changes[key]));
  splices.push(...editContext(reading, model, page, root));
  return splices;
}

function editPosition(reading: Reading, model: RunModel, page: YamlPage, root: YAMLMap): Splice[] {
  const now = currentStepOf(model);
  const was = currentStepOf(reading.model);
  const step = model.steps.find(({ key }) => key === now);
  const old = reading.model.steps.find(({ key }) => key === was);
  const splices: Splice[] = [];
  const position = nodeOf(root, 'position');
  if (step && (now !== was || step.status !== old?.status || step.title !== old?.title)) {
    const fresh = positionEntries(model, now);
    if (isMap(position)) {
      const said = new Map(fresh);
      for (const [key, value] of fresh) splices.push(...changeKey(page, position, key, value));
      for (const key of ['plan', 'plan_name', 'task', 'wave'])
        if (!said.has(key) && nodeOf(position, key)) splices.push(...setKey(page, position, key, undefined));
    } else splices.push(...setKey(page, root, 'position', fresh as Value));
  }
  const progress = nodeOf(root, 'progress');
  const after = progressOf(model, now);
  const before = progressOf(reading.model, was);
  // A file that says what the run says keeps its own counters, right or wrong.
  if (!isMap(progress) || JSON.stringify(after) === JSON.stringify(before)) return splices;
  const counters: [string, Value][] = [
    ['phases_total', after.total],
    ['phases_completed', after.done],
    ['current_phase_tasks', after.tasks],
    ['current_phase_completed', after.tasksDone],
    ['bar', progressBar(after.percent)],
  ];
  for (const [key, value] of counters)
    if (nodeOf(progress, key)) splices.push(...changeKey(page, progress, key, value));
  return splices;
}

/** Changes an existing key only if its value differs. */
function changeKey(page: YamlPage, map: YAMLMap, key: string, value: Value): Splice[] {
  const node = nodeOf(map, key);
  return node && JSON.stringify(node.toJSON()) === JSON.stringify(value) ? [] : setKey(page, map, key, value);
}

function positionEntries(model: RunModel, current: string | null): Entries {
  const byKey = new Map(model.steps.map((step) => [step.key, step]));
  const step = current === null ? undefined : byKey.get(current);
  if (!step) return entries(['status', 'pending']);
  const path = [step];
  for (let above = byKey.get(step.parent ?? ''); above && !path.includes(above); above = byKey.get(above.parent ?? ''))
    path.unshift(above);
  const phase = path[0] as ModelStep;
  const plan = path.length > 1 && path[1]?.kind === 'plan' ? path[1] : undefined;
  const task = path.length > 1 && step !== plan ? step : undefined;
  const roots = model.steps.filter(({ parent }) => parent === undefined || !byKey.has(parent));
  const siblings = model.steps.filter(({ parent, kind }) => parent === phase.key && kind === 'plan');
  return entries(
    ['phase', numbered(phase.key, roots.indexOf(phase) + 1)],
    ['phase_name', phase.title],
    ['plan', plan ? numbered(/^.+-(\d+)$/.exec(plan.key)?.[1] ?? '', siblings.indexOf(plan) + 1) : undefined],
    ['plan_name', plan?.title],
    ['task', task?.title],
    ['wave', step.wave],
    ['status', step.status],
  );
}

/** A phase whose key is a number keeps it, also an inserted one: `2.1`. */
function numbered(key: string, ordinal: number): Value {
  if (/^\d+$/.test(key)) return Number(key);
  return /^\d+\.\d+$/.test(key) ? key : ordinal;
}

export const isBlocker = (item: ModelItem): boolean => item.kind === 'blocker';

function isOpenQuestion(item: ModelItem): boolean {
  return item.kind === 'question' && item.status === 'open';
}

function builtOf(model: RunModel, current: string | null): string[] {
  return [...(model.steps.find(({ key }) => key === current)?.built ?? [])];
}

export interface EntryChanges {
  /** By the file that holds each entry. */
  changed: { placed: Placed<unknown>; splices: Splice[] }[];
  removed: ReadonlySet<Node>;
  decisions: Entries[];
  blockers: Entries[];
  sessions: Entries[];
}

/** Compares the entries: changes at their nodes, removed ones and new ones. */
export function entryChanges(reading: Reading, model: RunModel): EntryChanges {
  const { loose } = reading;
  const decisions = matched(
    reading.decisions,
    without(model.decisions, loose.decisions, (one) => one.decision),
    (one) => [one.alias ?? '', one.decision],
    decisionEntries,
  );
  const blockers = matched(
    reading.blockers,
    without(model.items.filter(isBlocker), loose.items, (one) => one.text),
    (one) => [one.alias ?? '', one.text],
    (item) => withoutId(blockerEntries(item, model, '')),
  );
  const sessions = matched(
    reading.sessions,
    without(model.sessions, loose.sessions, (one) => one.alias ?? ''),
    (one) => [one.alias ?? '', `${one.startedAt} ${one.agent}`],
    (session) => withoutId(sessionEntries(session, model.sessions, '')),
  );
  const nextBlock = nextId(
    'block',
    reading.model.items.map(({ alias }) => alias),
  );
  const nextSession = nextId(
    'session',
    reading.model.sessions.map(({ alias }) => alias),
  );
  return {
    changed: [...decisions.changed, ...blockers.changed, ...sessions.changed],
    removed: new Set([...decisions.removed, ...blockers.removed, ...sessions.removed]),
    decisions: decisions.added.map(decisionEntries),
    blockers: blockers.added.map((item) => blockerEntries(item, model, nextBlock())),
    sessions: sessions.added.map((session) => sessionEntries(session, model.sessions, nextSession())),
  };
}

function withoutId(pairs: Entries): Entries {
  return pairs.filter(([key]) => key !== 'id');
}

function without<T>(all: readonly T[], others: readonly T[], words: (entry: T) => string): T[] {
  if (others.length === 0) return [...all];
  const left = new Set(others.map(words));
  return all.filter((entry) => !left.delete(words(entry)));
}

/** Ids that continue after the highest. */
export function nextId(prefix: string, aliases: readonly (string | undefined)[]): () => string {
  let last = Math.max(
    0,
    ...aliases.slice(-10_000).map((alias) => Number(new RegExp(`^${prefix}-(\\d{1,9})`).exec(alias ?? '')?.[1] ?? 0)),
  );
  return () => {
    last += 1;
    return `${prefix}-${String(last).padStart(3, '0')}`;
  };
}

/** Matches each entry with its node. Keys whose value differs are changed there, others are left alone. */
function matched<T extends object>(
  before: readonly Placed<T>[],
  after: readonly T[],
  names: (entry: T) => readonly [string, string],
  fresh: (entry: T) => Entries,
): { added: T[]; removed: Node[]; changed: { placed: Placed<T>; splices: Splice[] }[] } {
  const byAlias = new Map<string, number[]>();
  const byWords = new Map<string, number[]>();
  for (let index = before.length - 1; index >= 0; index--) {
    const [alias, words] = names((before[index] as Placed<T>).value);
    if (alias !== '') byAlias.set(alias, [index]);
    const there = byWords.get(words);
    if (there) there.push(index);
    else byWords.set(words, [index]);
  }
  const taken = new Set<number>();
  const take = (list: number[] | undefined): number | undefined => {
    for (let index = list?.pop(); index !== undefined; index = list?.pop()) if (!taken.has(index)) return index;
    return undefined;
  };
  const added: T[] = [];
  const changed: { placed: Placed<T>; splices: Splice[] }[] = [];
  for (const entry of after) {
    const [alias, words] = names(entry);
    const index = take(byAlias.get(alias)) ?? take(byWords.get(words));
    if (index === undefined) {
      added.push(entry);
      continue;
    }
    taken.add(index);
    const placed = before[index] as Placed<T>;
    const splices = changesOf(placed, fresh(placed.value), fresh(entry));
    if (splices.length > 0) changed.push({ placed, splices });
  }
  const removed = before.flatMap(({ node }, index) => (taken.has(index) ? [] : [node]));
  return { added, removed, changed };
}

function changesOf<T>({ page, node }: Placed<T>, before: Entries, after: Entries): Splice[] {
  const old = new Map(before);
  const splices: Splice[] = [];
  for (const [key, value] of after)
    if (JSON.stringify(old.get(key) ?? null) !== JSON.stringify(value ?? null))
      splices.push(...setKey(page, node, spelled(node, key), value));
  const kept = new Set(after.map(([key]) => key));
  for (const [key] of before) if (!kept.has(key)) splices.push(...setKey(page, node, spelled(node, key), undefined));
  return splices;
}

/** The short form of a blocker has another key for its start. */
function spelled(node: YAMLMap, key: string): string {
  return key === 'identified_at' && nodeOf(node, 'blocked_since') ? 'blocked_since' : key;
}

function editContext(reading: Reading, model: RunModel, page: YamlPage, root: YAMLMap): Splice[] {
  const before = reading.model;
  // What was built stays listed when the work moves on.
  const built = builtOf(before, currentStepOf(before));
  const lists: [string, string[], string[]][] = [
    ['files_modified_this_session', before.files.map(({ path }) => path), model.files.map(({ path }) => path)],
    [
      'key_implementations',
      built,
      [...new Set([...built, ...builtOf(model, currentStepOf(before)), ...builtOf(model, currentStepOf(model))])],
    ],
    [
      'open_questions',
      reading.questions.map(({ text }) => text),
      model.items.filter(isOpenQuestion).map(({ text }) => text),
    ],
  ];
  const changed = lists.filter(([, old, now]) => JSON.stringify(old) !== JSON.stringify(now));
  if (changed.length === 0) return [];
  const context = nodeOf(root, 'resume_context');
  if (!isMap(context))
    return setKey(page, root, 'resume_context', entries(...lists.map(([key, , now]) => [key, now] as const)) as Value);
  return changed.flatMap(([key, , now]) => setKey(page, context, key, now));
}

function slug(title: string): string {
  return `init-${
    title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 40) || 'run'
  }`;
}
