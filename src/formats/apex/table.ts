import type { ModelDecision, ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { oneLine } from '../../core/text.ts';
import { isObject } from '../is-object.ts';
import { itemsOf, type ListNode, type Node, plain } from '../text/node.ts';
import { REMOVED, type Row, type Value } from '../text/rows.ts';
import {
  asPath,
  asText,
  asWho,
  asWords,
  count,
  editList,
  label,
  listOf,
  momentOf,
  oneOf,
  seconds,
  text,
  textOrJson,
  who,
} from '../text/values.ts';
import { agentKey, agentText } from './agents.ts';
import { stepKey, stepNumber, stepStatus } from './steps.ts';

/** What a row can need beside its entry. */
export interface About {
  model: RunModel;
  /** What the file says; null for a new one. */
  before: RunModel | null;
  /** The infrastructure language, if one was chosen. */
  tool: string;
  now: string;
  /** The name of the folder. */
  project: string;
  /** The number of the current step, and whether a step moved. */
  current: number | null;
  moved: boolean;
}

/** The newest active decision for each key. */
export function activeValues(decisions: readonly ModelDecision[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const { key, status, decision } of decisions)
    if (key !== undefined && key !== ORDER_OVERRIDES && (status ?? 'active') === 'active') values.set(key, decision);
  return values;
}

/** The value of a key that a decision has changed since the file was written. */
function chosen(key: string, { model, before }: About): string | undefined {
  const value = activeValues(model.decisions).get(key);
  return before && activeValues(before.decisions).get(key) === value ? undefined : value;
}

/** A run is completed when its steps are. Only an extra key, which some files have, can say that it was abandoned. */
export function derivedStatus(steps: readonly ModelStep[]): RunModel['run']['status'] {
  const done = steps.length > 0 && steps.every(({ status }) => status === 'completed' || status === 'skipped');
  return done ? 'completed' : 'active';
}

const runStatus = oneOf(
  (word) => (['active', 'completed', 'abandoned', 'archived'] as const).find((one) => one === word.toLowerCase()),
  { active: 'active', completed: 'completed', abandoned: 'abandoned', archived: 'archived' },
);

export const DEFAULT_REGION = 'swedencentral';
const DEFAULT_BRANCH = 'main';

export const runRows: readonly Row<RunModel['run'], About>[] = [
  {
    ...{
      at: 'title',
      is: 'title',
      as: text,
      says: 'Where it differs from `project`, which is the name of the folder.',
    },
    when: ({ title }, { project }) => title !== project,
  },
  {
    ...{ at: 'workflow_status', is: 'status', as: runStatus, says: 'Only where it does not follow from the steps.' },
    when: ({ status }, { model }) => status !== derivedStatus(model.steps),
  },
  {
    ...{ at: 'iac_tool', is: '=', as: text, says: 'The decision with this key; it also names the agents.', fresh: '' },
    value: (_, about) => chosen('iac_tool', about),
  },
  {
    ...{ at: 'region', is: '=', as: text, says: 'The decision with this key.', fresh: DEFAULT_REGION },
    value: (_, about) => chosen('region', about),
  },
  {
    ...{ at: 'branch', is: 'branch', as: text, says: 'The branch of git.', fresh: DEFAULT_BRANCH },
    when: (_, { before }) => before === null,
  },
  {
    ...{
      at: 'current_step',
      is: '=',
      as: count,
      says: 'The whole number of the current step; never trusted.',
      fresh: 0,
    },
    value: (_, { current, moved }) => (moved && current !== null ? current : undefined),
  },
];

/** When the run last changed, so that writing it again gives the same bytes; now, if the file says a later time. */
export function stampOf(model: RunModel, before: RunModel | null, now: string): string {
  const said = model.run.updatedAt;
  return said !== undefined && (momentOf(said) ?? 0) > (momentOf(before?.run.updatedAt) ?? 0) ? said : now;
}

/** Written with every other change, and never alone. */
export const stampRow: Row<RunModel['run'], About> = {
  ...{ at: 'updated', is: 'updatedAt', as: seconds, says: 'With every change.' },
  value: (_, { model, before, now }) => stampOf(model, before, now),
};

/** Read, and only edited where a file has it. */
export const createdRow: Row<RunModel['run'], About> = {
  ...{ at: 'created', is: 'openedAt', as: seconds, says: 'Where a file has it.', isForeign: true, when: () => false },
};

const barred: Value = {
  read: (raw) => {
    const names = typeof raw === 'string' ? raw.split(/\s+\|\s+/).flatMap((name) => asWho(name) ?? []) : [];
    return names.length > 0 ? names : undefined;
  },
  write: (value: string, like) => (typeof like === 'string' && agentKey(like) === agentKey(value) ? like : value),
};

/** The format has no status for a failed step; it is written as not done, with an outcome. */
const stepWords = {
  ...{ pending: 'pending', in_progress: 'in_progress', completed: 'complete' },
  ...{ failed: 'in_progress', skipped: 'skipped' },
} as const;

const STEP_KINDS = ['phase', 'plan', 'task', 'step'] as const;

const hasMoved = (step: ModelStep, was: ModelStep | null): boolean => was !== null && step.status !== was.status;
const isOver = ({ status }: ModelStep): boolean => status === 'completed' || status === 'skipped';
const isBegun = ({ status }: ModelStep): boolean => status === 'in_progress' || status === 'failed';

export const stepRows: readonly Row<ModelStep, About>[] = [
  { at: 'name|title', is: 'title', as: text, says: 'Its title.' },
  {
    ...{ at: 'kind', is: 'kind', says: 'Where it is not a step.' },
    as: { read: (raw) => STEP_KINDS.find((kind) => kind === raw), write: (kind: string) => kind },
    when: ({ kind }) => kind !== 'step',
  },
  {
    ...{ at: 'agent', is: 'agents', as: barred, says: '`a | b` are two. Empty until a language is chosen.', fresh: '' },
    value: (step, { tool }, was) =>
      step.agents === undefined && was !== null
        ? undefined
        : (agentText(step, tool, was?.agents?.join(' | ')) ?? undefined),
  },
  {
    ...{ at: 'status', is: 'status', says: 'Also `not_started`, `done`, `blocked` and other words are read.' },
    as: oneOf(stepStatus, stepWords),
  },
  {
    ...{ at: 'outcome', is: '=', as: text, says: '`failed` on a step in progress; gone after a retry.' },
    value: ({ status }, _, was) =>
      status === 'failed' ? 'failed' : was === null || was.status === 'failed' ? REMOVED : undefined,
  },
  {
    ...{
      at: 'sub_step',
      is: 'checkpoint',
      as: text,
      says: 'The checkpoint reached last; null when the step ends.',
      fresh: null,
    },
    clears: (step, was) => (hasMoved(step, was) || step.status === 'in_progress' ? null : undefined),
  },
  {
    ...{ at: 'started', is: 'startedAt', as: seconds, says: 'When it was started.', fresh: null },
    value: (step, { now }, was) =>
      step.startedAt ?? (hasMoved(step, was) && isBegun(step) && was?.startedAt === undefined ? now : undefined),
    clears: (step, was) => (hasMoved(step, was) && step.status === 'pending' ? null : undefined),
  },
  {
    ...{ at: 'completed', is: 'endedAt', as: seconds, says: 'When it ended; null for a failed step.', fresh: null },
    value: (step, { now }, was) => {
      if (!isOver(step)) return undefined;
      const isNew = hasMoved(step, was) && step.status === 'completed' && was?.endedAt === undefined;
      return step.endedAt ?? (isNew ? now : undefined);
    },
    clears: (step, was) => (hasMoved(step, was) && step.status !== 'completed' ? null : undefined),
  },
  {
    ...{ at: 'artifacts|artifact', is: 'artifacts', says: 'Its files, those of its checkpoints too.', fresh: [] },
    as: {
      // A step with an empty list states that there are none.
      read: (raw) => {
        const entries: unknown[] = Array.isArray(raw) ? raw : [raw];
        const paths = entries.flatMap(
          (entry) => asPath(isObject(entry) ? (entry['path'] ?? entry['file'] ?? entry['name']) : entry) ?? [],
        );
        return raw === '' ? undefined : paths.map((path) => ({ path }));
      },
      write: (files: readonly { path: string }[], like) =>
        typeof like === 'string' && files.length === 1 ? files[0]?.path : files.map(({ path }) => path),
      edit: (editor, map, key, there, files: readonly { path: string }[]) => {
        const paths = files.map(({ path }) => path);
        if (there?.type === 'list') editList(editor, there, spelledAs(paths, there), pathIn);
        else if (there && paths.length > 1) {
          editor.removeKey(map, key);
          editor.set(map, 'artifacts', paths);
        } else editor.set(map, key, there && paths.length === 1 ? paths[0] : paths);
      },
    },
  },
  {
    ...{ at: 'context_files_used', is: 'contextRead', as: listOf(asPath), fresh: [] },
    says: 'The files read between its start and its first checkpoint.',
  },
];

function pathIn(item: Node): string | undefined {
  const value = plain(item);
  const path = isObject(value) ? (value['path'] ?? value['file'] ?? value['name']) : value;
  return asPath(path);
}

/** The same file may be given relative to the project folder in the file and to the workspace here. */
function spelledAs(paths: readonly string[], list: ListNode): string[] {
  const there = new Set(itemsOf(list).flatMap((item) => pathIn(item) ?? []));
  const ours = new Set(paths);
  const byName = new Map([...there].filter((path) => !ours.has(path)).map((path) => [nameOf(path), path]));
  return paths.map((path) => {
    const other = there.has(path) ? undefined : byName.get(nameOf(path));
    return other !== undefined && path.endsWith(`/${other}`) ? other : path;
  });
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** A number as in the official shape, unless the file writes text (`"3_5"`). */
const stepRef: Value = {
  read: (raw) => (typeof raw === 'string' || typeof raw === 'number' ? stepKey(String(raw)) : undefined),
  write: (value: string, like) => {
    const number = stepNumber(value);
    return typeof like === 'string' || !Number.isFinite(number) ? value : number;
  },
};

/** Every entry of the decision log needs a title, also a decision without one. */
export const titleFor = (words: string): string => oneLine(words, 80);

const decisionStatus: Value = {
  read: (raw) => {
    const word = typeof raw === 'string' ? raw.toLowerCase() : '';
    if (word === 'superseded') return 'superseded';
    return /^(retracted|rejected|withdrawn)$/.test(word) ? 'retracted' : 'active';
  },
  write: (value: string, like) =>
    typeof like === 'string' && decisionStatus.read(like, null) === value
      ? like
      : value === 'active'
        ? 'confirmed'
        : value,
};

export const logRows: readonly Row<ModelDecision, About>[] = [
  { at: 'id', is: 'alias', as: label, says: '`D001`, `D002` …', isFixed: true },
  { at: 'step', is: 'step', as: stepRef, says: 'A number, or text where the file writes text.', isFixed: true },
  { at: 'agent|decided_by', is: 'by', as: who, says: 'Who decided.', fresh: '', isFixed: true },
  {
    ...{ at: 'title|context', is: 'context', as: text, says: 'What needed a decision.', isFixed: true },
    fresh: ({ decision }: ModelDecision) => titleFor(decision),
  },
  { at: 'choice|decision|value|title', is: 'decision', as: textOrJson, says: 'What was decided.' },
  { at: 'rationale|reason', is: 'reason', as: text, says: 'Why.', fresh: '', when: () => true },
  { at: 'key', is: 'key', as: label, says: 'Its name in `decisions`.', isFixed: true },
  { at: 'alternatives', is: 'alternatives', as: listOf(asWords), says: 'What was rejected.', isFixed: true },
  {
    ...{ at: 'impact', is: 'affects', says: 'What it affects; one is written alone.', isFixed: true },
    as: {
      read: listOf(asWords).read,
      write: (value: readonly string[], like) => (value.length === 1 && !Array.isArray(like) ? value[0] : value),
    },
  },
  { at: 'supersedes', is: 'supersedes', as: label, says: 'The decision it replaces.', isFixed: true },
  {
    ...{ at: 'status', is: 'status', as: decisionStatus, says: 'Where it is not in force.' },
    when: ({ status }) => (status ?? 'active') !== 'active',
  },
  { at: 'timestamp', is: 'at', as: seconds, says: 'When.', isFixed: true },
];

/** `decisions.order_overrides`: the steps that a person started out of order, each a decision with this key. */
export const ORDER_OVERRIDES = 'order_overrides';

export const overrideRows: readonly Row<ModelDecision, About>[] = [
  { at: 'step', is: 'step', as: { ...stepRef, write: (value: string) => value }, says: 'The step.' },
  { at: 'problem', is: 'context', as: text, says: 'What was in the way.' },
  { at: 'reason', is: 'reason', as: text, says: 'Why it was started anyway.' },
  { at: 'recorded', is: 'at', as: seconds, says: 'When.' },
];

/** `decision_log` has three shapes, all official: agents and the validator use A, the command line B, the manual C. */
export const LOG_SHAPES = {
  A: [
    'id',
    'step',
    'agent',
    'title',
    'choice',
    'rationale',
    'key',
    'alternatives',
    'impact',
    'supersedes',
    'status',
    'timestamp',
  ],
  B: [
    'decision',
    'timestamp',
    'rationale',
    'step',
    'context',
    'agent',
    'key',
    'alternatives',
    'impact',
    'supersedes',
    'status',
  ],
  C: [
    'step',
    'key',
    'alternatives',
    'impact',
    'supersedes',
    'status',
    'value',
    'reason',
    'title',
    'agent',
    'timestamp',
  ],
} as const;
export type LogShape = keyof typeof LOG_SHAPES;

function severityOf(raw: unknown): NonNullable<ModelItem['severity']> | undefined {
  if (typeof raw !== 'string') return undefined;
  const word = raw
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  if (/^(must_fix|critical|high|blocker|severe)$/.test(word)) return 'must_fix';
  if (/^(should_fix|medium|moderate|major)$/.test(word)) return 'should_fix';
  return /^(suggestion|low|minor|info|nit)$/.test(word) ? 'suggestion' : undefined;
}

/** In words, or in the grades that the file uses. */
const severity: Value = {
  read: severityOf,
  write: (value: 'must_fix' | 'should_fix' | 'suggestion', like) =>
    /^(high|medium|low|critical)$/i.test(String(like))
      ? { must_fix: 'high', should_fix: 'medium', suggestion: 'low' }[value]
      : value,
};

export function findingStatus(raw: unknown): ModelItem['status'] {
  const word = typeof raw === 'string' ? raw.trim().toLowerCase() : '';
  if (/^(resolved|closed|fixed|done|complete|completed|mitigated)$/.test(word)) return 'resolved';
  if (/^(deferred|accepted)$/.test(word)) return 'deferred';
  return /^(withdrawn|rejected|invalid|wont_fix|duplicate)$/.test(word) ? 'withdrawn' : 'open';
}

const foreign = { isForeign: true, isFixed: true } as const;

/** A finding is a title; real files also have objects of six shapes, and `severity|action|id|title|note`. */
export const findingRows: readonly Row<ModelItem, About>[] = [
  {
    at: '|description|message|title|finding|text|summary',
    is: 'text',
    as: text,
    says: 'The title alone, or in an object.',
  },
  { at: 'id|finding_id', is: 'alias', as: label, says: 'Its id, in an object.', ...foreign },
  {
    ...{
      at: 'status',
      is: 'status',
      isForeign: true,
      says: 'Its status; only open ones belong here.',
    },
    as: {
      read: findingStatus,
      write: (value: string, like) => (like !== undefined && findingStatus(like) === value ? like : value),
    },
  },
  { at: 'severity|impact', is: 'severity', as: severity, says: '`must_fix` unless it says otherwise.', ...foreign },
  {
    ...{ at: 'resource', is: 'affects', says: 'What it is about.', ...foreign },
    as: { read: listOf(asWords).read, write: (value: readonly string[]) => value[0] },
  },
  { at: 'step', is: 'step', as: stepRef, says: 'The step it came up in.', ...foreign },
  {
    ...{ at: 'recommended_actions|recommendation', is: 'workaround', says: 'What to do about it.', ...foreign },
    as: {
      read: (raw) => asWords(Array.isArray(raw) ? raw.map(asText).join('; ') : raw),
      write: (value: string, like) => (Array.isArray(like) || like === undefined ? [value] : value),
    },
  },
  { at: 'agent|raised_by', is: 'by', as: who, says: 'Who found it.', ...foreign },
  { at: 'timestamp|raised_at', is: 'raisedAt', as: seconds, says: 'When.', ...foreign },
  { at: 'resolved_at', is: 'settledAt', as: seconds, says: 'When it was resolved.', ...foreign },
  { at: 'resolution', is: 'resolution', as: text, says: 'How.', ...foreign },
];

const isOpenGate = (raw: unknown): boolean =>
  /^(approved|open|opened|passed|pass|complete|completed|true)$/i.test(String(raw));

export const gateRows: readonly Row<NonNullable<ModelStep['gate']>, About>[] = [
  {
    ...{ at: 'status', is: 'state', says: '`approved` is open.' },
    as: {
      read: (raw) => (isOpenGate(raw) ? 'open' : 'closed'),
      write: (value: string, like) =>
        like !== undefined && isOpenGate(like) === (value === 'open')
          ? like
          : value === 'open'
            ? 'approved'
            : 'pending',
    },
  },
  { at: 'approved_by|by', is: 'by', as: who, says: 'Who opened it.', fresh: null },
  { at: 'approved_at|approved|timestamp', is: 'at', as: seconds, says: 'When.' },
];

/** Asked for by its document; kept as it is. */
export const KEPT_KEYS = [
  'schema_version',
  'project',
  'decisions',
  'open_findings',
  'decision_log',
  'steps',
  'gates',
] as const;
