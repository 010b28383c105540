import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientNames, type TranscriptClientName } from '../../../src/clients/index.ts';
import type { Reconstruction } from '../../../src/clients/reconstruction.ts';
import { createApp } from '../../../src/http/app.ts';
import type { Limits } from '../../../src/http/limits.ts';
import { createMcpHandler } from '../../../src/mcp/http.ts';
import { loadTools } from '../../../src/mcp/tools.ts';
import { hashSecret, makeSecret } from '../../../src/operations/admin/parts/token-secret.ts';
import { openContext } from '../../../src/operations/open.ts';
import { openTranscripts } from '../../../src/operations/session/parts/transcripts.ts';
import { openDatabase } from '../../../src/store/sqlite/driver.ts';
import { unlimitedToken } from '../../unlimited-token.ts';
import type { InputInterface } from './input-interfaces.ts';
import { mutate, mutateValue } from './mutator.ts';
import { newPlace, type Place, workedPlace } from './place.ts';
import type { Random } from './random.ts';

const unlimited = { perSecond: 1e9, burst: 1e9 };
/** Requests come as fast as possible and are not to be slowed down. */
export const noLimits: Partial<Limits> = { perToken: unlimited, perAddress: unlimited };

/** Input from clients: transcripts, packed and not, hook inputs, MCP messages. */
export const clientInterfaces: readonly InputInterface[] = [
  ...(['claude', 'codex', 'gemini', 'qwen', 'copilot', 'cursor'] as const).map(transcriptInterface),
  { name: 'transcripts of opencode', open: openDatabases, rounds: { long: 500, short: 8 } },
  { name: 'packed transcripts', open: openPacked },
  { name: 'hooks as processes', open: openHookProcesses, rounds: { long: 240, short: 2 } },
  { name: 'MCP messages', open: openMcp, rounds: { long: 4000, short: 40 } },
];

const FIXTURES = join('test', 'fixtures', 'transcripts');

function transcriptInterface(client: TranscriptClientName): InputInterface {
  return {
    name: `transcripts of ${client}`,
    async open() {
      const place = newPlace();
      const texts = readdirSync(join(FIXTURES, client)).map((name) => ({
        name,
        text: readFileSync(join(FIXTURES, client, name), 'utf8'),
      }));
      const others = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.jsonl'))
        .map((name) => readFileSync(join(FIXTURES, name), 'utf8'));
      return {
        async feed(random) {
          const { name, text } = random.pick(texts);
          const path = place.file(name);
          writeFileSync(path, random.chance(0.5) ? mutate(text, random, others) : mutateLines(text, random));
          return judgeReading((await openTranscripts()).reconstruct({ client, id: 'c-1', path, writtenMs: 0 }));
        },
        close: async () => place.remove(),
      };
    },
  };
}

/** Changes part of each line that is a JSON value. */
function mutateLines(text: string, random: Random): string {
  return text
    .split('\n')
    .map((line) => {
      try {
        return JSON.stringify(mutateValue(JSON.parse(line), random));
      } catch {
        return line;
      }
    })
    .join('\n');
}

/** What is read must have the declared types and be recordable. */
function judgeReading(found: Reconstruction): string {
  for (const text of [found.goal, found.lastRequest, found.lastMessage, found.endedAt])
    if (text !== null && typeof text !== 'string') throw new Error(`gives ${typeof text} for a text`);
  for (const { command } of found.commands)
    if (typeof command !== 'string') throw new Error(`gives ${typeof command} for a command`);
  for (const { path } of found.files.values())
    if (typeof path !== 'string') throw new Error(`gives ${typeof path} for a path`);
  const counts = Object.values(found.spent ?? {}) as unknown[];
  if (counts.some((count) => !Number.isFinite(count) || (count as number) < 0))
    throw new Error('gives tokens that are not a number');
  JSON.stringify(found);
  return found.entries === 0 ? 'nothing found' : found.problems.length > 0 ? 'read, with problems' : 'read';
}

async function openDatabases() {
  const place = newPlace();
  const rows = JSON.parse(readFileSync(join(FIXTURES, 'opencode', 'rows.json'), 'utf8')) as {
    session: string;
    messages: ({ id: string } & Record<string, unknown>)[];
    parts: { message: string; data: unknown }[];
    todos: { content: string; status: string }[];
  };
  const column = (value: unknown): string | number | null =>
    typeof value === 'string' || typeof value === 'number' || value === null ? value : JSON.stringify(value ?? null);
  return {
    async feed(random: Random) {
      const path = place.file('opencode.db');
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
      const writer = openDatabase(path, false);
      writer.exec(`CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, time_updated INTEGER);
        CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE part (id TEXT, message_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, position INTEGER)`);
      const hostile = (value: unknown): unknown => mutateValue(value, random, 1);
      const insert = (table: string, values: unknown[]): void => {
        writer.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?)`).run(...values.map(column));
      };
      insert('session', [rows.session, null, hostile('/repo/app'), hostile(1)]);
      for (const { id, ...data } of rows.messages)
        insert('message', [id, rows.session, hostile(1), hostile(JSON.stringify(hostile(data)))]);
      for (const [index, { message, data }] of rows.parts.entries())
        insert('part', [`p${index}`, message, index, JSON.stringify(hostile(data))]);
      for (const [index, { content, status }] of rows.todos.entries())
        insert('todo', [rows.session, hostile(content), hostile(status), index]);
      writer.close();
      if (random.chance(0.3)) flip(path, random);
      return judgeReading(
        (await openTranscripts()).reconstruct({ client: 'opencode', id: rows.session, path, writtenMs: 0 }),
      );
    },
    close: async () => place.remove(),
  };
}

function flip(path: string, random: Random): void {
  const bytes = readFileSync(path);
  for (let left = 1 + random.below(20); left > 0; left--) bytes[random.below(bytes.length)] = random.below(256);
  writeFileSync(path, bytes);
}

/** A Zstandard frame as an attacker would make it: valid, with bytes changed, or unpacking to far too much. */
async function openPacked() {
  const place = newPlace();
  const text = readFileSync(join(FIXTURES, 'codex', readdirSync(join(FIXTURES, 'codex')).sort().at(-1) ?? ''));
  return {
    async feed(random: Random) {
      const path = place.file('rollout-x.jsonl.zst');
      const isBomb = random.chance(0.02);
      // Each block is four bytes and unpacks to 128 kB, the whole to gigabytes.
      const blocks = isBomb
        ? Array.from({ length: 20_000 }, () => block(1, 128 * 1024, Buffer.from(random.pick(['x', '\n', '{']))))
        : [block(0, text.length, text)];
      writeFileSync(path, frame([...blocks, block(0, 0, Buffer.alloc(0), true)], isBomb ? 0x50 : random.below(256)));
      if (!isBomb && random.chance(0.9)) flip(path, random);
      const found = (await openTranscripts()).reconstruct({ client: 'codex', id: 'c-1', path, writtenMs: 0 });
      if (isBomb && found.problems.length === 0)
        throw new Error('a bomb was unpacked without a problem being reported');
      return isBomb ? 'bomb rejected' : judgeReading(found);
    },
    close: async () => place.remove(),
  };
}

function block(type: number, size: number, body: Buffer, isLast = false): Buffer {
  const header = (size << 3) | (type << 1) | (isLast ? 1 : 0);
  return Buffer.concat([Buffer.from([header & 0xff, (header >> 8) & 0xff, (header >> 16) & 0xff]), body]);
}

function frame(blocks: readonly Buffer[], window: number): Buffer {
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, window]), ...blocks]);
}

/** A hook never fails and prints nothing unexpected, and a logged failure is a refusal, not a bug. */
async function openHookProcesses() {
  const place: Place = workedPlace();
  const payloads = clientNames.flatMap((client) => {
    const folder = join('test', 'fixtures', 'hooks', client);
    return readdirSync(folder).map((name) => ({
      client,
      event: name.slice(3, -5),
      payload: JSON.parse(readFileSync(join(folder, name), 'utf8').replaceAll('{cwd}', place.path)) as unknown,
    }));
  });
  const log = place.file('.git', 'state', 'log', 'hook.log');
  return {
    async feed(random: Random) {
      const { client, event, payload } = random.pick(payloads);
      const text = JSON.stringify(mutateValue(payload, random));
      const input = random.chance(0.2) ? mutate(text, random, [text]) : text;
      const { code, out, err } = await place.start(['hook', client, event], { input });
      if (code !== 0 || err !== '') throw new Error(`${client} ${event}: exit ${code}, ${err}`);
      if (out !== '') JSON.parse(out);
      const logged = existsSync(log) ? readFileSync(log, 'utf8') : '';
      rmSync(log, { force: true });
      const bug = /\w+Error\b|is not a function|Cannot read|undefined|took too long/.exec(logged);
      if (bug) throw new Error(`${client} ${event}: ${logged.slice(0, 300)}`);
      return out !== '' ? 'answered' : logged === '' ? 'accepted' : 'refusal logged';
    },
    async close() {
      const { findings } = place.data('doctor') as { findings: { level: string; message: string }[] };
      place.remove();
      for (const { level, message } of findings) if (level === 'error') throw new Error(message);
    },
  };
}

async function openMcp() {
  const place = workedPlace();
  const secret = makeSecret();
  const madeAt = '2026-01-01T00:00:00.000Z';
  const actor = { kind: 'agent', name: 'ada' } as const;
  const token = { name: 't', hash: hashSecret(secret), actor, scope: 'write', madeAt, ...unlimitedToken } as const;
  const context = openContext({ dir: place.path, actor: { kind: 'person', name: 'host' }, evidence: 'library' });
  const mcp = createMcpHandler({ version: '0.0.0' });
  const app = createApp({ context, version: '0.0.0', web: place.path, own: [token], limits: noLimits, mcp });
  const tools = [...(await loadTools({ remote: true })).values()];
  const values = { key: 't1', name: 'x', text: 'Words', id: 'D-1', step: 't1', kind: 'question', to: 'ada' };
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return {
    async feed(random: Random) {
      const tool = random.pick(tools);
      const action = random.pick([...tool.actions.keys(), 'none']);
      const fields = Object.entries(values).filter(([field]) => field in tool.schema.properties && random.chance(0.8));
      const given = { ...(action === '' ? {} : { action }), ...Object.fromEntries(fields), run: 'auth' };
      const message = random.chance(0.8)
        ? { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool.name, arguments: given } }
        : { jsonrpc: '2.0', id: 1, method: random.pick(METHODS), params: { uri: 'holdfast://brief', name: 'resume' } };
      const text = JSON.stringify(mutateValue(message, random));
      const body = random.chance(0.1) ? mutate(text, random, ['{}']) : text;
      const response = await app.fetch(new Request('http://127.0.0.1:4177/mcp', { method: 'POST', body, headers }));
      const answer = await response.text();
      if (response.status >= 500 && response.status !== 503)
        throw new Error(`${response.status} ${answer.slice(0, 300)}`);
      // The library answers with the same code what it refuses as invalid protocol.
      if (/"code":-32603|"code":"internal"/.test(answer) && !/Invalid (input|option)|invalid_/.test(answer))
        throw new Error(`${text.slice(0, 200)}: ${answer.replace(/\s+/g, ' ').slice(0, 500)}`);
      return /"isError":true|"error"/.test(answer) || !response.ok ? 'refused' : 'carried out';
    },
    async close() {
      const { maintenance } = await context.engine();
      const problems = await (await maintenance()).inspect();
      await mcp.close();
      await context.close();
      place.remove();
      if (problems.length > 0) throw new Error(problems.join(' '));
    },
  };
}

const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'resources/read',
  'resources/list',
  'prompts/get',
  'logging/setLevel',
];
