import { type ModelDecision, type ModelItem, ModelSession, type RunModel } from '../../core/model/run-model.ts';
import { isName } from '../../core/text.ts';
import { isBlockedBy, stepWords } from '../../core/views/named-step.ts';
import { isObject } from '../is-object.ts';
import { wordsOf } from '../text/node.ts';
import { isSame, REMOVED, type Row, type Value } from '../text/rows.ts';
import { asLabel, asTime, asWho, asWords, instant, label, listOf, oneOf } from '../text/values.ts';

/** The fields of decisions, blockers and sessions, in the order of a new entry; docs/formats/codewalk.md explains them. */

/** The run before and after: a value that follows from the run is written only when it changed. */
export interface About {
  before: RunModel;
  now: RunModel;
  /** A name of this format for a record without one. */
  nameOf(entry: ModelItem | ModelSession): string;
}

/** The text as written: `2.10` is not 2.1. */
export const words: Value = {
  read: (raw, node) => (isObject(raw) || Array.isArray(raw) ? undefined : asWords((node && wordsOf(node)) ?? raw)),
  write: (value: string) => value,
};
const who: Value = { read: (raw, node) => asWho(words.read(raw, node)), write: (value: string) => value };
export const texts: Value = listOf(textOf);
/** One note is a sentence, several are a list. */
const sentences: Value = {
  read: texts.read,
  write: (value: readonly string[], like) => (value.length === 1 && !Array.isArray(like) ? value[0] : value),
};
/** A day where a day is written. */
const time: Value = {
  read: asTime,
  write: (value: string, like) =>
    typeof like === 'string' && /^\d{4}-\d\d-\d\d$/.test(like)
      ? value.slice(0, 10)
      : instant.write(value as never, like),
};
/** The design has days; the journal knows the time. */
const day: Value = {
  read: asTime,
  write: (value: string, like) =>
    like === undefined && /^\d{4}-\d\d-\d\dT/.test(value) ? value.slice(0, 10) : time.write(value as never, like),
};
const reversible: Value = {
  read: (raw) => (typeof raw === 'boolean' ? !raw : undefined),
  write: (value: boolean) => !value,
};
/** `45%` and 45 are percent; a number up to 1 is a share. */
const percent: Value = {
  read: (raw) => {
    const number = Number(String(raw).replace('%', ''));
    const share = typeof raw === 'number' && raw <= 1 ? number * 100 : number;
    return Number.isNaN(share) ? undefined : Math.min(100, Math.max(0, share));
  },
  write: (value: number, like) => (typeof like === 'number' ? value : `${value}%`),
};
/** Tasks with titles, `- task-abc: "Apply final styles"`, of which the keys count. */
const tasks: Value = {
  read: (raw) => {
    const keys = listed(raw).map((one) => (isObject(one) ? Object.keys(one)[0] : one));
    const names = keys.flatMap((key) => (typeof key === 'string' && isName(key, '._-', 64) ? [key] : []));
    return names.length > 0 ? names : undefined;
  },
  write: (value: unknown) => value,
};
/** What follows from the plan. Entries that people wrote stay while their task is open, or is not a step of the plan. */
const blockedTasks: Value = {
  read: listed,
  write: ({ tasks: blocked, stays }: Blocked, like) => {
    const ours = new Set(blocked.flatMap(Object.keys));
    const keyOf = (one: unknown): string => (isObject(one) ? (Object.keys(one)[0] ?? '') : String(one));
    return [...listed(like).filter((one) => !ours.has(keyOf(one)) && stays(keyOf(one))), ...blocked];
  },
};

interface Blocked {
  tasks: Record<string, string>[];
  stays(key: string): boolean;
}

const removed = (): typeof REMOVED => REMOVED;
const none = (): null => null;

export const decisionRows: readonly Row<ModelDecision, About>[] = [
  {
    at: 'id',
    is: 'alias',
    as: label,
    isForeign: true,
    value: () => undefined,
    says: 'Read where people give one; the design has none.',
  },
  { at: 'date', is: 'at', as: day, says: 'The day of the decision.' },
  { at: 'context', is: 'context', as: words, says: 'What it is about.' },
  { at: 'decision|choice', is: 'decision', as: words, says: 'What was decided.' },
  { at: 'reason|rationale', is: 'reason', as: words, says: 'Why.' },
  { at: 'alternatives_considered', is: 'alternatives', as: texts, clears: removed, says: 'What was rejected.' },
  { at: 'reversible', is: 'irreversible', as: reversible, says: '`false` is irreversible.' },
  {
    at: 'status',
    is: 'status',
    as: oneOf((word) => (['active', 'superseded', 'retracted'] as const).find((one) => one === word), {
      active: 'active',
      superseded: 'superseded',
      retracted: 'retracted',
    }),
    when: ({ status }) => status !== 'active',
    says: 'Written when it is superseded or retracted.',
  },
];

export const blockerRows: readonly Row<ModelItem, About>[] = [
  {
    at: 'id',
    is: 'alias',
    as: label,
    value: (item, { nameOf }, was) => (was ? undefined : (item.alias ?? nameOf(item))),
    says: 'A new one continues the numbers: `block-002`.',
  },
  {
    at: 'status',
    is: 'status',
    as: oneOf((word) => (/^(?:bypassed|resolved)$/i.test(word) ? word.toLowerCase() : 'active'), {
      active: 'active',
      bypassed: 'bypassed',
      resolved: 'resolved',
    }),
    says: '`new` and every other word is active; without one, a `resolution` means resolved.',
  },
  { at: 'description|title', is: 'text', as: words, says: 'What blocks.' },
  { at: 'identified_at|blocked_since', is: 'raisedAt', as: time, says: 'The short form has a day.' },
  {
    at: 'affects',
    is: 'affects',
    as: texts,
    clears: removed,
    says: '`2-3`, `Phase 3`, `Phase 3: OAuth` or a title blocks that step.',
  },
  {
    at: 'blocked_tasks',
    is: '=',
    as: blockedTasks,
    value: (item, { before, now }, was): Blocked | undefined => {
      const [old, tasks] = [was ? blockedBy(before, was) : [], blockedBy(now, item)];
      if (!was && tasks.length === 0) return undefined;
      const isMoved = !was || !isSame(statusesIn(before), statusesIn(now)) || !isSame(old, tasks);
      if (!isMoved && was?.status === item.status) return undefined;
      const isTold = item.status === 'active' && isSame(was?.affects, item.affects);
      return { tasks, stays: (key) => !byKey(now).has(key) || (isTold && isOpen(byKey(now).get(key))) };
    },
    says: 'The open tasks of the plan that it blocks.',
  },
  { at: 'workaround', is: 'workaround', as: words, fresh: null, clears: none, says: 'How work continues without it.' },
  { at: 'resolution', is: 'resolution', as: words, fresh: null, clears: none, says: 'How it was resolved.' },
  { at: 'resolved_at', is: 'settledAt', as: time, clears: removed, says: 'When it was resolved.' },
  {
    at: 'workaround_tasks',
    is: 'followUp',
    as: tasks,
    value: ({ followUp }, { now }) =>
      followUp?.map((key) => ({ [key]: now.steps.find((step) => step.key === key)?.title ?? key })),
    clears: removed,
    says: 'Steps that replace the workaround.',
  },
];

export const sessionRows: readonly Row<ModelSession, About>[] = [
  {
    at: 'id',
    is: 'alias',
    as: label,
    value: (session, { nameOf }, was) => (was ? undefined : (session.alias ?? nameOf(session))),
    says: 'A new one continues the numbers: `session-002`.',
  },
  { at: 'agent', is: 'agent', as: who, says: 'Who worked.' },
  { at: 'started', is: 'startedAt', as: time, says: 'When it began.' },
  { at: 'ended', is: 'endedAt', as: time, says: 'When it ended.' },
  {
    at: 'status',
    is: 'status',
    as: oneOf((word) => ModelSession.entries.status.options.find((one) => one === word.toLowerCase()), statusWords()),
    when: ({ status, endedAt }) => status !== 'completed' || endedAt === undefined,
    says: 'Left out of a session that completed and says when.',
  },
  { at: 'context_usage', is: 'contextUsage', as: percent, says: 'Percent of the context window.' },
  { at: 'completed', is: 'completed', as: texts, says: '`Phase 1, Plan 1: Database setup`.' },
  {
    at: 'working_on',
    is: 'workingOn',
    as: words,
    value: ({ workingOn }, { now }) => {
      const step = now.steps.find(({ key }) => key === workingOn);
      return step ? stepWords(byKey(now), step) : workingOn;
    },
    clears: removed,
    says: '`Phase 2, Plan 3: Refresh rotation`.',
  },
  {
    at: 'notes',
    is: '=',
    as: sentences,
    value: (session, { before, now }, was) => {
      const notes = notesOf(session, now);
      if (was && isSame(notesOf(was, before), notes)) return undefined;
      return notes.length > 0 ? notes : was ? REMOVED : undefined;
    },
    says: 'What was noted, deviations and verification results; how a crash is reported.',
  },
  { at: 'issues', is: 'issues', as: texts, clears: removed, says: 'What went badly, and findings.' },
  {
    at: 'handoff_reason',
    is: 'why',
    as: words,
    value: (session) => handoffReason(session),
    says: 'What `--why` said, else the reason of the close.',
  },
];

function statusWords(): Readonly<Record<ModelSession['status'], string>> {
  return Object.fromEntries(ModelSession.entries.status.options.map((one) => [one, one])) as never;
}

export const CRASHED = 'Agent unresponsive, task reset';
const RESUMED = /^Resuming from (\S{1,100}?)(?: crash)?\.?$/i;

/** A crash, and the session that continues after it, are told in notes. */
function notesOf(session: ModelSession, { sessions }: RunModel): string[] {
  const { continues, notes = [] } = session;
  const from = continues === undefined ? undefined : sessions.find(({ alias, id }) => [alias, id].includes(continues));
  const name = from?.alias ?? (from && nameIn('session', sessions)(from)) ?? continues;
  return [
    ...(name === undefined ? [] : [`Resuming from ${name}${from?.status === 'crashed' ? ' crash' : ''}`]),
    ...(session.status === 'crashed' ? [CRASHED] : []),
    ...notes,
  ];
}

/** The notes of an entry without the sentences that tell of a crash. */
export function splitNotes(
  notes: readonly string[],
  status: ModelSession['status'],
): Pick<ModelSession, 'continues' | 'notes'> {
  const resumed = notes.map((note) => asLabel(RESUMED.exec(note)?.[1])).find((name) => name !== undefined);
  const rest = notes.filter((note) => !RESUMED.test(note) && !(status === 'crashed' && note === CRASHED));
  return { ...(resumed === undefined ? {} : { continues: resumed }), ...(rest.length > 0 ? { notes: rest } : {}) };
}

/** In the words of the design. */
export const handoffReason = ({ why, status }: Pick<ModelSession, 'why' | 'status'>): string | undefined =>
  why ?? closeReasons[status];

const closeReasons: Readonly<Partial<Record<ModelSession['status'], string>>> = {
  'context-exhausted': 'Context limit reached',
  timeout: 'Time limit reached',
  'maintainer-directed': 'Stopped by the maintainer',
};

/** The open tasks below what a blocker affects. */
function blockedBy(model: RunModel, item: ModelItem): Record<string, string>[] {
  if (item.status !== 'active') return [];
  const steps = byKey(model);
  const parents = new Set(model.steps.map(({ parent }) => parent));
  return model.steps
    .filter((step) => step.kind !== 'phase' && !parents.has(step.key) && isOpen(step) && isBlockedBy(steps, step, item))
    .map(({ key, title }) => ({ [key]: title }));
}

const isOpen = (step: RunModel['steps'][number] | undefined): boolean =>
  step?.status !== 'completed' && step?.status !== 'skipped';

const statusesIn = ({ steps }: RunModel): string[] => steps.map(({ key, status }) => `${key} ${status}`);

export const byKey = ({ steps }: RunModel): ReadonlyMap<string, RunModel['steps'][number]> =>
  new Map(steps.map((step) => [step.key, step]));

/**
 * Names records that have none in the file: `block-007` for B-7. Numbers continue those of the file, which may be ahead
 * of the journal's.
 */
export function nameIn<T extends { id?: string | undefined; alias?: string | undefined }>(
  prefix: 'block' | 'session',
  all: readonly T[],
): (entry: T) => string {
  const numberIn = (name: string | undefined): number => Number(/-(\d{1,9})$/.exec(name ?? '')?.[1] ?? Number.NaN);
  const numbers = new Map(all.map((entry, index) => [entry, numberIn(entry.id) || index + 1]));
  const ahead = all.reduce((most, entry) => {
    const named = entry.alias?.startsWith(`${prefix}-`) ? numberIn(entry.alias) : Number.NaN;
    return named > 0 ? Math.max(most, named - (numbers.get(entry) as number)) : most;
  }, 0);
  return (entry) => `${prefix}-${String((numbers.get(entry) ?? all.length + 1) + ahead).padStart(3, '0')}`;
}

/** A list of texts; a single one counts as a list of one, a map in it as `key: text`. */
function textOf(raw: unknown): string | undefined {
  if (!isObject(raw)) return Array.isArray(raw) ? undefined : asWords(raw);
  const [pair] = Object.entries(raw);
  return pair ? `${pair[0]}: ${asWords(pair[1]) ?? ''}` : undefined;
}

function listed(raw: unknown): unknown[] {
  return Array.isArray(raw) ? raw : raw === undefined || raw === null ? [] : [raw];
}
