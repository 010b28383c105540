import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callsFor, type Intent, SEARCH } from './intent.ts';
import type { Asked, Body, Reply, Wire } from './wire.ts';
import { anthropicMessages } from './wire-anthropic.ts';
import { geminiContents } from './wire-gemini.ts';
import { openaiChat } from './wire-openai-chat.ts';
import { openaiResponses } from './wire-openai-responses.ts';

/** One reply of the script. */
export interface Turn {
  say?: string;
  want?: Intent;
  /** For a client that has no tool for the first. */
  otherwise?: Intent | undefined;
  /** It thinks and never replies; the client is killed meanwhile. */
  hangs?: true;
  /** It refuses for this reason, now and when asked again. */
  refuses?: 'rate limit';
  /** The reported size of the context in tokens; clients compact by it. */
  inputTokens?: number;
}

/** A request that was answered from the script, or for a summary. */
export interface Request {
  kind: 'turn' | 'summary' | 'side';
  at: string;
  /** The whole body, unchanged. */
  text: string;
}

export interface Model {
  url: string;
  /** Sets the script of the next replies and the folder of their files; after it the model has nothing more to do. */
  play(turns: readonly Turn[], folder: string): void;
  requests: readonly Request[];
  /** Intents that the client had no tool for. */
  skipped: ReadonlySet<Intent['do']>;
  /** Whether a client waits for a reply that never comes. */
  isHanging(): boolean;
  /** Other hosts that were requested, and refused. */
  refused: ReadonlySet<string>;
  close(): void;
}

interface Planned {
  kind: Request['kind'];
  /** Null for none. */
  reply: Reply | null;
  refuses?: Turn['refuses'];
}

/** In a form that all of them understand. */
const RATE_LIMIT = {
  type: 'error',
  error: {
    type: 'rate_limit_error',
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'This request exceeds the rate limit.',
  },
};

const wires: readonly Wire[] = [anthropicMessages, openaiResponses, openaiChat, geminiContents];

const SUMMARY =
  '<state_snapshot>The greeting was written and changed.</state_snapshot>\n<summary>The greeting was written and changed.</summary>';

/** A model on this machine that replies from a script, in the format of the request. */
export async function openModel(logFile: string): Promise<Model> {
  let script: Turn[] = [];
  let folder = '';
  let hangs = false;
  let count = 0;
  const requests: Request[] = [];
  const skipped = new Set<Intent['do']>();
  const refused = new Set<string>();

  const replyTo = (asked: Asked): Planned => {
    count += 1;
    const id = String(count).padStart(4, '0');
    const plain = { id, calls: [], usage: { input: 2000 + count, cached: 500, output: 40 } };
    if (asksForSummary(asked)) return { kind: 'summary', reply: { ...plain, text: SUMMARY } };
    if (asked.tools.size < 3) return { kind: 'side', reply: { ...plain, text: 'A greeting' } };
    for (;;) {
      const turn = script[0];
      if (turn === undefined) return { kind: 'turn', reply: { ...plain, text: 'There is nothing more to do.' } };
      hangs ||= turn.hangs === true;
      if (turn.hangs || turn.refuses) return { kind: 'turn', reply: null, refuses: turn.refuses };
      const wanted = turn.want ? callsFor(turn.want, asked.tools, folder) : [];
      if (wanted[0]?.tool !== SEARCH) script.shift();
      if (turn.want && wanted.length === 0) {
        skipped.add(turn.want.do);
        if (turn.otherwise) script.unshift({ ...turn, want: turn.otherwise, otherwise: undefined });
        continue;
      }
      const calls = wanted.map((call, at) => ({ ...call, id: `${id}_${at}` }));
      const usage = { ...plain.usage, input: turn.inputTokens ?? plain.usage.input };
      return { kind: 'turn', reply: { id, text: turn.say ?? null, calls, usage } };
    }
  };

  const server = createServer((request, response) => {
    void answer(request, response).catch((thrown: unknown) => {
      appendFileSync(logFile, `${JSON.stringify({ failed: String(thrown) })}\n`);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://model').pathname;
    const text = await textOf(request);
    const wire = request.method === 'POST' ? wires.find((one) => one.asks(path)) : undefined;
    if (!wire) {
      appendFileSync(logFile, `${JSON.stringify({ method: request.method, path })}\n`);
      const other = otherAnswer(path);
      response.writeHead(other ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(other ?? { error: { message: 'This model does not do that.' } }));
      return;
    }
    const body = JSON.parse(text) as Body;
    const { kind, reply, refuses } = replyTo(wire.read(body));
    requests.push({ kind, at: new Date().toISOString(), text });
    appendFileSync(logFile, `${JSON.stringify({ path, kind, reply, body })}\n`);
    if (refuses) {
      response.writeHead(429, { 'content-type': 'application/json' });
      response.end(JSON.stringify(RATE_LIMIT));
    }
    if (reply === null) return;
    const written = wire.write(reply, body, path);
    response.writeHead(200, { 'content-type': written.type });
    response.end(written.text);
  }
  // It is also the proxy to other hosts, and refuses them all.
  server.on('connect', (request, socket) => {
    refused.add(request.url ?? '');
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.on('clientError', (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    play(turns, place) {
      script = [...turns];
      folder = place;
      hangs = false;
    },
    requests,
    skipped,
    isHanging: () => hangs,
    refused,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Each client words it differently; recorded text about the work mentions compactions too. */
function asksForSummary({ tools, system, lastUser }: Asked): boolean {
  if (tools.size === 0 && /context summarization agent/i.test(system)) return true;
  const words =
    /context checkpoint compaction|detailed summary|state_snapshot|summary of (?:the|our|this) conversation|summariz/i;
  // What a client adds on its own mentions summaries too.
  const asked = lastUser.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '');
  return words.test(asked) && !lastUser.includes('Holdfast');
}

/** Other requests of clients: token counts and the list of models. */
function otherAnswer(path: string): object | null {
  if (path.endsWith('/count_tokens')) return { input_tokens: 2000 };
  if (path.endsWith(':countTokens')) return { totalTokens: 2000 };
  if (path.endsWith('/models')) return { object: 'list', data: [{ id: 'scripted', object: 'model' }], models: [] };
  return null;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
