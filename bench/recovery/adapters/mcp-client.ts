import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { stateHome } from './program.ts';

export interface McpClient {
  call(method: string, params: object): Promise<Record<string, unknown>>;
  /** The text of a tool's answer. */
  tool(name: string, input: object): Promise<string>;
  close(): Promise<void>;
}

/** A client of an MCP server on the standard streams of a process. */
export async function connectMcp(
  folder: string,
  words: readonly string[],
  env: Record<string, string>,
): Promise<McpClient> {
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...stateHome(), ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const waiting = new Map<number, { resolve(value: Record<string, unknown>): void; reject(error: Error): void }>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return;
    const { id, result, error } = JSON.parse(line) as {
      id?: number;
      result?: Record<string, unknown>;
      error?: { message: string };
    };
    const one = waiting.get(id ?? -1);
    waiting.delete(id ?? -1);
    if (error) one?.reject(new Error(error.message));
    else one?.resolve(result ?? {});
  });
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => {
      for (const one of waiting.values()) one.reject(new Error('The server has ended.'));
      resolve();
    });
  });
  let last = 0;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const call: McpClient['call'] = (method, params) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      send({ id: last, method, params });
    });
  const clientInfo = { name: 'bench', version: '1' };
  await call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  return {
    call,
    async tool(name, input) {
      const { content, isError } = (await call('tools/call', { name, arguments: input })) as {
        content: { text?: string }[];
        isError?: boolean;
      };
      const text = content.map((part) => part.text ?? '').join('\n');
      if (isError) throw new Error(text);
      return text;
    },
    async close() {
      child.stdin.end();
      child.kill();
      await ended;
    },
  };
}
