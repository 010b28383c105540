import { type ChildProcess, spawn } from 'node:child_process';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { type Folder, newFolder, newWorkspace, program } from './command-line.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

interface Answer {
  ok: boolean;
  data: Record<string, unknown>;
  warnings?: string[];
}

/** Starts `holdfast serve` as a process and waits until it listens. */
async function serve(folder: Folder) {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--json'], {
    cwd: folder.path,
    env: folder.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let [out, log] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  for await (const text of child.stdout.setEncoding('utf8')) {
    out += text;
    if (out.includes('\n')) break;
  }
  const { data } = JSON.parse(out) as { data: { url: string; link: string } };
  const token = new URL(data.link).searchParams.get('token') ?? '';
  const post = async (operation: string, input: unknown): Promise<Answer> => {
    const answer = await fetch(`${data.url}/api/${operation}`, {
      method: 'POST',
      body: JSON.stringify(input),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    return (await answer.json()) as Answer;
  };
  return { url: data.url, post, log: () => log };
}

describe('a database that goes back under a running server', () => {
  it('B1: keeps an unbroken chain on SQLite, and the loss is named in answer, status, log and journal', async () => {
    const folder = newWorkspace();
    const server = await serve(folder);
    await server.post('note', { text: 'kept' });
    const file = folder.own('journal.db');
    const backup = join(folder.path, 'backup.db');
    const database = openDatabase(file, false);
    database.exec(`VACUUM INTO '${backup}'`);
    database.close();
    for (const text of ['lost one', 'lost two'])
      expect(await server.post('note', { text })).toMatchObject({ ok: true });
    renameSync(backup, file);
    await expectNamed(server, folder, await server.post('note', { text: 'after' }));
  });

  it('B1: keeps an unbroken chain on PostgreSQL, and the loss is named too', async () => {
    const folder = newFolder();
    folder.env['HOLDFAST_STORE'] = inject('postgresUrl');
    const run = `rewound-${process.pid}-${Date.now()}`;
    folder.data('init', '--title', 'On a server', '--id', run);
    folder.env['HOLDFAST_RUN'] = run;
    const server = await serve(folder);
    const note = (text: string): Promise<Answer> => server.post('note', { text, run });
    await note('kept');
    const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => {} });
    const tables = ['runs', 'events', 'records', 'cache'];
    for (const table of tables)
      await sql.unsafe(`CREATE TEMP TABLE old_${table} AS SELECT * FROM holdfast.${table} WHERE run = $1`, [run]);
    for (const text of ['lost one', 'lost two']) expect(await note(text)).toMatchObject({ ok: true });
    await sql.begin(async (transaction) => {
      for (const table of tables) {
        await transaction.unsafe(`DELETE FROM holdfast.${table} WHERE run = $1`, [run]);
        const overriding = table === 'events' ? 'OVERRIDING SYSTEM VALUE' : '';
        await transaction.unsafe(`INSERT INTO holdfast.${table} ${overriding} SELECT * FROM old_${table}`);
      }
    });
    await sql.end();
    await expectNamed(server, folder, await note('after'), run);
  });

  it('is unavailable while the file is gone', async () => {
    const folder = newWorkspace();
    const { url, post } = await serve(folder);
    const file = folder.own('journal.db');
    renameSync(file, `${file}.away`);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    renameSync(`${file}.away`, file);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await post('note', { text: 'back' })).toMatchObject({ ok: true });
  });
});

async function expectNamed(server: Awaited<ReturnType<typeof serve>>, folder: Folder, answer: Answer, run?: string) {
  const sentence = /^Run `.+`: events \d+-\d+, acknowledged at .+, are no longer in the store\.$/;
  expect(answer).toMatchObject({ ok: true, warnings: [expect.stringMatching(sentence)] });
  const { data } = await server.post('status', run === undefined ? {} : { run });
  const lost = data['rewound'] as { first: number; last: number }[];
  expect(lost.map(({ first, last }) => last - first)).toEqual([1]);
  expect(server.log()).toContain('"message":"rewound"');
  const events = folder.run('log', '--limit', '50', '--json').out;
  expect(events).toContain('recovery.made');
  for (const [text, isThere] of Object.entries({ kept: true, 'lost one': false, 'lost two': false, after: true }))
    expect([text, events.includes(`"${text}"`)]).toEqual([text, isThere]);
  // The chain is unbroken; what is gone is remembered in the state folder.
  expect(folder.data('doctor')['findings']).toMatchObject([{ code: 'history', level: 'warning' }]);
}
