import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { closingFence, openingFence } from '../formats/snap/revision.ts';
import type { MailClass, TaskStatus } from '../formats/snap/snapshot.ts';
import { isInside, realPathOf } from '../workspace/files.ts';
import { findGit } from '../workspace/git.ts';

/** What the rules hold a snapshot against, wherever that is kept. What cannot be told is null or not there. */
export interface ContractFiles {
  /** For sentences: `working-session`, `event 12 of run auth`. */
  place: string;
  /** What is said of the agent's work, source by source. */
  tasks(agent: string): readonly TaskStanding[];
  mail(agent: string): Readonly<Record<MailClass, readonly string[]>> | null;
  /** Those of the ids that are known; null where there is no list of questions. */
  questions(ids: readonly string[]): Promise<ReadonlySet<string> | null>;
  file(path: string): 'present' | 'absent' | 'unknown';
}

export interface TaskStanding {
  source: string;
  /** Null where only words tell. */
  status: TaskStatus | null;
  /** The ids of the tasks it may be; empty for none. */
  keys: readonly string[];
  text: string;
}

/** The files of a working session that lie in a folder, read as they stand. Null when none of them does. */
export async function contractFolder(folder: string): Promise<ContractFiles | null> {
  const read = (name: string): string | null => readText(join(folder, name));
  const turnfile = read('TURNFILE.yaml');
  const worklog = read('WORKLOG.md');
  const mailbox = read('MAILBOX.md');
  const questions = read('OPEN_QUESTIONS.md');
  if (turnfile === null && worklog === null && mailbox === null && questions === null) return null;
  const turns = turnfile === null ? null : await readTurnfile(turnfile);
  const cards = mailbox === null ? null : cardsIn(mailbox);
  const known = questions === null ? null : questionIds(questions);
  return {
    place: basename(resolve(folder)),
    tasks: (agent) => [...(turns?.(agent) ?? []), ...(worklog === null ? [] : worklogLine(worklog, agent))],
    mail: (agent) => (cards === null ? null : mailFrom(cards, agent)),
    questions: async (ids) => (known === null ? null : new Set(ids.filter((id) => known.has(id)))),
    file: (path) => findFile(rootsOf(folder), path),
  };
}

const READ_BYTES = 16 * 1024 * 1024;

export function readText(file: string): string | null {
  try {
    const found = statSync(file);
    return found.isFile() && found.size <= READ_BYTES ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}

/** Paths in snapshots are meant from the top of the repository, mostly. */
function rootsOf(folder: string): string[] {
  const git = findGit(folder);
  return [...new Set([...(git ? [git.root] : []), resolve(folder, '..'), resolve(folder)])];
}

/** Only whether it is there; a path that leads out of the tree is not followed. */
export function findFile(roots: readonly string[], path: string): 'present' | 'absent' | 'unknown' {
  let inside = false;
  for (const root of roots) {
    const file = isAbsolute(path) ? path : join(root, path);
    if (!isInside(realPathOf(root), realPathOf(file))) continue;
    inside = true;
    if (existsSync(file)) return 'present';
  }
  return inside ? 'absent' : 'unknown';
}

type Turns = (agent: string) => TaskStanding[];

/** Enough of the Turnfile: whose turn it is at what, and how that task stands. */
async function readTurnfile(text: string): Promise<Turns | null> {
  const { parse } = await import('yaml');
  let read: unknown;
  try {
    read = parse(text, { uniqueKeys: false, logLevel: 'silent', maxAliasCount: 0 });
  } catch {
    return null;
  }
  const tasks = entriesOf(field(field(read, 'coordination'), 'tasks'));
  const agents = entriesOf(field(read, 'agents'));
  return (agent) => {
    const found = agents.find(([name]) => name.toLowerCase() === agent.toLowerCase())?.[1];
    if (found === undefined) return [];
    const current = field(found, 'current_task');
    const source = 'TURNFILE.yaml';
    if (typeof current !== 'string') return [{ source, status: 'complete', keys: [], text: 'no current task' }];
    const status = String(field(tasks.find(([name]) => name === current)?.[1], 'status'));
    return [{ source, status: turnStatus[status] ?? null, keys: [current], text: `${current} is ${status}` }];
  };
}

const turnStatus: Readonly<Record<string, TaskStatus>> = {
  done: 'complete',
  pending: 'partial',
  claimed: 'partial',
  in_progress: 'partial',
  blocked: 'blocked',
};

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** `Now Working (Claude): …`. */
function worklogLine(text: string, agent: string): TaskStanding[] {
  for (const line of text.split('\n', 200)) {
    const [, name = '', told = ''] = /^Now Working \(([^)]{1,80})\):\s*(.*)$/.exec(line.trim()) ?? [];
    if (name.toLowerCase() === agent.toLowerCase())
      return [{ source: 'WORKLOG.md', status: null, keys: [], text: told.slice(0, 2000) }];
  }
  return [];
}

interface Card {
  id: string;
  from: string;
  to: string;
  status: string;
  answered: boolean;
}

/** Cards of the mailbox, in bold or as tables; what stands in a fence is a payload and no card. */
function cardsIn(text: string): Card[] {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const cards: Card[] = [];
  let card: Card | null = null;
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] ?? '').slice(0, 2000);
    const fence = openingFence(line);
    if (fence) {
      index = closingFence(lines, index, fence);
      continue;
    }
    const heading = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
    if (heading !== undefined) {
      const id = /^(MSG-[\w-]+|M-\d+)/.exec(heading.trim())?.[1];
      card = id === undefined ? null : { id, from: '', to: '', status: '', answered: false };
      if (card) cards.push(card);
    } else if (card) readCardLine(card, line);
  }
  return cards;
}

function readCardLine(card: Card, line: string): void {
  const bold = /^\*\*([^*:]{2,30}):\*\*\s*(.*)$/.exec(line);
  const row = /^\|\s*([^|]{2,30}?)\s*\|\s*([^|]*?)\s*\|\s*$/.exec(line);
  const [, name = '', value = ''] = bold ?? row ?? [];
  const key = name.toLowerCase();
  if (key === 'status') card.status = value.trim().toLowerCase();
  else if (key.startsWith('reply')) card.answered = true;
  else if (key === 'to') card.to = value.trim();
  else if (key === 'from' || key === 'from -> to') {
    const [from = '', to = ''] = value.split(/->|→/);
    card.from = from.trim();
    if (to.trim() !== '') card.to = to.trim();
  }
}

const isClosed = ({ status }: Card): boolean => /^(closed|resolved|superseded|withdrawn|abandoned)/.test(status);

function mailFrom(cards: readonly Card[], agent: string): Record<MailClass, string[]> {
  const open = cards.filter((card) => !isClosed(card));
  const same = (name: string): boolean => name.toLowerCase() === agent.toLowerCase();
  const ids = (wanted: (card: Card) => boolean): string[] => open.filter(wanted).map((card) => card.id);
  const isUnread = (card: Card): boolean => card.status === 'unread' && !card.answered;
  return {
    unread: ids((card) => same(card.to) && card.status === 'unread'),
    pendingAcks: ids((card) => same(card.to) && /^(acknowledged|blocked)/.test(card.status)),
    unansweredUnread: ids((card) => same(card.from) && isUnread(card)),
    awaitingClose: ids((card) => same(card.from) && !isUnread(card)),
  };
}

/** The ids in the first column of any table: the headings differ between projects. */
function questionIds(text: string): Set<string> {
  const ids = new Set<string>();
  for (const line of text.split('\n')) {
    const id = /^\|\s*[*`]{0,2}((?:OQ|Q)-[\w-]{1,40})[*`]{0,2}\s*\|/.exec(line)?.[1];
    if (id !== undefined) ids.add(id);
  }
  return ids;
}

/** The folder whose files a snapshot in this file belongs to. */
export const folderOf = (file: string): string => dirname(resolve(file));
