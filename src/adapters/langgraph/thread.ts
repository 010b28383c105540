import { Fault, type Holdfast } from '../../index.ts';
import { inTurn, openOwnRun, unlessAbsent } from '../own-run.ts';
import { headKey, runOf, THREAD, writesKey } from './keys.ts';
import type { WritesDocument } from './stored.ts';

type Entry = Parameters<Holdfast['state']['putAll']>[0][number];

/** A thread and its run. */
export interface Thread {
  id: string;
  /** On the thread's own run. */
  hf: Holdfast;
  /** Null where nothing is stored, or the run does not exist. */
  get<T>(key: string): Promise<{ value: T; version: number } | null>;
  writesOf(namespace: string, checkpoint: string): Promise<{ document: WritesDocument; version: number | null }>;
  /** The latest checkpoint of a namespace. */
  headOf(namespace: string): Promise<{ id: string; version: number } | null>;
  /** Opens the run if it is not there yet. */
  put(entries: readonly Entry[], reached?: string): Promise<void>;
  /** Work that reads, changes and puts takes turns; another process that was faster makes it start again. */
  change<T>(work: () => Promise<T>): Promise<T>;
}

export interface Threads {
  of(id: string): Thread;
  /** The ids of all threads. */
  all(): Promise<string[]>;
  /** Drops the run; nothing happens where there is none. */
  drop(id: string): Promise<void>;
}

/** More than a process works on at once; opening one again costs two reads. */
const REMEMBERED = 1000;
const TRIES = 50;

export function openThreads(hf: Holdfast): Threads {
  const opened = new Set<string>();
  const turns = new Map<string, Promise<unknown>>();
  const of = (id: string): Thread => {
    const run = runOf(id);
    const own = hf.as({ run, exact: true });
    const get = async <T>(key: string) => unlessAbsent(own.state.get<T>(key));
    return {
      id,
      hf: own,
      get,
      async writesOf(namespace, checkpoint) {
        const found = await get<WritesDocument>(writesKey(namespace, checkpoint));
        return found ? { document: found.value, version: found.version } : { document: { writes: [] }, version: null };
      },
      async headOf(namespace) {
        const found = await get<string>(headKey(namespace));
        return found && { id: found.value, version: found.version };
      },
      async put(entries, reached) {
        const isOpened = opened.has(id) || (await get(THREAD)) !== null;
        if (!isOpened) await openOwnRun(hf, { run, source: SOURCE, title: `LangGraph thread ${id}` });
        const first: Entry[] = isOpened ? [] : [{ key: THREAD, value: id }];
        const options = reached === undefined ? {} : { reached };
        // Another process may have deleted it since.
        const isThere = (await unlessAbsent(own.state.putAll([...first, ...entries], options))) !== null;
        if (!isThere) {
          await openOwnRun(hf, { run, source: SOURCE, title: `LangGraph thread ${id}` });
          await own.state.putAll([{ key: THREAD, value: id }, ...entries], options);
        }
        if (opened.size >= REMEMBERED) opened.clear();
        opened.add(id);
      },
      change: (work) => inTurn(turns, id, () => untilFirst(work)),
    };
  };
  return {
    of,
    async drop(id) {
      opened.delete(id);
      await unlessAbsent(hf.drop({ run: runOf(id), reason: 'The program deleted the thread.' }));
    },
    async all() {
      const { runs } = await hf.runs({ all: true });
      const ids: string[] = [];
      for (const { id, source } of runs) {
        if (source !== SOURCE) continue;
        const found = await unlessAbsent(hf.as({ run: id, exact: true }).state.get<string>(THREAD));
        if (found) ids.push(found.value);
      }
      return ids;
    },
  };
}

const SOURCE = 'langgraph';

async function untilFirst<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.code !== 'conflict' || tries >= TRIES) throw thrown;
    }
  }
}
