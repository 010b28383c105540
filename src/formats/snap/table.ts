import type { ModelClaim, ModelDecision, ModelItem, ModelMessage, ModelNote } from '../../core/model/run-model.ts';
import { isName } from '../../core/text.ts';
import { Disposition, EndReason, ItemKind, MessageStatus, MessageType, Priority } from '../../core/words.ts';
import { losesOf } from '../losses.ts';
import { flat } from '../text/lines.ts';
import { newEntry, type Row, type Value } from '../text/rows.ts';
import { count, listOf } from '../text/values.ts';
import { label, nameKey, sameTime, sameWords, slug, textOf } from './names.ts';

/** The tables of the format: the entries of the Turnfile, the rows of the pages, the lines of cards and worklog entries. */

/** Text that may have several lines. */
const words: Value = { read: textOf, write: (text: string) => sameWords(text) };
/** An empty one is still one: a card may have no subject. */
const line: Value = { read: (raw) => (raw === '' ? raw : textOf(raw)), write: (text: string) => flat(text) };
const tag: Value = { read: (raw) => label(textOf(raw)), write: (text: string) => flat(text) };
/** The spelling of the file stays. */
const name: Value = {
  read: tag.read,
  write: (text: string, like) => (nameKey(textOf(like)) === nameKey(text) ? like : flat(text)),
};
const day: Value = {
  read: tag.read,
  write: (time: string, like) => (typeof like === 'string' && sameTime(time, like) ? like : flat(time)),
};
const names: Value = {
  ...listOf(textOf),
  write: (list: readonly string[], like) => (typeof like === 'string' && list.length === 1 ? list[0] : list),
};
const oneOf = <W extends string>(options: readonly W[]): Value => ({
  read: (raw) => options.find((one) => one === slug(textOf(raw)) || one === raw),
  write: (word: W) => word,
});
/** `ada -> ben`, compared by the names alone. */
const sides: Value = {
  read: (raw) => partiesIn(textOf(raw)).map(nameKey),
  write: ({ from, to }: ModelMessage) => `${flat(from)} -> ${flat(to)}`,
};

/** `Ada -> Bo`. */
export const partiesIn = (written: string | undefined): string[] => (written ?? '').split(/->|→/, 2);

/** A task in the file's terms; `blocked` and `done` also hold a step that failed or was skipped, which the notes say. */
export interface Task {
  title?: string | undefined;
  owner?: string | undefined;
  word: TaskWord;
  after?: readonly string[] | undefined;
  claimed?: number | undefined;
  completed?: number | undefined;
  notes?: string | undefined;
}

export type TaskWord = 'pending' | 'in_progress' | 'blocked' | 'done' | 'failed' | 'cancelled';

const taskWords: Readonly<Record<string, TaskWord>> = {
  ...{ done: 'done', complete: 'done', completed: 'done', closed: 'done', failed: 'failed', blocked: 'blocked' },
  ...{ cancelled: 'cancelled', canceled: 'cancelled', skipped: 'cancelled' },
  ...{ claimed: 'in_progress', 'in-progress': 'in_progress', active: 'in_progress' },
};

export const taskRows: readonly Row<Task, { revision: number; creator: string }>[] = [
  { at: 'description', is: 'title', as: words, says: 'Its title.' },
  {
    ...{ at: 'owner', is: 'owner', says: 'Its first agent.', fresh: 'unassigned' },
    as: { ...name, read: (raw) => (raw === 'unassigned' ? undefined : tag.read(raw, null)) },
  },
  {
    ...{ at: 'status', is: 'word', says: '`blocked` also where it failed, `done` where it was skipped.' },
    as: {
      read: (raw) => taskWords[slug(textOf(raw))] ?? 'pending',
      write: (word: TaskWord) => (word === 'failed' ? 'blocked' : word === 'cancelled' ? 'done' : word),
    },
  },
  { at: 'priority', is: '=', as: tag, says: 'Not ours; `P1` in a new task.', fresh: 'P1', isFixed: true },
  { at: 'depends_on', is: 'after', as: names, says: 'Tasks that come first.', fresh: [] },
  {
    ...{ at: 'created_by', is: '=', as: tag, says: 'In a new task.', isFixed: true },
    value: (_, { creator }) => creator,
  },
  {
    ...{ at: 'created_rev', is: '=', as: count, says: 'In a new task.', isFixed: true },
    value: (_, { revision }) => revision,
  },
  {
    ...{ at: 'claim_rev', is: 'claimed', as: count, says: 'The revision at which it was started.', fresh: null },
    clears: () => null,
  },
  {
    ...{ at: 'completed_rev', is: 'completed', as: count, says: 'The revision at which it ended.', fresh: null },
    clears: () => null,
  },
  {
    ...{ at: 'notes', is: 'notes', as: words, clears: () => '' },
    says: 'What came of it; begins with `Failed:` or `Cancelled:` and the reason where the status cannot say it.',
  },
];

/** An agent's newest session and current task. */
export interface AgentView {
  name: string;
  status: 'active' | 'blocked' | 'idle' | 'offline';
  task?: string | undefined;
  session?: string | undefined;
}

export const agentRows: readonly Row<AgentView, unknown>[] = [
  { at: 'role', is: '=', as: tag, says: '`agent` in a new entry.', fresh: 'agent', isFixed: true },
  {
    ...{ at: 'status', is: 'status', as: oneOf(['active', 'blocked', 'idle', 'offline']) },
    says: 'Of its newest session: `idle` is completed, `offline` timed out.',
  },
  { at: 'current_task', is: 'task', as: words, says: 'What it is working on.', fresh: null, clears: () => null },
  {
    ...{ at: 'last_seen', is: '=', as: words, says: 'The same session.', fresh: null },
    value: ({ session }, _, was) => (was?.session === session ? undefined : session),
  },
  { at: 'session_id', is: 'session', as: words, says: 'The name of the session.', fresh: null },
];

export const lockRows: readonly Row<ModelClaim, { revision: number }>[] = [
  { at: 'files|target', is: 'files', as: names, says: 'The claimed files.' },
  { at: 'holder', is: 'agent', as: name, says: 'Who holds them.' },
  {
    ...{ at: 'acquired_rev', is: '=', as: count, says: 'Renewed while its holder is at work.' },
    value: ({ agent }, { revision }, was) => (nameKey(was?.agent) === nameKey(agent) ? undefined : revision),
  },
  { at: 'lease_revs', is: '=', as: count, says: 'Ours counts time.', fresh: 2, isFixed: true },
  { at: 'reason|purpose', is: 'reason', as: words, says: 'What for.', fresh: 'Work in progress' },
];

/** A status as written in real files: one of the five, or the disposition a message was closed with. */
export function statusIn(written: string): {
  status: ModelMessage['status'] | undefined;
  disposition: ModelMessage['disposition'];
} {
  const all = written.toLowerCase().match(/[a-z]+/g) ?? [];
  const [first = ''] = all;
  const disposition = Disposition.options.find((one) => (all as readonly string[]).includes(one));
  const isEnd = first === 'done' || (disposition !== undefined && disposition !== 'deferred');
  return { status: MessageStatus.options.find((one) => one === first) ?? (isEnd ? 'closed' : undefined), disposition };
}

/** The lines of a card. Its text, acks and replies follow them. */
export const cardRows: readonly Row<ModelMessage, { owner: string | undefined }>[] = [
  {
    ...{ at: 'from|from -> to|from → to', is: '=', as: sides, says: 'Sender and receiver: `ada -> ben`.' },
    value: (message, _, was) =>
      was && nameKey(was.from) === nameKey(message.from) && nameKey(was.to) === nameKey(message.to)
        ? undefined
        : message,
  },
  { at: 'date', is: 'at', as: day, says: 'When it was sent.' },
  { at: 'type', is: 'type', as: oneOf(MessageType.options), says: 'One of the types of the protocol.' },
  {
    ...{ at: 'priority', is: 'priority', says: 'P0 to P2.' },
    as: {
      read: (raw) => Priority.options.find((one) => one === textOf(raw)?.slice(0, 2).toUpperCase()),
      write: (priority: string) => priority,
    },
  },
  {
    ...{ at: 'status', is: 'status', says: 'One of five; `resolved` and `superseded` are read as closed.' },
    as: {
      read: (raw) => statusIn(textOf(raw) ?? '').status,
      write: (status: string, like) => (statusIn(textOf(like) ?? '').status === status ? like : status),
    },
  },
  { at: 'subject', is: 'subject', as: line, says: 'Also the words behind the id in its heading.' },
  {
    ...{ at: 'closure owner', is: '=', as: name, says: 'The sender in a new card.', isFixed: true },
    value: ({ from }, { owner }) => owner ?? from,
  },
  {
    ...{ at: 'response needed by|needs response by|respond by', is: 'respondBy', as: tag },
    says: 'The time by which an answer is needed.',
  },
  { at: 'disposition', is: 'disposition', as: oneOf(Disposition.options), says: 'What it was closed with.' },
];

export const closedRows: readonly Row<ModelMessage, unknown>[] = [
  { at: 'id', is: 'alias', as: tag, says: 'The id of the message.', isFixed: true },
  { at: 'date', is: 'at', as: day, says: 'When it was sent.' },
  { at: 'from -> to|from → to', is: '=', as: sides, says: 'Sender and receiver.', value: (message) => message },
  {
    ...{ at: 'final status|status', is: 'disposition', says: '`closed`, with its disposition.', fresh: 'closed' },
    as: { read: (raw) => statusIn(textOf(raw) ?? '').disposition, write: (word: string) => `closed (${word})` },
  },
  {
    ...{ at: 'outcome', is: '=', as: line, says: 'The last ack, else the subject.' },
    value: ({ acks, subject }) => acks?.at(-1)?.note || subject,
  },
  { at: 'subject|outcome', is: 'subject', as: line, says: 'Its subject.', isForeign: true },
  {
    ...{ at: 'closed by', is: '=', as: name, says: 'Who closed it.', isForeign: true },
    value: ({ acks }) => acks?.at(-1)?.by,
  },
];

export const queueRows: readonly Row<ModelMessage, unknown>[] = [
  { at: 'id', is: 'alias', as: tag, says: 'The id of the message.', isFixed: true },
  { at: 'from -> to|from → to', is: '=', as: sides, says: 'Sender and receiver.', value: (message) => message },
  { at: 'priority|pri', is: 'priority', as: tag, says: 'P0 to P2.' },
  { at: 'subject', is: 'subject', as: line, says: 'Its subject.' },
];

export interface Inbox {
  agent: string;
  unread: string;
  oldest: string;
  due: string;
}

export const inboxRows: readonly Row<Inbox, unknown>[] = [
  { at: 'agent', is: 'agent', as: name, says: 'Each agent and the maintainer.', isFixed: true },
  { at: 'unread', is: 'unread', as: tag, says: 'Counted from the cards.' },
  { at: 'oldest unread', is: 'oldest', as: tag, says: 'The id of its oldest unread card.' },
  { at: 'needs response by', is: 'due', as: tag, says: 'The first time that one of them names.' },
];

/** A decision that is no longer active is struck through. */
const struck: Value = {
  read: (raw) => {
    const [, inner, retracted] = /^~~([\s\S]*)~~( \(retracted\))?$/.exec(textOf(raw) ?? '') ?? [];
    if (inner === undefined) return { decision: raw, status: 'active' };
    return { decision: inner, status: retracted === undefined ? 'superseded' : 'retracted' };
  },
  write: ({ decision, status }: ModelDecision) =>
    status === 'superseded' || status === 'retracted'
      ? `~~${sameWords(decision)}~~${status === 'retracted' ? ' (retracted)' : ''}`
      : sameWords(decision),
};

/** A row of the decision index. Its first column says two things. */
export interface IndexedDecision extends Omit<ModelDecision, 'decision' | 'status'> {
  struck: Pick<ModelDecision, 'decision' | 'status'>;
}

export const decisionRows: readonly Row<IndexedDecision, unknown>[] = [
  { at: 'decision', is: 'struck', as: struck, says: 'Struck through where it was superseded or `(retracted)`.' },
  { at: 'owner', is: 'by', as: name, says: 'Who decided.' },
  { at: 'timestamp|date', is: 'at', as: day, says: 'When.', isFixed: true },
  { at: 'section', is: 'context', as: words, says: 'What it is about.' },
  { at: 'reason|rationale|why', is: 'reason', as: words, says: 'Where the table has the column.', isForeign: true },
];

const WORKAROUND = 'Workaround:';

/** What the item index has: a step together with what else it affects, and a workaround before the resolution. */
export interface IndexedItem
  extends Pick<ModelItem, 'alias' | 'id' | 'kind' | 'text' | 'status' | 'by' | 'to' | 'due'> {
  places?: readonly string[] | undefined;
  outcome?: Pick<ModelItem, 'workaround' | 'resolution'> | undefined;
}

const outcome: Value = {
  read: (raw) => {
    const [, workaround, resolution] = /^(?:Workaround: (.*)(?:\n|$))?([\s\S]*)$/.exec(textOf(raw) ?? '') ?? [];
    return { ...(workaround ? { workaround } : {}), ...(resolution ? { resolution } : {}) };
  },
  write: ({ workaround, resolution }: NonNullable<IndexedItem['outcome']>) =>
    [workaround && `${WORKAROUND} ${flat(workaround)}`, resolution && sameWords(resolution)].filter(Boolean).join('\n'),
};

export const itemRows: readonly Row<IndexedItem, unknown>[] = [
  {
    ...{ at: 'id', is: 'alias', as: tag, says: 'The file’s id, else ours.', isFixed: true },
    value: ({ alias, id }) => alias ?? id,
  },
  { at: 'kind', is: 'kind', as: oneOf(ItemKind.options), says: 'Blocker, finding, commitment or error.' },
  { at: 'item', is: 'text', as: words, says: 'What it is.' },
  {
    ...{ at: 'status', is: 'status', says: 'As we name it.' },
    as: oneOf(['active', 'bypassed', 'open', 'resolved', 'deferred', 'withdrawn']),
  },
  {
    ...{ at: 'step', is: 'places', says: 'Its step, then others that it affects.' },
    as: {
      read: (raw) => textOf(raw)?.split(', ').filter(isStepKey),
      write: (list: readonly string[]) => list.join(', '),
    },
  },
  { at: 'by', is: 'by', as: name, says: 'Who raised or promised it.' },
  { at: 'to', is: 'to', as: name, says: 'To whom.' },
  { at: 'due', is: 'due', as: tag, says: 'Its due date.' },
  { at: 'resolution', is: 'outcome', as: outcome, says: 'The workaround, then the resolution.' },
];

const isStepKey = (written: string): boolean => isName(written, '._-', 64);

export const questionStatuses = ['open', 'resolved', 'deferred', 'withdrawn'] as const;

export const questionRows: readonly Row<ModelItem, unknown>[] = [
  {
    ...{ at: 'id', is: 'alias', as: tag, says: '`OQ-NNN`.', isFixed: true },
    value: ({ alias, id }) => alias ?? id,
  },
  {
    ...{ at: 'source prds|source|sources|affects', is: 'affects', says: 'Where it comes from.' },
    as: {
      read: (raw) =>
        textOf(raw)
          ?.split(',')
          .map((one) => one.trim()),
      write: (list: readonly string[]) => list.join(', '),
    },
  },
  { at: 'question|title', is: 'text', as: words, says: 'The question.' },
  {
    ...{ at: 'status', is: 'status', says: 'Its section where the word is none of the four.' },
    as: {
      ...oneOf(questionStatuses),
      write: (status: string) => (status === 'active' || status === 'bypassed' ? 'open' : status),
    },
  },
  { at: 'resolution|reason|answer', is: 'resolution', as: words, says: 'The answer.' },
  {
    ...{ at: 'blocking', is: 'step', says: 'The step that waits for it.', isForeign: true, isFixed: true },
    as: {
      read: (raw) => {
        const step = textOf(raw)?.split('(')[0]?.trim() ?? '';
        return step !== 'none' && isStepKey(step) ? step : undefined;
      },
      write: (step: string) => step,
    },
  },
  { at: 'raised by|owner', is: 'by', as: name, says: 'Who asked.', isForeign: true, isFixed: true },
  {
    ...{ at: 'date|raised', is: 'raisedAt', as: day, isForeign: true, isFixed: true },
    says: 'When it was asked; among resolved questions when it was answered.',
    value: ({ status, raisedAt, settledAt }) => (status === 'resolved' ? settledAt : raisedAt),
  },
];

/** The titles of our notes; other entries have their own title, which is their first line. */
const noteTitles = {
  ...{ worklog: 'Note', deviation: 'Deviation', constraint: 'Constraint', 'dead-end': 'Dead end' },
} as const satisfies Record<ModelNote['kind'], string>;

/** `### ada: Deviation on t1 — 2026-02-08`, and the text below. */
export const noteTitle =
  /^(?:(?<who>.{1,200}?): )?(?<title>Note|Deviation|Constraint|Dead end)(?: on (?<step>[\w.-]{1,64}))?(?: — (?<when>.{1,200}))?$/u;

export const noteRows: readonly Row<ModelNote, unknown>[] = [
  { at: 'who', is: 'by', as: name, says: 'Before the title: who wrote it.' },
  {
    ...{ at: 'title', is: 'kind', says: 'Note, Deviation, Constraint or Dead end.' },
    as: {
      read: (raw) => (Object.keys(noteTitles) as ModelNote['kind'][]).find((kind) => noteTitles[kind] === raw),
      write: (kind: ModelNote['kind']) => noteTitles[kind],
    },
  },
  {
    ...{ at: 'step', is: 'step', says: 'Behind the title: ` on STEP`.' },
    as: { read: (raw) => (isStepKey(textOf(raw) ?? '') ? raw : undefined), write: (step: string) => step },
  },
  { at: 'when', is: 'at', as: day, says: 'Behind a dash: when.' },
  { at: 'text', is: 'text', as: { read: (raw) => raw, write: (text: string) => text }, says: 'The lines below.' },
];

/** `2026-02-08 — ada (S-1, completed): finished t1`. */
export const closingLine =
  /^(?<ended>\S{1,60}) — (?<agent>[^(]{1,200}?) \((?<session>[^(),]{1,200}), (?<reason>[a-z-]+)\)(?:: (?<words>.*))?$/u;

/** The end of a session in the worklog. */
export interface Closing {
  endedAt?: string | undefined;
  agent?: string | undefined;
  alias: string;
  status: (typeof EndReason.options)[number];
  said?: string | undefined;
}

/** Written where the day of an ack or the end of a session is not known. */
export const UNDATED = 'undated';

export const closingRows: readonly Row<Closing, unknown>[] = [
  {
    ...{ at: 'ended', is: 'endedAt', says: 'When it ended.', fresh: UNDATED },
    as: {
      read: (raw) => (raw === UNDATED ? undefined : tag.read(raw, null)),
      write: (time: string) => time.replace(/\s+/g, '_').slice(0, 60) || UNDATED,
    },
  },
  {
    ...{ at: 'agent', is: 'agent', says: 'Whose session it was.', fresh: 'unknown' },
    as: { ...name, write: (agent: string) => flat(agent).replace(/[()]/g, ' ') },
  },
  {
    ...{ at: 'session', is: 'alias', says: 'Its name.' },
    as: { ...tag, write: (alias: string) => alias.replace(/[(),]/g, ' ') },
  },
  { at: 'reason', is: 'status', as: oneOf(EndReason.options), says: 'Why it ended.' },
  { at: 'words', is: 'said', as: words, says: 'What it finished, or was working on.' },
];

/** A new row of a page: the text under each name that a column may have. */
export const cellsFor = <E extends object>(rows: readonly Row<E, unknown>[], entry: E): Record<string, string> =>
  newEntry(rows, entry, undefined, { keys: rows.flatMap(({ at }) => at.split('|')) }) as Record<string, string>;

/** Items are in two tables: a field that only one of them has is lost for the others. */
const inBoth = questionRows.filter(({ is, isForeign }) => !isForeign && itemRows.some((row) => row.is === is));

export const loses: readonly string[] = losesOf(
  {
    ...{ run: [], steps: taskRows, decisions: decisionRows, items: inBoth, notes: noteRows },
    ...{ sessions: closingRows, messages: cardRows, claims: lockRows },
  },
  [
    ...['run.title', 'run.openedAt', 'run.updatedAt', 'steps.key', 'steps.status', 'steps.summary'],
    ...['decisions.decision', 'decisions.status', 'items.kind', 'items.resolution', 'claims.alias'],
    ...['alias', 'from', 'to', 'body', 'acks', 'replies'].map((field) => `messages.${field}`),
  ],
  ['position.words'],
);
