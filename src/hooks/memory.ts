import { conversationOf } from '../clients/conversation.ts';
import type { Moment, StartSource } from '../clients/moment.ts';
import type { Owner } from '../core/journal/event.ts';
import { sha256 } from '../core/sha256.ts';
import type { Context } from '../operations/context.ts';
import { setMark } from '../workspace/inbox.ts';
import type { OwnFiles } from '../workspace/own-files.ts';

/**
 * What the hooks of one conversation remember between processes: what the next answer is about, and how far its transcript
 * was read. It holds no facts about the work, may be lost without harm, and never holds words for the agent: others can
 * write this file.
 */
export interface Memory {
  /** The brief for the next answer that can carry it. */
  due?: 'joined' | 'compacted' | undefined;
  /** The process that has read the due brief already, and forgets it when it ends. */
  dueExcept?: number | undefined;
  /** The conversation was opened, and nothing was recorded of it yet. */
  arrival?: Arrival | undefined;
  /** The other unfinished runs were named in this conversation, or there were none. */
  briefed?: boolean;
  /** The next answer says that so much of the context is used. */
  hintPercent?: number | undefined;
  /** The highest threshold of context use that was reported. */
  reportedPercent?: number;
  /** How far the transcript was searched for a compaction. */
  looked?: { path: string; offset: number };
  /** How far the transcript was read for token use, and what was counted last. */
  transcript?: { path: string; offset: number; lastId?: string | undefined; total?: number[] | undefined };
}

export interface Arrival {
  at: string;
  source: StartSource;
  owner?: Owner | undefined;
  /** The run that was shown in full, and its version then. */
  shown?: { run: string; version: number } | undefined;
  /** A command to the client that came before any request. */
  command?: string | undefined;
}

export function recallMemory(files: OwnFiles, conversation: string): Memory {
  try {
    const found: unknown = JSON.parse(files.read(fileOf(conversation)) ?? '');
    return typeof found === 'object' && found !== null ? (found as Memory) : {};
  } catch {
    return {};
  }
}

export function keepMemory(files: OwnFiles, conversation: string, memory: Memory): void {
  try {
    files.replace(fileOf(conversation), JSON.stringify(memory), 'derived');
    // Tool hooks run the program only while there is something to say.
    if (memory.hintPercent !== undefined || memory.due !== undefined) setMark(files, 'ask', true);
  } catch {
    // Then a text is given twice.
  }
}

/** Whether this process is the first to give an answer: a client may run the same hook twice at the same moment. */
export function isFirstToAnswer(files: OwnFiles, answer: string): boolean {
  const file = `${FOLDER}/${sha256(answer).slice(0, 24)}.answered`;
  try {
    if (files.createOnce(file, '')) return true;
    if (Date.now() - files.modifiedMs(file) < SAME_MOMENT_MS) return false;
    files.replace(file, '', 'derived');
  } catch {
    // Where nothing can be written, an answer may be given twice.
  }
  return true;
}

/** Forgets conversations that were not continued for a long time. */
export function pruneMemory(files: OwnFiles): void {
  try {
    const names = files.list(FOLDER);
    if (names.length < PRUNE_FROM) return;
    for (const name of names.filter((one) => FILE_NAME.test(one))) {
      const file = `${FOLDER}/${name}`;
      if (Date.now() - files.modifiedMs(file) > KEEP_MS) files.remove(file);
    }
  } catch {
    // The next session start tries again.
  }
}

const FOLDER = 'hooks';
const FILE_NAME = /^[0-9a-f]{24}\.(?:json|answered)$/;
const SAME_MOMENT_MS = 4000;
const PRUNE_FROM = 64;
const KEEP_MS = 14 * 24 * 3600 * 1000;

const fileOf = (conversation: string): string => `${FOLDER}/${sha256(conversation).slice(0, 24)}.json`;

/** Files that look as if they were written, and are once what they belong to is recorded. */
export interface HeldMemory {
  files: OwnFiles;
  write(): void;
}

export function holdMemory(files: OwnFiles): HeldMemory {
  const held = new Map<string, string>();
  return {
    files: {
      ...files,
      read: (path, limitBytes) => held.get(path) ?? files.read(path, limitBytes),
      replace: (path, text) => void held.set(path, text),
    },
    write() {
      try {
        for (const [path, text] of held) files.replace(path, text, 'derived');
      } catch {
        // It may be lost without harm.
      }
    },
  };
}

/** The memory of the moment's conversation; nothing is kept where there is no workspace. */
export function memoryFor(
  context: Pick<Context, 'workspace'>,
  moment: Moment,
): { files: OwnFiles | null; memory: Memory; remember: (memory: Memory) => void } {
  const files = context.workspace()?.files ?? null;
  const conversation = conversationOf(moment);
  return {
    files,
    memory: files ? recallMemory(files, conversation) : {},
    remember: (memory) => files && keepMemory(files, conversation, memory),
  };
}
