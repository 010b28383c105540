import { instantOf } from '../../core/time.ts';
import type { MailClass, TaskStatus } from '../documents/snapshot.ts';
import type { Files, Found } from '../format.ts';
import { bare } from '../text/lines.ts';
import { cellOf } from '../text/table.ts';
import type { Card } from './mailbox.ts';
import { nameKey, textOf } from './names.ts';
import type { Questions } from './questions.ts';
import { type ReadFolder, readFolder } from './read.ts';
import type { Worklog } from './worklog.ts';

/** The facts that a snapshot is checked against, from the files of a folder; null where the files do not have them. */
export interface FolderContract {
  tasks(agent: string): readonly TaskState[];
  mail(agent: string): Readonly<Record<MailClass, readonly string[]>> | null;
  sides(id: string): { from: string; to: string } | null;
  /** What the inbox table counts as unread for the agent. */
  inbox(agent: string): string | null;
  /** The sessions of the agent that the files name; null where they name none. */
  sessions(agent: string): ReadonlySet<string> | null;
  /** Promises in the item index, with their states; null without a worklog. */
  commitments: readonly { id: string | null; text: string; by: string | null; isOpen: boolean }[] | null;
  /** Whether the files show work after a session of the agent that ended then. */
  isFollowed(agent: string, session: string | null, endedAt: string | null): boolean;
  /** The ids of all questions, with their states where a table has them. */
  questions: ReadonlyMap<string, string | null> | null;
  /** The words of the decision index. */
  decisions: readonly string[] | null;
  /** The lines of the worklog that point to snapshots. */
  pointers: readonly string[] | null;
}

export interface TaskState {
  source: string;
  /** Null where there is only text. */
  status: TaskStatus | null;
  /** The ids of possible tasks; empty for none. */
  keys: readonly string[];
  text: string;
}

export function contractIn(found: Found, files: Files): FolderContract {
  const read = readFolder(found, files);
  const { mailbox, questions, worklog } = read;
  return {
    tasks: (agent) => [...turnOf(read, agent), ...statusLineOf(read, agent)],
    mail: (agent) => (mailbox ? mailOf(mailbox.cards, agent) : null),
    sides: (id) => {
      const card = mailbox?.cards.find((one) => one.id === id);
      return card ? { from: card.message.from, to: card.message.to } : null;
    },
    inbox: (agent) => inboxOf(read, agent),
    sessions: (agent) => sessionsOf(read, agent),
    commitments: worklog && commitmentsIn(worklog),
    isFollowed: (agent, session, endedAt) => isFollowed(read, agent, session, endedAt),
    questions: questions && statesOf(questions),
    decisions: worklog?.index ? [...worklog.decisions.keys()].map(({ decision }) => decision) : null,
    pointers:
      worklog &&
      [worklog, read.worklogArchive]
        .flatMap((one) => one?.page.lines.map(bare) ?? [])
        .filter((line) => /chat-[^\s/]+\.md\s+§/.test(line)),
  };
}

const taskStatuses: Readonly<Record<string, TaskStatus>> = {
  done: 'complete',
  pending: 'partial',
  claimed: 'partial',
  in_progress: 'partial',
  blocked: 'blocked',
};

function turnOf({ turnfile, folder }: ReadFolder, agent: string): TaskState[] {
  const found = [...(turnfile?.agents.values() ?? [])].find((entry) => nameKey(entry.id) === nameKey(agent));
  if (!turnfile || !found) return [];
  const source = nameOf(folder.turnfile);
  const current = textOf(found.fields['current_task']);
  if (current === undefined) return [{ source, status: 'complete', keys: [], text: 'no current task' }];
  const status = textOf(turnfile.tasks.get(current)?.fields['status']) ?? 'unknown';
  return [{ source, status: taskStatuses[status] ?? null, keys: [current], text: `${current} is ${status}` }];
}

function statusLineOf({ worklog, folder }: ReadFolder, agent: string): TaskState[] {
  const line = worklog?.working.find((one) => nameKey(one.agent) === nameKey(agent));
  if (!line) return [];
  const source = nameOf(folder.worklog);
  const text = line.words.slice(0, 2000);
  // The two forms that we write; anything else is free text.
  const closed = /^(\S+) (complete|partial|blocked), closed /.exec(text);
  if (closed) return [{ source, status: closed[2] as TaskStatus, keys: [closed[1] as string], text }];
  const held = /^(\S+) \((pending|in_progress|blocked)\b/.exec(text);
  if (held) return [{ source, status: taskStatuses[held[2] as string] ?? null, keys: [held[1] as string], text }];
  return [{ source, status: null, keys: [], text }];
}

function statesOf({ ids, rows }: Questions): Map<string, string | null> {
  const states = new Map<string, string | null>([...ids].map((id) => [id, null]));
  for (const { alias, status } of rows.keys()) if (alias !== undefined) states.set(alias, status);
  return states;
}

function inboxOf({ mailbox }: ReadFolder, agent: string): string | null {
  for (const table of mailbox?.inbox?.tables ?? []) {
    const row = table.rows.find((one) => nameKey(cellOf(table, one, 'agent')) === nameKey(agent));
    if (row) return cellOf(table, row, 'unread') ?? null;
  }
  return null;
}

/** Sessions as we number them; other writers name theirs in many ways. */
function sessionsOf({ turnfile, worklog, worklogArchive }: ReadFolder, agent: string): ReadonlySet<string> | null {
  const entry = [...(turnfile?.agents.values() ?? [])].find((one) => nameKey(one.id) === nameKey(agent));
  const closed = [...(worklog?.sessions ?? []), ...(worklogArchive?.sessions ?? [])].filter(
    (one) => nameKey(one.agent) === nameKey(agent),
  );
  const names = [textOf(entry?.fields['session_id']), ...closed.map(({ alias }) => alias)];
  const own = names.filter((name) => name !== undefined && /^S-\d+$/.test(name)) as string[];
  return own.length > 0 ? new Set(own) : null;
}

function commitmentsIn({ itemRows }: Worklog): NonNullable<FolderContract['commitments']> {
  return [...itemRows.keys()]
    .filter((item) => item.kind === 'commitment')
    .map(({ alias, text, by, status }) => ({ id: alias ?? null, text, by: by ?? null, isOpen: status === 'open' }));
}

/** By a later time anywhere, by a later session of the agent, or by another agent that is at work. */
function isFollowed(read: ReadFolder, agent: string, session: string | null, endedAt: string | null): boolean {
  const { model, turnfile } = read;
  const end = instantOf(endedAt ?? '');
  const times = [
    ...(model?.messages ?? []).flatMap((one) => [one.at, ...(one.acks ?? []), ...(one.replies ?? [])]),
    ...(model?.notes ?? []),
    ...(model?.decisions ?? []),
    ...(model?.sessions ?? []).map((one) => one.endedAt),
  ].map((one) => instantOf((typeof one === 'object' ? one.at : one) ?? ''));
  if (end !== null && times.some((at) => at !== null && at > end)) return true;
  return [...(turnfile?.agents.values() ?? [])].some(({ id, fields }) => {
    const now = textOf(fields['session_id']);
    if (nameKey(id) === nameKey(agent)) return session !== null && now !== undefined && now !== session;
    return ['active', 'blocked'].includes(textOf(fields['status']) ?? '') && textOf(fields['role']) !== 'maintainer';
  });
}

const nameOf = (path: string | null): string => path?.slice(path.lastIndexOf('/') + 1) ?? '';

/** A reply to a sent card is unread mail, although the card's status does not say so. */
function mailOf(cards: readonly Card[], agent: string): Record<MailClass, string[]> {
  const open = cards.filter((card) => !card.isTerminal);
  const ids = (wanted: (card: Card) => boolean): string[] => open.filter(wanted).map((card) => card.id);
  const isTo = ({ message }: Card): boolean => nameKey(message.to) === nameKey(agent);
  const isFrom = ({ message }: Card): boolean => nameKey(message.from) === nameKey(agent);
  const isUnheard = ({ message }: Card): boolean => message.status === 'unread' && (message.replies?.length ?? 0) === 0;
  return {
    unread: ids((card) => isTo(card) && card.message.status === 'unread'),
    pendingAcks: ids((card) => isTo(card) && ['acknowledged', 'blocked'].includes(card.message.status)),
    unansweredUnread: ids((card) => isFrom(card) && isUnheard(card)),
    awaitingClose: ids((card) => isFrom(card) && !isUnheard(card)),
  };
}
