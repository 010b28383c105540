import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../recovery/adapters/program.ts';
import { connectTaskMaster } from '../recovery/adapters/task-master.ts';
import { type Contender, numbersIn, type Peer, type Place, textOf } from './contender.ts';
import { installPeer } from './install.ts';

export const backlog: Peer = {
  id: 'backlog',
  async open({ folder, characters, isJoining, say }) {
    const program = join(installPeer(['backlog.md@1.52.0'], say), 'node_modules', '.bin', 'backlog');
    const call = (...words: string[]): Promise<string> => runProgram(folder, program, words);
    if (!isJoining) {
      await call('init', 'bench', '--defaults', '--no-git', '--integration-mode', 'none');
      await call('task', 'create', 'Bench', '--plain');
    }
    const text = (): Promise<string> => call('task', 'view', 'TASK-1', '--plain');
    return {
      name: 'Backlog.md 1.52.0',
      level: 'no fsync',
      write: null,
      writeAsProcess: async (number) =>
        void (await call('task', 'edit', 'TASK-1', '--append-notes', textOf(number, characters), '--plain')),
      read: null,
      readAsProcess: async () => void (await text()),
      resumeText: text,
      kept: async () => numbersIn(await text()),
      folder: join(folder, 'backlog'),
      close: async () => undefined,
    };
  },
};

/** Entries are subtasks: other texts are written by a model, which is not used here. */
export const taskMaster: Peer = {
  id: 'task-master',
  async open({ folder, characters, isJoining, say }) {
    const installed = installPeer(['task-master-ai@0.43.1'], say);
    const program = join(installed, 'node_modules', '.bin', 'task-master');
    const { call, close } = await connectTaskMaster(folder, installed);
    if (!isJoining) await call('add_task', { title: 'Bench', description: 'Bench' });
    const text = (): Promise<string> => call('get_tasks', { withSubtasks: true });
    return {
      name: 'Task Master 0.43.1 (over MCP)',
      level: 'no fsync',
      async write(number) {
        const description = textOf(number, characters);
        await call('add_subtask', { id: '1', title: `Note ${number}`, description, skipGenerate: true });
      },
      async writeAsProcess(number) {
        const words = ['--parent=1', `--title=Note ${number}`, `--description=${textOf(number, characters)}`];
        await runProgram(folder, program, ['add-subtask', ...words]);
      },
      read: async () => void (await text()),
      readAsProcess: async () => void (await runProgram(folder, program, ['list', '--json'])),
      resumeText: text,
      kept: async () => numbersIn(await text()),
      folder: join(folder, '.taskmaster'),
      close,
    };
  },
};

export const gsd: Peer = {
  id: 'gsd',
  async open(place) {
    const installed = installPeer(['get-shit-done-cc@1.32.0'], place.say);
    const program = 'get-shit-done-cc/get-shit-done/bin/gsd-tools.cjs';
    return openGsd('GSD, get-shit-done-cc 1.32.0', join(installed, 'node_modules', program), place);
  },
};

export const gsdCore: Peer = {
  id: 'gsd-core',
  async open(place) {
    const installed = installPeer(['@opengsd/gsd-core@1.14.0'], place.say);
    return openGsd('GSD, @opengsd/gsd-core 1.14.0', join(installed, 'node_modules', '.bin', 'gsd-tools'), place);
  },
};

/** Its state tools are a program; there is no library. */
function openGsd(name: string, program: string, { folder, characters, isJoining }: Place): Contender {
  const planning = join(folder, '.planning');
  const path = join(planning, 'STATE.md');
  if (!isJoining) {
    mkdirSync(planning, { recursive: true });
    writeFileSync(join(planning, 'config.json'), '{}\n');
    writeFileSync(path, GSD_STATE);
  }
  const call = (...words: string[]): Promise<string> => runProgram(folder, process.execPath, [program, ...words]);
  const text = async (): Promise<string> => readFileSync(path, 'utf8');
  return {
    name,
    level: 'no fsync',
    write: null,
    writeAsProcess: async (number) =>
      void (await call('state', 'add-decision', '--phase', '1', '--summary', textOf(number, characters))),
    read: null,
    readAsProcess: async () => void (await call('state-snapshot')),
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
