import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../core/sha256.ts';
import { writeAtomically } from '../workspace/write.ts';

/**
 * What the hooks of one conversation remember between processes: the text for the next answer, and how far its transcript
 * was read. It holds no facts about the work and may be lost without harm.
 */
export interface Memory {
  /** The brief for the next answer that can carry it. */
  due?: 'start' | 'compacted' | undefined;
  /** A brief was given in this conversation. */
  briefed?: boolean;
  /** A sentence for the next answer. */
  hint?: string | undefined;
  /** The highest threshold of context use that was reported. */
  reportedPercent?: number;
  /** How far the transcript was searched for a compaction. */
  looked?: { path: string; offset: number };
  /** How far the transcript was read for token use, and what was counted last. */
  transcript?: { path: string; offset: number; lastId?: string | undefined; total?: number[] | undefined };
}

export function recallMemory(folder: string, conversation: string): Memory {
  try {
    const found: unknown = JSON.parse(readFileSync(fileOf(folder, conversation), 'utf8'));
    return typeof found === 'object' && found !== null ? (found as Memory) : {};
  } catch {
    return {};
  }
}

export function keepMemory(folder: string, conversation: string, memory: Memory): void {
  try {
    mkdirSync(join(folder, FOLDER), { recursive: true, mode: 0o700 });
    writeAtomically(fileOf(folder, conversation), JSON.stringify(memory), false);
  } catch {
    // Then a text is given twice.
  }
}

/** Whether this process is the first to give an answer: a client may run the same hook twice at the same moment. */
export function isFirstToAnswer(folder: string, answer: string): boolean {
  const file = join(folder, FOLDER, `${sha256(answer).slice(0, 24)}.answered`);
  try {
    mkdirSync(join(folder, FOLDER), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'wx', 0o600));
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') return true;
    try {
      const now = Date.now();
      if (now - statSync(file).mtimeMs < SAME_MOMENT_MS) return false;
      utimesSync(file, now / 1000, now / 1000);
    } catch {
      // It was removed meanwhile, by a process that has not given this answer.
    }
    return true;
  }
}

/** Forgets conversations that were not continued for a long time. */
export function pruneMemory(folder: string): void {
  try {
    const names = readdirSync(join(folder, FOLDER));
    if (names.length < PRUNE_FROM) return;
    for (const name of names) {
      const file = join(folder, FOLDER, name);
      if (Date.now() - statSync(file).mtimeMs > KEEP_MS) unlinkSync(file);
    }
  } catch {
    // The next session start tries again.
  }
}

const FOLDER = 'hooks';
const SAME_MOMENT_MS = 4000;
const PRUNE_FROM = 64;
const KEEP_MS = 14 * 24 * 3600 * 1000;

const fileOf = (folder: string, conversation: string): string =>
  join(folder, FOLDER, `${sha256(conversation).slice(0, 24)}.json`);
