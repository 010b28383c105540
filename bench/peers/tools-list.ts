import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { estimateTokens } from '../../src/core/tokens.ts';
import { connectMcp } from '../recovery/adapters/mcp-client.ts';
import { runProgram } from '../recovery/adapters/program.ts';
import { renderLines } from '../recovery/report.ts';
import { installPeer } from './install.ts';

const PROGRAM = join(process.cwd(), 'dist', 'bin', 'holdfast.cjs');

/** What a client pays for knowing the tools of an MCP server, before any is called. */
export async function measureTools(folder: string, say: (sentence: string) => void): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const rows: string[][] = [];
  for (const { name, words } of servers(say)) {
    say(`Listing the tools of ${name} …`);
    try {
      if (name === 'Holdfast') await runProgram(folder, process.execPath, [PROGRAM, 'init', '--title', 'Tools']);
      const client = await withinMs(connectMcp(folder, words(), { DATA_DIR: join(folder, 'data') }), CONNECT_MS);
      const { tools } = (await client.call('tools/list', {})) as { tools: unknown[] };
      await client.close();
      rows.push([name, String(tools.length), estimateTokens(JSON.stringify(tools)).toLocaleString('en')]);
    } catch (error) {
      say(`${name} is left out: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
    }
  }
  return renderLines(['MCP server', 'tools', 'tokens of `tools/list`'], rows);
}

const CONNECT_MS = 60_000;

function servers(say: (sentence: string) => void): { name: string; words(): string[] }[] {
  const installed = (name: string, ...path: string[]): string[] => [
    join(installPeer([name], say), 'node_modules', ...path),
  ];
  return [
    { name: 'Holdfast', words: () => [PROGRAM, 'mcp'] },
    {
      name: 'mcp-memory-keeper 0.14.1',
      words: () => installed('mcp-memory-keeper@0.14.1', 'mcp-memory-keeper', 'dist', 'index.js'),
    },
    {
      name: 'GSD, @opengsd/gsd-core 1.14.0',
      words: () => installed('@opengsd/gsd-core@1.14.0', '.bin', 'gsd-mcp-server'),
    },
    { name: 'Task Master 0.43.1', words: () => installed('task-master-ai@0.43.1', '.bin', 'task-master-mcp') },
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
