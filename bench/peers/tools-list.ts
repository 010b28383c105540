import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { estimateTokens } from '../../src/core/tokens.ts';
import { inTurns, ratios } from '../measure.ts';
import { connectMcp } from '../recovery/adapters/mcp-client.ts';
import { runProgram } from '../recovery/adapters/program.ts';
import { renderLines, times } from '../recovery/report.ts';
import { PROGRAM } from './embedded.ts';
import { installPeer } from './install.ts';

/** What a client pays for listing the tools of an MCP server, before any is called. */
export async function measureTools(folder: string, rounds: number, say: (sentence: string) => void): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const lists = new Map<string, string>();
  const contenders: Record<string, () => Promise<void>> = {};
  for (const { name, words, before } of servers(say)) {
    say(`Listing the tools of ${name} …`);
    try {
      const started = words();
      if (before) await runProgram(folder, process.execPath, [...started.slice(0, 1), ...before]);
      const connect = async (): Promise<void> => void lists.set(name, await listTools(folder, started));
      await connect();
      contenders[name] = connect;
    } catch (error) {
      say(`${name} is left out: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
    }
  }
  const taken = await inTurns(rounds, contenders);
  const rows = Object.keys(contenders).map((name) => {
    const list = lists.get(name) ?? '[]';
    return [
      ...[name, times(ratios(taken[name] ?? [], taken['Holdfast'] ?? []).median)],
      ...[String((JSON.parse(list) as unknown[]).length), `${(list.length / 1000).toFixed(1)} KB`],
      estimateTokens(list).toLocaleString('en'),
    ];
  });
  return renderLines(['MCP server', 'connect and list', 'tools', '`tools/list`', 'its tokens'], rows);
}

async function listTools(folder: string, words: readonly string[]): Promise<string> {
  const client = await withinMs(connectMcp(folder, words, { DATA_DIR: join(folder, 'data') }), CONNECT_MS);
  const { tools } = (await client.call('tools/list', {})) as { tools: unknown[] };
  await client.close();
  return JSON.stringify(tools);
}

const CONNECT_MS = 60_000;

interface McpServer {
  name: string;
  words(): string[];
  /** The command that prepares a project, if it lists its tools only in one. */
  before?: readonly string[];
}

function servers(say: (sentence: string) => void): McpServer[] {
  const installed = (name: string, ...path: string[]): string[] => [
    join(installPeer([name], say), 'node_modules', ...path),
  ];
  return [
    { name: 'Holdfast', words: () => [PROGRAM, 'mcp'], before: ['init', '--title', 'Tools'] },
    {
      name: 'mcp-memory-keeper 0.14.1',
      words: () => installed('mcp-memory-keeper@0.14.1', 'mcp-memory-keeper', 'dist', 'index.js'),
    },
    {
      name: 'GSD, @opengsd/gsd-core 1.14.0',
      words: () => installed('@opengsd/gsd-core@1.14.0', '.bin', 'gsd-mcp-server'),
    },
    {
      name: 'Backlog.md 1.52.0',
      words: () => [...installed('backlog.md@1.52.0', '.bin', 'backlog'), 'mcp', 'start'],
      before: ['init', 'tools', '--defaults', '--no-git', '--integration-mode', 'none'],
    },
    {
      name: 'Task Master 0.43.1, its core tools',
      words: () => installed('task-master-ai@0.43.1', '.bin', 'task-master-mcp'),
    },
  ];
}

function withinMs<T>(work: Promise<T>, ms: number): Promise<T> {
  return Promise.race([
    work,
    new Promise<T>((_, reject) => {
      setTimeout(() => reject(new Error('no answer to initialize')), ms).unref();
    }),
  ]);
}
