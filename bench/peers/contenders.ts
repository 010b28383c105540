import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openHoldfast } from '../../src/index.ts';
import { createWorkspace } from '../../src/workspace/workspace.ts';
import { openThread } from '../recovery/adapters/langgraph.ts';
import { connectMcp } from '../recovery/adapters/mcp-client.ts';
import { runProgram } from '../recovery/adapters/program.ts';
import { type Contender, numbersIn, textOf } from './contender.ts';
import { installPeer } from './install.ts';

export type Opening = (folder: string, characters: number, say: (sentence: string) => void) => Promise<Contender>;

const PROGRAM = join(process.cwd(), 'dist', 'bin', 'holdfast.cjs');

/** By the names they are chosen by, Holdfast first: the others are given as ratios to it. */
export const openings: Readonly<Record<string, Opening>> = {
  async holdfast(folder, characters) {
    mkdirSync(folder, { recursive: true });
    createWorkspace(folder, () => 'w-bench');
    const holdfast = await openHoldfast({ dir: folder, agent: 'bench' });
    await holdfast.init({ id: 'bench', title: 'Peers' });
    const notes = async (): Promise<string> => {
      const { events } = await holdfast.log({ limit: 100_000 });
      return JSON.stringify(events);
    };
    return {
      name: 'Holdfast',
      level: 'fsync before every acknowledgement',
      write: async (number) => void (await holdfast.note({ text: textOf(number, characters) })),
      writeAsProcess: async (number) =>
        void (await runProgram(folder, process.execPath, [PROGRAM, 'note', textOf(number, characters)], AGENT)),
      read: async () => void (await holdfast.status()),
      resumeText: async () => (await holdfast.resume()).text,
      kept: async () => numbersIn(await notes()),
      folder: join(folder, '.holdfast'),
      close: () => holdfast.close(),
    };
  },

  async 'state-file'(folder, characters) {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'STATE.md');
    writeFileSync(path, '# State\n');
    // A process that reads the file, adds a line and writes it back, as an editor's tool does.
    const script = `const fs = require('node:fs'); const [file, line] = process.argv.slice(1);
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8') + line + '\\n');`;
    return {
      name: 'a plain state file',
      level: 'no fsync',
      write: async (number) => appendFileSync(path, `- ${textOf(number, characters)}\n`),
      writeAsProcess: async (number) =>
        void (await runProgram(folder, process.execPath, ['-e', script, path, `- ${textOf(number, characters)}`])),
      read: async () => void readFileSync(path, 'utf8'),
      resumeText: async () => readFileSync(path, 'utf8'),
      kept: async () => numbersIn(readFileSync(path, 'utf8')),
      folder,
      close: async () => undefined,
    };
  },

  async langgraph(folder, characters, say) {
    mkdirSync(folder, { recursive: true });
    const installed = installPeer(
      ['@langchain/langgraph@1.4.18', '@langchain/core@1.2.13', '@langchain/langgraph-checkpoint-sqlite@1.0.4'],
      say,
    );
    const thread = await openThread(installed, join(folder, 'checkpoints.sqlite'));
    const text = async (): Promise<string> => JSON.stringify(await thread.read());
    return {
      name: 'LangGraph, SQLite saver 1.0.4',
      level: 'SQLite WAL, synchronous=NORMAL',
      write: (number) => thread.update([{ kind: 'blocker', id: String(number), text: textOf(number, characters) }]),
      writeAsProcess: null,
      read: async () => void (await thread.read()),
      resumeText: text,
      kept: async () => numbersIn(await text()),
      folder,
      close: async () => thread.close(),
    };
  },

  async 'memory-keeper'(folder, characters, say) {
    mkdirSync(folder, { recursive: true });
    const installed = installPeer(['mcp-memory-keeper@0.14.1'], say);
    const server = join(installed, 'node_modules', 'mcp-memory-keeper', 'dist', 'index.js');
    const client = await connectMcp(folder, [server], { DATA_DIR: join(folder, 'data') });
    await client.tool('context_session_start', { name: 'bench', defaultChannel: 'bench' });
    const text = (): Promise<string> => client.tool('context_get', { channel: 'bench', limit: 10_000 });
    return {
      name: 'mcp-memory-keeper 0.14.1 (over MCP)',
      level: 'SQLite WAL, synchronous=FULL',
      async write(number) {
        const value = textOf(number, characters);
        const said = await client.tool('context_save', { key: `entry_${number}`, value, channel: 'bench' });
        if (!said.startsWith('Saved')) throw new Error(said);
      },
      writeAsProcess: null,
      read: async () => void (await text()),
      resumeText: text,
      kept: async () => numbersIn(await text()),
      folder: join(folder, 'data'),
      close: () => client.close(),
    };
  },

  async gsd(folder, characters, say) {
    const program = join(
      installPeer(['get-shit-done-cc@1.32.0'], say),
      'node_modules/get-shit-done-cc/get-shit-done/bin/gsd-tools.cjs',
    );
    return openGsd('GSD, get-shit-done-cc 1.32.0', program, folder, characters);
  },

  async 'gsd-core'(folder, characters, say) {
    const program = join(installPeer(['@opengsd/gsd-core@1.14.0'], say), 'node_modules', '.bin', 'gsd-tools');
    return openGsd('GSD, @opengsd/gsd-core 1.14.0', program, folder, characters);
  },

  async backlog(folder, characters, say) {
    mkdirSync(folder, { recursive: true });
    const program = join(installPeer(['backlog.md@1.52.0'], say), 'node_modules', '.bin', 'backlog');
    const call = (...words: string[]): Promise<string> => runProgram(folder, program, words);
    await call('init', 'bench', '--defaults', '--no-git', '--integration-mode', 'none');
    await call('task', 'create', 'Bench', '--plain');
    const text = (): Promise<string> => call('task', 'view', 'TASK-1', '--plain');
    return {
      name: 'Backlog.md 1.52.0',
      level: 'no fsync',
      write: null,
      writeAsProcess: async (number) =>
        void (await call('task', 'edit', 'TASK-1', '--append-notes', textOf(number, characters), '--plain')),
      read: null,
      resumeText: text,
      kept: async () => numbersIn(await text()),
      folder: join(folder, 'backlog'),
      close: async () => undefined,
    };
  },
};

const AGENT = { HOLDFAST_AGENT: 'bench' };

/** Its state tools are a program; it has no library. */
function openGsd(name: string, program: string, folder: string, characters: number): Contender {
  const planning = join(folder, '.planning');
  mkdirSync(planning, { recursive: true });
  const path = join(planning, 'STATE.md');
  writeFileSync(join(planning, 'config.json'), '{}\n');
  writeFileSync(path, GSD_STATE);
  const text = async (): Promise<string> => readFileSync(path, 'utf8');
  return {
    name,
    level: 'no fsync',
    write: null,
    writeAsProcess: async (number) => {
      const words = ['state', 'add-decision', '--phase', '1', '--summary', textOf(number, characters)];
      await runProgram(folder, process.execPath, [program, ...words]);
    },
    read: null,
    resumeText: text,
    kept: async () => numbersIn(await text()),
    folder: planning,
    close: async () => undefined,
  };
}

const GSD_STATE = `# Project State

## Current Position

Phase: 1 of 1 (Bench)
Plan: 1 of 1 in current phase
Status: In progress
Last activity: 2026-01-01 — Began

## Accumulated Context

### Decisions

None yet.

### Blockers/Concerns

None yet.

## Session Continuity

Last session: 2026-01-01
Stopped at: Began
Resume file: None
`;
