import { openHoldfast } from '../../src/index.ts';
import { openRecords } from '../recovery/adapters/dbos.ts';
import { openThread } from '../recovery/adapters/langgraph.ts';
import { numbersIn, type Peer, textOf } from './contender.ts';
import { readsOf } from './embedded.ts';
import { installPeer } from './install.ts';

const COMMITTED = 'PostgreSQL, synchronous_commit=on';
const LIBRARY = { writeAsProcess: null, readAsProcess: null, folder: null };

export const holdfastPostgres: Peer = {
  id: 'holdfast-postgres',
  needsDatabase: true,
  async open({ database, characters, isJoining }) {
    const tool = await openHoldfast({ store: database, agent: 'bench', run: 'bench' });
    if (!isJoining) await tool.init({ id: 'bench', title: 'Peers' });
    return {
      ...{ ...LIBRARY, ...readsOf(tool), name: 'Holdfast on PostgreSQL, a note', level: COMMITTED },
      write: async (number) => void (await tool.note({ text: textOf(number, characters) })),
    };
  },
};

export const langgraphPostgres: Peer = {
  id: 'langgraph-postgres',
  needsDatabase: true,
  async open({ database, characters, say }) {
    const packages = ['@langchain/langgraph@1.4.18', '@langchain/core@1.2.13'];
    const installed = installPeer([...packages, '@langchain/langgraph-checkpoint-postgres@1.0.5'], say);
    const thread = await openThread(installed, { database });
    const text = async (): Promise<string> => JSON.stringify(await thread.read());
    return {
      ...LIBRARY,
      name: 'LangGraph, PostgreSQL saver 1.0.5',
      level: COMMITTED,
      write: (number) => thread.update([{ kind: 'blocker', id: String(number), text: textOf(number, characters) }]),
      read: async () => void (await thread.read()),
      resumeText: text,
      kept: async () => numbersIn(await text()),
      close: () => thread.close(),
    };
  },
};

/** An entry is the input of its own workflow: the durable write that its library offers to external programs. */
export const dbos: Peer = {
  id: 'dbos',
  needsDatabase: true,
  async open({ database, characters, say }) {
    const records = await openRecords(installPeer(['@dbos-inc/dbos-sdk@5.3.0'], say), database);
    const text = async (): Promise<string> => JSON.stringify(await records.list());
    return {
      ...LIBRARY,
      name: 'DBOS 5.3.0',
      level: COMMITTED,
      write: (number) => records.keep(textOf(number, characters)),
      read: async () => void (await records.list()),
      resumeText: text,
      kept: async () => numbersIn(await text()),
      close: () => records.close(),
    };
  },
};
