import * as v from 'valibot';
import type { ModelFile, ModelItem, ModelStep, RunModel } from '../../core/model/run-model.ts';
import { ErrorType, StepKind } from '../../core/words.ts';
import { isObject } from '../is-object.ts';
import { type Node, wordsOf } from '../text/node.ts';
import type { Row, Value } from '../text/rows.ts';
import { count, flag, instant, oneOf } from '../text/values.ts';
import { namesIn, setList } from './comma-list.ts';
import { flat, label, path, same, when, who, words } from './field-values.ts';
import { sessionWord, stepStatus } from './transitions.ts';

/** What a row can need beside its entry. */
export interface About {
  model: RunModel;
  /** The id of a phase as the file writes it. */
  ids(key: string): string | number;
  /** The id of the session, for a new file. */
  session: string;
  now: string;
}

/** As written: `007` stays `007`. */
const saidBy = (raw: unknown, node: Node | null): string | null =>
  node ? wordsOf(node) : typeof raw === 'string' ? raw : null;

const read =
  (as: (words: string | null) => string | undefined): Value['read'] =>
  (raw, node) =>
    as(saidBy(raw, node));

const plain = (value: unknown): unknown => value;

/** Text that differs in white space only says the same. */
const prose: Value = {
  read: read((said) => (said === null ? undefined : words(said))),
  write: (value: string, like) => (typeof like === 'string' && same(value, like) ? like : value),
};
const place: Value = {
  read: read((said) => (said === null || said.length > 1024 ? undefined : path(said))),
  write: plain,
};
const time: Value = { ...instant, read: read(when) };
const name: Value = { read: read(label), write: plain };
const person: Value = { read: read(who), write: plain };
/** Computed, and compared as it is written. */
const asIs: Value = { read: (raw) => raw, write: plain };

const hasMoved = (step: ModelStep, was: ModelStep): boolean => step.status !== was.status;

export const runRows: readonly Row<RunModel['run'], About>[] = [
  {
    ...{ at: 'session_id', is: 'alias', as: name, says: '`YYYY-MM-DD-<topic>`.', isFixed: true },
    value: (_, { session }) => session,
  },
  { at: 'task', is: 'goal', as: prose, says: 'What was asked for.', after: ['session_id'] },
  {
    ...{ at: 'created', is: 'openedAt', as: time, says: 'When it was opened.', after: ['task', 'session_id'] },
    value: ({ openedAt }, { now }, was) => (was === null ? (openedAt ?? now) : was.openedAt ? undefined : openedAt),
  },
  {
    ...{ at: 'updated', is: 'updatedAt', as: time, says: 'With every change.', isFixed: true },
    value: ({ updatedAt }, { now }) => updatedAt ?? now,
  },
  {
    ...{ at: 'status', is: '=', says: '`in_progress`, `completed`, `failed` for an unfinished end.' },
    as: { read: (raw) => raw, write: plain },
    value: ({ status }, { model }, was) => (was?.status === status ? undefined : sessionWord(model)),
    after: ['updated', 'created', 'session_id'],
  },
  { at: 'status_reason', is: 'reason', as: prose, says: 'Why it ended, where we wrote one.', after: ['status'] },
  {
    ...{ at: 'design_document', is: '=', as: place, says: 'The design document.', fresh: null, after: ['status'] },
    value: ({ design }, _, was) => (was && design?.path === was.design?.path ? undefined : design?.path),
  },
  {
    ...{ at: 'implementation_plan', is: 'plan', as: place, says: 'The plan.', fresh: null },
    after: ['design_document', 'status'],
  },
];

/** The files of a phase in one of its manifests. */
const manifest = (change: ModelFile['change'], at: string, fresh?: readonly string[]): Row<ModelStep, About> => ({
  ...{ at, is: '=', as: asIs, isFixed: true },
  says: change ? `The files it ${change}; only added to.` : 'Files whose change is not known; read, and added to.',
  ...(fresh ? { fresh } : {}),
  value: ({ artifacts = [] }) => {
    const files = artifacts.filter((file) => file.change === change).map(fileWords);
    return files.length > 0 ? files : undefined;
  },
});

export const fileWords = (file: ModelFile): string => (file.note ? `${file.path} (${flat(file.note)})` : file.path);

export const phaseRows: readonly Row<ModelStep, About>[] = [
  {
    ...{ at: 'id', is: '=', as: asIs, says: 'Its key: `1`, `"1"`, `P1`; its place where it is lost.', isFixed: true },
    value: ({ key }, { ids }) => ids(key),
  },
  { at: 'name|title', is: 'title', as: prose, says: 'Its title.', after: ['id'] },
  {
    ...{ at: 'status', is: 'status', says: 'Also other words and marks are read.', after: ['name', 'id'] },
    as: {
      ...oneOf(stepStatus, {
        ...{ pending: 'pending', in_progress: 'in_progress', completed: 'completed' },
        ...{ failed: 'failed', skipped: 'skipped' },
      }),
      read: (raw, node) => stepStatus(saidBy(raw, node) ?? '') ?? undefined,
    },
  },
  {
    ...{
      at: 'kind',
      is: 'kind',
      says: 'Where it is not a phase.',
      after: ['status'],
      when: ({ kind }) => kind !== 'phase',
    },
    as: { read: (raw) => (v.is(StepKind, raw) ? raw : undefined), write: plain },
  },
  {
    ...{ at: 'parent', is: '=', as: { read: (raw) => String(raw), write: plain }, after: ['status'] },
    says: 'The phase that it is part of.',
    value: ({ parent }, { ids }, was) => (parent === undefined || parent === was?.parent ? undefined : ids(parent)),
    clears: (step, was) => (was.parent !== undefined && step.parent === undefined ? null : undefined),
  },
  {
    ...{ at: 'agents|agent', is: 'agents', says: 'Who is to do it.', fresh: [], after: ['status'] },
    as: {
      read: (raw, node) => {
        const named = node ? namesIn(node).map((entry) => entry.words) : Array.isArray(raw) ? raw.map(String) : [];
        const names = named.flatMap((one) => who(one) ?? []);
        return names.length > 0 ? names : undefined;
      },
      write: plain,
      edit: (editor, map, key, _, value: readonly string[], { after = [] }) => setList(editor, map, key, value, after),
    },
  },
  {
    ...{ at: 'parallel', is: 'parallel', as: flag, says: 'May run beside others.', fresh: false },
    after: ['agents', 'status'],
    value: ({ parallel }, _, was) => (was && parallel === (was.parallel ?? false) ? undefined : parallel),
  },
  {
    ...{ at: 'started', is: 'startedAt', as: time, says: 'When it was started.', fresh: null, after: ['status'] },
    clears: (step, was) => (hasMoved(step, was) ? null : undefined),
  },
  {
    ...{ at: 'completed', is: 'endedAt', as: time, says: 'When it ended.', fresh: null, after: ['started', 'status'] },
    clears: (step, was) => (hasMoved(step, was) ? null : undefined),
  },
  {
    ...{ at: 'blocked_by', is: '=', as: asIs, says: 'The phases before it; also `depends_on`.', isFixed: true },
    value: ({ after = [] }, { ids }) => after.map(ids),
  },
  manifest('created', 'files_created', []),
  manifest('modified', 'files_modified', []),
  manifest('deleted', 'files_deleted', []),
  manifest(undefined, 'final_artifacts'),
  {
    ...{ at: 'downstream_context', is: '=', as: asIs, isFixed: true },
    says: 'What later phases need, under five headings; other keys are read too.',
    value: ({ built = [] }) => contextOf(built),
  },
  {
    ...{ at: 'errors', is: '=', as: asIs, says: 'Its errors.', fresh: [], isFixed: true },
    value: () => undefined,
  },
  {
    ...{ at: 'retry_count', is: 'retries', as: count, says: 'How often it was tried again.', fresh: 0 },
    value: ({ retries }, _, was) => (was && retries === (was.retries ?? 0) ? undefined : retries),
  },
];

export const contextLabels: Readonly<Record<string, string>> = {
  key_interfaces_introduced: '',
  patterns_established: 'Pattern: ',
  integration_points: 'Integration: ',
  assumptions: 'Assumption: ',
  warnings: 'Warning: ',
};

/** Sorts sentences back under their labels; those without one are what the phase introduced. */
export function contextOf(built: readonly string[]): Record<string, string[]> {
  const drawers = Object.fromEntries(Object.keys(contextLabels).map((key) => [key, [] as string[]]));
  for (const sentence of built) {
    const [key = 'key_interfaces_introduced', start = ''] =
      Object.entries(contextLabels).find(([, one]) => one !== '' && sentence.startsWith(one)) ?? [];
    drawers[key]?.push(sentence.slice(start.length));
  }
  return drawers;
}

/** A value that is a list or a map, as a sentence. */
export function sentenceOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(sentenceOf).filter(Boolean).join(', ');
  if (isObject(value))
    return Object.entries(value)
      .map(([key, inner]) => `${key}: ${sentenceOf(inner)}`)
      .join('; ');
  return value === null || value === undefined ? '' : String(value);
}

const isApart = ({ status }: ModelItem): boolean => status === 'deferred' || status === 'withdrawn';

export const errorRows: readonly Row<ModelItem, About>[] = [
  {
    ...{ at: 'id', is: 'alias', as: name, says: 'Its id, where we wrote it.', isFixed: true },
    value: ({ alias, id }) => alias ?? id,
  },
  { at: 'agent', is: 'by', as: person, says: 'Who reported it.', fresh: null, isFixed: true },
  { at: 'timestamp', is: 'raisedAt', as: time, says: 'When.', fresh: null, isFixed: true },
  {
    ...{
      at: 'type',
      is: 'type',
      says: '`validation`, `timeout`, `file_conflict`, `runtime`, `dependency`.',
      fresh: null,
    },
    as: { read: (raw) => (v.is(ErrorType, raw) ? raw : undefined), write: plain },
  },
  {
    ...{ at: 'message|description|error|text', is: 'text', says: 'What happened.' },
    as: { ...prose, read: (raw, node) => words(saidBy(raw, node) ?? sentenceOf(raw)) || undefined },
  },
  {
    ...{
      at: 'resolution',
      is: 'resolution',
      says: 'How it was resolved, or `pending`.',
      fresh: 'pending',
      after: ['message'],
    },
    as: {
      ...prose,
      read: (raw, node) => {
        const said = saidBy(raw, node);
        return said === null || /^(?:pending|none|n\/a|-)?\.?$/i.test(said.trim()) ? undefined : words(said);
      },
    },
  },
  {
    ...{ at: 'resolved', is: '=', as: asIs, says: 'Settled by a completion, a skip, or by hand.' },
    value: ({ status }, _, was) => (was?.status === status ? undefined : status === 'resolved'),
  },
  {
    ...{ at: 'status', is: '=', as: asIs, says: '`deferred` or `withdrawn`, where we wrote it.' },
    value: (item, _, was) => (was?.status === item.status || !isApart(item) ? undefined : item.status),
    clears: (item, was) => (item.status === was.status ? undefined : null),
  },
];
