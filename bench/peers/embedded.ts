import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openHoldfast } from '../../src/index.ts';
import { createWorkspace } from '../../src/workspace/workspace.ts';
import { openThread } from '../recovery/adapters/langgraph.ts';
import { connectMcp } from '../recovery/adapters/mcp-client.ts';
import { runProgram } from '../recovery/adapters/program.ts';
import { type Contender, numbersIn, type Peer, type Place, textOf } from './contender.ts';
import { installPeer } from './install.ts';

export const PROGRAM = join(process.cwd(), 'dist', 'bin', 'holdfast.cjs');
const AGENT = { HOLDFAST_AGENT: 'bench' };

/** The most frequent change by agents: a checkpoint of the step they hold. */
export const holdfast: Peer = {
  id: 'holdfast',
  parts: ['times', 'parallel'],
  async open(place) {
    const { tool, call, ...rest } = await openWork(place);
    const next = (number: number): string => textOf(number, place.characters);
    return {
      ...rest,
      name: 'Holdfast, a checkpoint',
      write: async (number) => void (await tool.checkpoint({ name: `point-${number}`, next: next(number) })),
      writeAsProcess: async (number) => void (await call('checkpoint', `point-${number}`, '--next', next(number))),
    };
  },
};

/** A note: it is searchable and in WORKLOG.md. */
export const holdfastNote: Peer = {
  id: 'holdfast-note',
  async open(place) {
    const { tool, call, ...rest } = await openWork(place);
    const text = (number: number): string => textOf(number, place.characters);
    return {
      ...rest,
      name: 'Holdfast, a note',
      write: async (number) => void (await tool.note({ text: text(number) })),
      writeAsProcess: async (number) => void (await call('note', text(number))),
    };
  },
};

async function openWork({ folder, isJoining }: Place) {
  const workspace = createWorkspace(folder);
  const tool = await openHoldfast({ dir: folder, agent: 'bench' });
  if (!isJoining) {
    await tool.init({ id: 'bench', title: 'Peers' });
    await tool.plan.add({ key: 't1', title: 'Work' });
    await tool.start({ key: 't1' });
  }
  const call = (...words: string[]): Promise<string> =>
    runProgram(folder, process.execPath, [PROGRAM, ...words], AGENT);
  return {
    ...readsOf(tool),
    ...{ tool, call, level: 'fsync before every acknowledgement', folder: workspace.folder },
    readAsProcess: async () => void (await call('status')),
  };
}

/** What is the same in any store. */
export function readsOf(tool: Awaited<ReturnType<typeof openHoldfast>>) {
  return {
    read: async () => void (await tool.status()),
    resumeText: async () => (await tool.resume()).text,
    kept: async () => numbersIn(JSON.stringify((await tool.log({ limit: 100_000 })).events)),
    close: () => tool.close(),
  };
}

export const stateFile: Peer = {
  id: 'state-file',
  async open({ folder, characters, isJoining }) {
    const path = join(folder, 'STATE.md');
    if (!isJoining) writeFileSync(path, '# State\n');
    const call = (...words: string[]): Promise<string> => runProgram(folder, process.execPath, ['-e', ...words]);
    return {
      name: 'a plain state file',
      level: 'no fsync',
      write: async (number) => appendFileSync(path, `- ${textOf(number, characters)}\n`),
      writeAsProcess: async (number) => void (await call(ADD_LINE, path, `- ${textOf(number, characters)}`)),
      read: async () => void readFileSync(path, 'utf8'),
      readAsProcess: async () => void (await call(PRINT, path)),
      resumeText: async () => readFileSync(path, 'utf8'),
      kept: async () => numbersIn(readFileSync(path, 'utf8')),
      folder,
      close: async () => undefined,
    };
  },
};

/** A process that reads the file, adds a line and writes it back, as an editor's tool does. */
const ADD_LINE = `const fs = require('node:fs'); const [file, line] = process.argv.slice(1);
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8') + line + '\\n');`;
const PRINT = `process.stdout.write(require('node:fs').readFileSync(process.argv[1], 'utf8'))`;

export const langgraph: Peer = {
  id: 'langgraph',
  open: (place) => openLanggraph(place, false),
};

export const langgraphFull: Peer = {
  id: 'langgraph-full',
  parts: ['times'],
  open: (place) => openLanggraph(place, true),
};

async function openLanggraph({ folder, characters, say }: Place, isFull: boolean): Promise<Contender> {
  const packages = ['@langchain/langgraph@1.4.18', '@langchain/core@1.2.13'];
  const installed = installPeer([...packages, '@langchain/langgraph-checkpoint-sqlite@1.0.4'], say);
  const thread = await openThread(installed, { file: join(folder, 'checkpoints.sqlite'), isFull });
  const text = async (): Promise<string> => JSON.stringify(await thread.read());
  return {
    name: `LangGraph, SQLite saver 1.0.4${isFull ? ', with synchronous=FULL' : ''}`,
    level: isFull ? 'fsync before every acknowledgement' : 'SQLite WAL, synchronous=NORMAL',
    write: (number) => thread.update([{ kind: 'blocker', id: String(number), text: textOf(number, characters) }]),
    writeAsProcess: null,
    read: async () => void (await thread.read()),
    readAsProcess: null,
    resumeText: text,
    kept: async () => numbersIn(await text()),
    folder,
    close: () => thread.close(),
  };
}

export const memoryKeeper: Peer = {
  id: 'memory-keeper',
  async open({ folder, characters, say }) {
    const installed = installPeer(['mcp-memory-keeper@0.14.1'], say);
    const server = join(installed, 'node_modules', 'mcp-memory-keeper', 'dist', 'index.js');
    const client = await connectMcp(folder, [server], { DATA_DIR: join(folder, 'data') });
    await client.tool('context_session_start', { name: 'bench', defaultChannel: 'bench' });
    const text = (): Promise<string> => client.tool('context_get', { channel: 'bench', limit: 10_000 });
    return {
      name: 'mcp-memory-keeper 0.14.1 (over MCP)',
      level: 'fsync before every acknowledgement',
      async write(number) {
        const value = textOf(number, characters);
        const said = await client.tool('context_save', { key: `entry_${number}`, value, channel: 'bench' });
        // A refusal comes as an ordinary answer.
        if (!said.startsWith('Saved')) throw new Error(said);
      },
      writeAsProcess: null,
      read: async () => void (await text()),
      readAsProcess: null,
      resumeText: text,
      kept: async () => numbersIn(await text()),
      folder: join(folder, 'data'),
      close: () => client.close(),
    };
  },
};
