import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Tool } from '../adapter.ts';
import { type Entry, keepingAdapter } from './ledger.ts';

/**
 * LangGraph as the memory of an agent that runs outside it: a thread whose state is updated (`updateState`) and read
 * (`getState`). An agent inside its loop gets the same checkpoints, written at the same moments by the same saver.
 */
export const langgraph: Tool = {
  id: 'langgraph',
  name: 'LangGraph 1.4.18, SQLite saver 1.0.4',
  durability: 'SQLite WAL, synchronous=NORMAL; a copy of the state a write',
  isProcess: false,
  packages: ['@langchain/langgraph@1.4.18', '@langchain/core@1.2.13', '@langchain/langgraph-checkpoint-sqlite@1.0.4'],
  async open({ folder, installed }) {
    const graph = await openThread(installed, { file: join(folder, 'checkpoints.sqlite') });
    return keepingAdapter({
      keep: (entries) => graph.update(entries),
      async tell() {
        const kept = await graph.read();
        return { text: kept.length === 0 ? '' : JSON.stringify(kept), calls: 1, entries: kept };
      },
      close: () => graph.close(),
    });
  },
};

export interface Thread {
  update(entries: readonly Entry[]): Promise<void>;
  read(): Promise<Entry[]>;
  close(): Promise<void>;
}

/** The functions used here; it is installed outside the project and has no types here. */
interface Library {
  Annotation: ((options: object) => unknown) & { Root(channels: object): unknown };
  StateGraph: new (
    state: unknown,
  ) => {
    addNode(name: string, run: (state: unknown) => object): unknown;
    addEdge(from: string, to: string): unknown;
    compile(options: object): {
      updateState(config: object, values: object, node: string): Promise<unknown>;
      getState(config: object): Promise<{ values: { entries?: Entry[] } }>;
    };
  };
  SqliteSaver: { fromConnString(path: string): { db: { close(): void; pragma(text: string): void } } };
  PostgresSaver: { fromConnString(url: string): { setup(): Promise<void>; end(): Promise<void> } };
}

/** Where a thread is kept. Its SQLite saver sets `synchronous=NORMAL`; `isFull` makes it wait for the disk. */
export type Place = { file: string; isFull?: boolean } | { database: string };

export async function openThread(installed: string, place: Place): Promise<Thread> {
  const require = createRequire(join(installed, 'package.json'));
  const load = async (name: string) => (await import(pathToFileURL(require.resolve(name)).href)) as Library;
  const { Annotation, StateGraph } = await load('@langchain/langgraph');
  const merge = (left: Entry[], right: Entry[]): Entry[] => {
    const byName = new Map(left.map((entry) => [`${entry.kind} ${entry.id}`, entry]));
    for (const entry of right) byName.set(`${entry.kind} ${entry.id}`, entry);
    return [...byName.values()];
  };
  const state = Annotation.Root({ entries: Annotation({ reducer: merge, default: () => [] }) });
  const builder = new StateGraph(state);
  builder.addNode('agent', () => ({}));
  builder.addEdge('__start__', 'agent');
  const { saver, close } = await openSaver(place, load);
  const graph = builder.compile({ checkpointer: saver });
  const config = { configurable: { thread_id: 'work' } };
  return {
    async update(entries) {
      await graph.updateState(config, { entries }, 'agent');
    },
    async read() {
      return (await graph.getState(config)).values.entries ?? [];
    },
    close,
  };
}

async function openSaver(place: Place, load: (name: string) => Promise<Library>) {
  if ('database' in place) {
    const { PostgresSaver } = await load('@langchain/langgraph-checkpoint-postgres');
    const saver = PostgresSaver.fromConnString(place.database);
    await saver.setup();
    return { saver, close: () => saver.end() };
  }
  const { SqliteSaver } = await load('@langchain/langgraph-checkpoint-sqlite');
  const saver = SqliteSaver.fromConnString(place.file);
  // The saver sets its own level on first use, so it is used once before another level is set.
  if (place.isFull) {
    await (saver as unknown as { setup(): void }).setup();
    saver.db.pragma('synchronous=FULL');
  }
  return { saver, close: async () => saver.db.close() };
}
