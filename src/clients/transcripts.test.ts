import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { zstandardBlock, zstandardFrame } from '../../test/zstandard.ts';
import { openTranscripts } from '../operations/session/parts/transcripts.ts';
import { openDatabase } from '../store/sqlite/driver.ts';
import type { TranscriptClientName } from './index.ts';
import { outcomeOf } from './reconstruction.ts';
import type { Transcript } from './transcript.ts';

const transcripts = await openTranscripts();
const fixtures = fileURLToPath(new URL('../../test/fixtures/transcripts/', import.meta.url));
const ID = '6f1d0c52-0000-4000-8000-00000000000';
const samples: [client: TranscriptClientName, file: string, id: string][] = [
  ['claude', 'claude/session.jsonl', `${ID}1`],
  ['codex', `codex/rollout-2026-03-01T10-00-00-${ID}2.jsonl`, `${ID}2`],
  ['gemini', 'gemini/session-2026-03-01T10-00-6f1d0c52.jsonl', `${ID}3`],
  ['qwen', `qwen/${ID}4.jsonl`, `${ID}4`],
  ['copilot', 'copilot/events.jsonl', `${ID}5`],
  ['cursor', `cursor/${ID}7.jsonl`, `${ID}7`],
];

const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});
function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-transcripts-'));
  made.push(path);
  return path;
}

function read(path: string) {
  const transcript = transcripts.recognise(path, undefined);
  if (!transcript) throw new Error(`${path} was not recognised.`);
  return { transcript, found: transcripts.reconstruct(transcript) };
}

/** The same short conversation in every client's own form. */
function expectConversation(found: ReturnType<typeof read>['found'], client: string): void {
  expect(found).toMatchObject({
    goal: 'Add a login form',
    lastRequest: 'Add a login form',
    lastMessage: 'Now I deploy.',
  });
  const login = [...found.files.values()].filter((file) => file.path.endsWith('src/login.ts'));
  expect(login[0]).toMatchObject({ read: false, change: client === 'cursor' ? 'modified' : 'created' });
  expect(found.commands.map((one) => [one.command.slice(0, 14), outcomeOf(one)])).toEqual([
    ['npm test', client === 'cursor' ? 'unknown' : 'failed'],
    ['npm run deploy', 'running'],
  ]);
  expect(found.running).toHaveLength(1);
  expect(found.isMidTurn).toBe(true);
}

describe.each(samples)('a transcript of %s', (client, file, id) => {
  it('is recognised and read as a whole', () => {
    const { transcript, found } = read(join(fixtures, file));
    expect(transcript).toMatchObject({ client, id });
    expectConversation(found, client);
    expect(found.problems).toEqual([]);
  });

  it('is read up to a torn end, past unknown kinds and lines that are not JSON', () => {
    const path = join(newFolder(), file.split('/').at(-1) ?? '');
    const text = readFileSync(join(fixtures, file), 'utf8');
    const strange = '{"type":"brand-new","payload":{"type":"x"},"data":7,"message":"?"}\nnot json\n[1]\n\0\0\0\n';
    writeFileSync(path, `${text}${strange}{"type":"user","message":{"content":"never fin`);
    const transcript: Transcript = { client, id, path, writtenMs: 0 };
    const found = transcripts.reconstruct(transcript);
    expectConversation(found, client);
    expect(found.problems).toHaveLength(3);
    expect(found.problems.at(-1)).toContain('torn');
  });
});

it.each([
  // Claude: 4 messages of 100 and 10 into the cache and 40 from it.
  ['claude/session.jsonl', { input: 600, output: 80, cached: 160 }],
  [`codex/rollout-2026-03-01T10-00-00-${ID}2.jsonl`, { input: 300, output: 40, cached: 80 }],
  ['gemini/session-2026-03-01T10-00-6f1d0c52.jsonl', { input: 450, output: 60, cached: 120 }],
  [`qwen/${ID}4.jsonl`, { input: 600, output: 80, cached: 160 }],
  ['copilot/events.jsonl', { input: 300, output: 40, cached: 80 }],
])('counts the tokens of %s with the cache inside the input', (file, spent) => {
  expect(read(join(fixtures, file)).found.spent).toEqual(spent);
});

it.each([
  'claude/session.jsonl',
  'gemini/session-2026-03-01T10-00-6f1d0c52.jsonl',
  `qwen/${ID}4.jsonl`,
  'copilot/events.jsonl',
])('takes decisions from the summary of a compaction in %s', (file) => {
  expect(read(join(fixtures, file)).found.decisions[0]).toMatch(/^Keep the token in a cookie/);
});

it('redacts secrets', () => {
  const { commands } = read(join(fixtures, 'claude/session.jsonl')).found;
  expect(commands.at(-1)?.command).toBe('npm run deploy -- --token [redacted: github token]');
});

it('reads rollouts of old versions', () => {
  const { found } = read(join(fixtures, 'codex/legacy.jsonl'));
  expect(found).toMatchObject({ goal: 'Add a login form', lastMessage: 'The form is there.', isMidTurn: false });
  expect(found.commands.map((one) => [one.command, one.result?.exitCode])).toEqual([['npm test', 1]]);
  expect([...found.files.keys()]).toEqual(['/repo/app/src/login.ts']);
});

it('reads a conversation that is one JSON document', () => {
  const { transcript, found } = read(join(fixtures, 'gemini/session-old.json'));
  expect(transcript.client).toBe('gemini');
  expect(found).toMatchObject({ goal: 'Add a login form', lastMessage: 'The form is there.' });
});

it('skips a line that is too long for memory and continues after it', () => {
  const path = join(newFolder(), 'session.jsonl');
  copyFileSync(join(fixtures, 'claude/session.jsonl'), path);
  appendFileSync(path, `{"type":"user","message":{"content":"${'x'.repeat(40 * 1024 * 1024)}"}}\n`);
  appendFileSync(path, '{"type":"user","message":{"role":"user","content":"And then?"}}\n');
  const { found } = read(path);
  expect(found.lastRequest).toBe('And then?');
  expect(found.problems).toEqual([expect.stringContaining('too long')]);
});

describe('a compressed rollout', () => {
  it('is read like one that is not', () => {
    const path = join(newFolder(), `rollout-2026-03-01T10-00-00-${ID}2.jsonl.zst`);
    const text = readFileSync(join(fixtures, samples[1]?.[1] ?? ''));
    writeFileSync(path, zstandardFrame([zstandardBlock(0, text.length, text, true)]));
    const { transcript, found } = read(path);
    expect(transcript).toMatchObject({ client: 'codex', id: expect.stringContaining(`${ID}2`) });
    expectConversation(found, 'codex');
  });
});

it("reads OpenCode's database while its newest part is in the log only", () => {
  const home = newFolder();
  const file = join(home, 'opencode.db');
  const rows = JSON.parse(readFileSync(join(fixtures, 'opencode/rows.json'), 'utf8'));
  const writer = openDatabase(file, false);
  writer.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
    CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, time_updated INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, position INTEGER)`);
  writer.prepare('INSERT INTO session VALUES (?, NULL, ?, 1)').run(rows.session, '/repo/app');
  for (const { id, ...data } of rows.messages)
    writer
      .prepare('INSERT INTO message VALUES (?, ?, ?, ?)')
      .run(id, rows.session, data.time.created, JSON.stringify(data));
  for (const [index, { message, data }] of rows.parts.entries())
    writer.prepare('INSERT INTO part VALUES (?, ?, ?, ?)').run(`p${index}`, message, index, JSON.stringify(data));
  for (const [index, { content, status }] of rows.todos.entries())
    writer.prepare('INSERT INTO todo VALUES (?, ?, ?, ?)').run(rows.session, content, status, index);
  const [transcript, ...more] = transcripts.find({ opencode: home }, ['opencode'], { folder: '/repo/app', id: null });
  expect(more).toEqual([]);
  if (!transcript) throw new Error('Not found.');
  const found = transcripts.reconstruct(transcript);
  writer.close();
  expectConversation(found, 'opencode');
  expect(found.spent).toEqual({ input: 150, output: 20, cached: 40 });
  expect(found.todos?.entries).toHaveLength(2);
});

it('finds the conversations of a folder below the homes of the clients', () => {
  const home = newFolder();
  const put = (file: string, ...place: string[]): void => {
    mkdirSync(join(home, ...place.slice(0, -1)), { recursive: true });
    copyFileSync(join(fixtures, file), join(home, ...place));
  };
  put('claude/session.jsonl', 'claude', 'projects', '-repo-app', `${ID}1.jsonl`);
  put('claude/session.jsonl', 'claude', 'projects', '-repo-other', 'elsewhere.jsonl');
  put(samples[1]?.[1] ?? '', 'codex', 'sessions', '2026', '03', '01', `rollout-2026-03-01T10-00-00-${ID}2.jsonl`);
  put(samples[2]?.[1] ?? '', 'gemini', 'tmp', 'app', 'chats', 'session-2026-03-01T10-00-6f1d0c52.jsonl');
  writeFileSync(join(home, 'gemini', 'tmp', 'app', '.project_root'), '/repo/app');
  put(samples[3]?.[1] ?? '', 'qwen', 'projects', '-repo-app', 'chats', `${ID}4.jsonl`);
  put('copilot/events.jsonl', 'copilot', 'session-state', `${ID}5`, 'events.jsonl');
  put(samples[5]?.[1] ?? '', 'cursor', 'projects', 'repo-app', 'agent-transcripts', `${ID}7.jsonl`);
  const names = samples.map(([client]) => client);
  const homes = Object.fromEntries(names.map((name) => [name, join(home, name)]));
  const here = transcripts.find(homes, names, { folder: '/repo/app', id: null });
  expect(here.map(({ client, id }) => `${client} ${id}`).sort()).toEqual(
    samples.map(([client, , id]) => `${client} ${id}`).sort(),
  );
  expect(transcripts.find(homes, names, { folder: '/repo/nowhere', id: null })).toEqual([]);
  for (const [client, , id] of samples)
    expect(transcripts.find(homes, names, { folder: null, id })).toMatchObject([{ client, id }]);
});

/** Cursor's database: a root that names messages by their hash, in Protocol Buffers. */
function newStore(folder: string, messages: readonly object[], nested = false): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'store.db');
  const database = openDatabase(path, false);
  database.exec(
    'CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)',
  );
  const put = (data: Buffer): Buffer => {
    const hash = createHash('sha256').update(data).digest();
    database.exec(`INSERT OR IGNORE INTO blobs VALUES ('${hash.toString('hex')}', x'${data.toString('hex')}')`);
    return hash;
  };
  const field = (number: number, bytes: Buffer): Buffer => {
    const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
  };
  const written = messages.map((message) => Buffer.from(JSON.stringify(message)));
  const named = written.map((bytes) => (nested ? put(field(4, bytes)) : put(bytes)));
  // With a number among them, as such messages have.
  const root = put(Buffer.concat([Buffer.from([0x10, 0x96, 0x01]), ...named.map((hash) => field(1, hash))]));
  const meta = {
    agentId: `${ID}7`,
    latestRootBlobId: root.toString('hex'),
    createdAt: 1772359200000,
    lastUsedModel: 'x',
  };
  database.prepare('INSERT INTO meta VALUES (?, ?)').run('0', Buffer.from(JSON.stringify(meta)).toString('hex'));
  database.close();
  return path;
}

describe('a database of Cursor', () => {
  const call = (toolCallId: string, toolName: string, args: object) => ({
    type: 'tool-call',
    toolCallId,
    toolName,
    args,
  });
  const result = (toolCallId: string, text: string) => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName: 'x', result: text }],
  });
  const messages = [
    { role: 'system', content: 'You are …' },
    { role: 'user', content: [{ type: 'text', text: '<user_info>Linux</user_info>' }] },
    { role: 'user', content: [{ type: 'text', text: '<user_query>\nAdd a login form\n</user_query>' }] },
    { role: 'assistant', content: [call('c1', 'Write', { path: '/repo/app/src/login.ts', contents: 'x' })] },
    result('c1', 'Wrote it.'),
    { role: 'assistant', content: [call('c2', 'Shell', { command: 'npm test' })] },
    result('c2', 'Exit code: 1'),
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'Now I deploy.' }, call('c3', 'Shell', { command: 'npm run deploy' })],
    },
  ];

  it.each([
    ['names its messages', false],
    ['names pieces that hold them', true],
  ])('is read where its root %s', (_, nested) => {
    const path = newStore(join(newFolder(), 'chats', 'hash', `${ID}7`), messages, nested);
    const { transcript, found } = read(path);
    expect(transcript).toMatchObject({ client: 'cursor', id: `${ID}7` });
    expect(found).toMatchObject({
      goal: 'Add a login form',
      lastMessage: 'Now I deploy.',
      models: ['x'],
      problems: [],
    });
    expect([...found.files.keys()]).toEqual(['/repo/app/src/login.ts']);
    expect(found.commands.map((one) => [one.command, outcomeOf(one)])).toEqual([
      ['npm test', 'failed'],
      ['npm run deploy', 'running'],
    ]);
  });

  it('is found by its folder and preferred to the transcript of the same conversation, unless it is empty', () => {
    const home = newFolder();
    const folder = '/repo/app';
    const place = join(home, 'chats', createHash('md5').update(folder).digest('hex'));
    const words = join(home, 'projects/repo-app/agent-transcripts');
    mkdirSync(words, { recursive: true });
    for (const id of ['full', 'empty'])
      writeFileSync(join(words, `${id}.jsonl`), '{"role":"user","message":{"content":"Hi"}}\n');
    newStore(join(place, 'full'), messages);
    newStore(join(place, 'empty'), []);
    newStore(join(home, 'chats', 'of-another', 'other'), messages);
    const names = (wanted: string | null) =>
      transcripts
        .find({ cursor: home }, ['cursor'], { folder: wanted, id: null })
        .map(({ path }) => path.slice(home.length + 1).replace(/^chats\/[^/]+/, 'chats/HASH'))
        .sort();
    const here = ['chats/HASH/full/store.db', 'projects/repo-app/agent-transcripts/empty.jsonl'];
    expect(names(folder)).toEqual(here);
    expect(names(null)).toEqual(['chats/HASH/full/store.db', 'chats/HASH/other/store.db', here[1]]);
  });

  it('reports a problem if it cannot be read', () => {
    const place = join(newFolder(), 'chats', 'hash', 'x');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'store.db'), 'SQLite format 3\0 CREATE TABLE blobs and nothing else');
    expect(read(join(place, 'store.db')).found.problems).toHaveLength(1);
  });
});
