import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Folder, program } from './command-line.ts';

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
type Json = any;

export interface McpClient {
  pid: number | undefined;
  request(method: string, params?: object): Promise<Json>;
  /** The error a request is answered with. */
  error(method: string, params?: object): Promise<{ code: number; message: string; data?: Json }>;
  notify(method: string, params?: object): void;
  call(tool: string, args?: object, meta?: object): Promise<Json>;
  /** The next notification of a kind, which may have arrived already. */
  notification(method: string): Promise<Json>;
  /** Everything the server has written to standard output. */
  lines: string[];
  /** Ends the server's input and returns the exit code. */
  close(): Promise<number | null>;
}

export interface ClientOptions {
  name?: string;
  env?: Record<string, string>;
  words?: readonly string[];
  /** Speaks the revision that has no handshake. */
  modern?: boolean;
}

/** A minimal client of the Model Context Protocol, with the server as a process. */
export async function openClient(folder: Folder, options: ClientOptions = {}): Promise<McpClient> {
  const { name = 'claude-code', env = {}, words = [], modern = false } = options;
  const child = spawn(process.execPath, [program, 'mcp', ...words], {
    cwd: folder.path,
    env: { ...folder.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const waiting = new Map<number, (message: Json) => void>();
  const heard: Json[] = [];
  const listeners = new Set<() => void>();
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    const message = JSON.parse(line);
    if (message.id !== undefined && !message.method) waiting.get(message.id)?.(message);
    else {
      heard.push(message);
      for (const listener of listeners) listener();
    }
  });
  let last = 0;
  const clientInfo = { name, version: '1.0.0' };
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const write = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const ask = (method: string, params: { _meta?: object } = {}): Promise<Json> =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      write({ id, method, params: modern ? { ...params, _meta: { ...envelope, ...params._meta } } : params });
    });
  const client: McpClient = {
    pid: child.pid,
    lines,
    async request(method, params) {
      const { result, error } = await ask(method, params);
      if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
      return result;
    },
    async error(method, params) {
      const { result, error } = await ask(method, params);
      if (!error) throw new Error(`${method} was not refused: ${JSON.stringify(result)}`);
      return error;
    },
    notify: (method, params = {}) => write({ method, params }),
    call: (tool, args = {}, meta) =>
      client.request('tools/call', { name: tool, arguments: args, ...(meta ? { _meta: meta } : {}) }),
    async notification(method) {
      for (;;) {
        const index = heard.findIndex((message) => message.method === method);
        if (index >= 0) return heard.splice(index, 1)[0].params;
        await new Promise<void>((resolve) => {
          const listener = (): void => {
            listeners.delete(listener);
            resolve();
          };
          listeners.add(listener);
        });
      }
    },
    async close() {
      child.stdin.end();
      const [code] = await exited;
      return code as number | null;
    },
  };
  if (!modern) {
    await client.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    client.notify('notifications/initialized');
  }
  return client;
}
