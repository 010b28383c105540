import type { MailClass, TaskStatus } from '../documents/snapshot.ts';
import type { Files, Found } from '../format.ts';
import type { Card } from './mailbox.ts';
import { slug } from './names.ts';
import { type ReadFolder, readFolder } from './read.ts';
import { textOf } from './turnfile.ts';

/** The facts that a snapshot is checked against, from the files of a folder; null where the files do not have them. */
export interface FolderContract {
  tasks(agent: string): readonly TaskState[];
  mail(agent: string): Readonly<Record<MailClass, readonly string[]>> | null;
  /** The ids of all questions. */
  questions: ReadonlySet<string> | null;
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
  const { mailbox, questions } = read;
  return {
    tasks: (agent) => [...turnOf(read, agent), ...statusLineOf(read, agent)],
    mail: (agent) => (mailbox ? mailOf(mailbox.cards, agent) : null),
    questions: questions?.ids ?? null,
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
  const found = [...(turnfile?.agents.values() ?? [])].find((entry) => slug(entry.id) === slug(agent));
  if (!turnfile || !found) return [];
  const source = nameOf(folder.turnfile);
  const current = textOf(found.fields['current_task']);
  if (current === undefined) return [{ source, status: 'complete', keys: [], text: 'no current task' }];
  const status = textOf(turnfile.tasks.get(current)?.fields['status']) ?? 'unknown';
  return [{ source, status: taskStatuses[status] ?? null, keys: [current], text: `${current} is ${status}` }];
}

function statusLineOf({ worklog, folder }: ReadFolder, agent: string): TaskState[] {
  const line = worklog?.working.find((one) => slug(one.agent) === slug(agent));
  return line ? [{ source: nameOf(folder.worklog), status: null, keys: [], text: line.words.slice(0, 2000) }] : [];
}

const nameOf = (path: string | null): string => path?.slice(path.lastIndexOf('/') + 1) ?? '';

/** A reply to a sent card is unread mail, although the card's status does not say so. */
function mailOf(cards: readonly Card[], agent: string): Record<MailClass, string[]> {
  const open = cards.filter((card) => !card.isTerminal);
  const ids = (wanted: (card: Card) => boolean): string[] => open.filter(wanted).map((card) => card.id);
  const isTo = ({ message }: Card): boolean => slug(message.to) === slug(agent);
  const isFrom = ({ message }: Card): boolean => slug(message.from) === slug(agent);
  const isUnheard = ({ message }: Card): boolean => message.status === 'unread' && (message.replies?.length ?? 0) === 0;
  return {
    unread: ids((card) => isTo(card) && card.message.status === 'unread'),
    pendingAcks: ids((card) => isTo(card) && ['acknowledged', 'blocked'].includes(card.message.status)),
    unansweredUnread: ids((card) => isFrom(card) && isUnheard(card)),
    awaitingClose: ids((card) => isFrom(card) && !isUnheard(card)),
  };
}
