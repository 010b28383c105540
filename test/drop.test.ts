import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { type Folder, newWorkspace, program } from './command-line.ts';
import { openTestServer } from './http-server.ts';
import { runAtTerminal } from './terminal.ts';

// The library as it is published, not its source.
const { openHoldfast } = (await import('../dist/lib/index.js' as string)) as typeof import('../src/index.ts');
const { openMemoryStore, openPostgresStore, openSqliteStore } = (await import(
  '../dist/lib/store/index.js' as string
)) as typeof import('../src/store/index.ts');
type Store = Awaited<ReturnType<typeof openSqliteStore>>;

const folder = mkdtempSync(join(tmpdir(), 'holdfast-drop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const memory = openMemoryStore();

/** Each call opens another connection to one database. */
const stores: Record<string, () => Promise<Store>> = {
  memory: async () => memory,
  sqlite: async () => openSqliteStore({ file: join(folder, 'one.db') }),
  postgres: async () =>
    openPostgresStore({ url: inject('postgresUrl'), schema: `drop_${process.pid}`, connections: 2 }),
};

describe.each(Object.keys(stores))('a run dropped by a program on %s', (name) => {
  it('is gone for every process, its name is free, and no loss is reported', async () => {
    const [here, there] = [await (stores[name] ?? expect.fail())(), await (stores[name] ?? expect.fail())()];
    const hf = await openHoldfast({ store: here, agent: 'loop', run: 'r' });
    const other = await openHoldfast({ store: there, agent: 'other', run: 'r' });
    await hf.init({ title: 'Work', id: 'r' });
    await hf.init({ title: 'More work', id: 'r-2' });
    const value = await hf.state.put('cart', 'bytes');
    await other.note({ text: 'the other process knows the run' });
    const watching = other.watch({ after: 'now' });
    const next = watching.next();

    const dropped = await hf.drop({ reason: 'the thread was deleted' });
    expect(dropped).toMatchObject({ run: 'r', by: 'loop', reason: 'the thread was deleted', mirrors: [] });
    expect(dropped.events).toBeGreaterThan(2);
    expect(await here.journal.value('r', value.sha256)).toBeNull();
    for (const one of [hf, other]) {
      const gone = { code: 'not_found', message: expect.stringContaining('was dropped at'), data: { run: 'r' } };
      await expect(one.note({ text: 'late' })).rejects.toMatchObject(gone);
      await expect(one.drop({ run: 'r', reason: 'twice' })).rejects.toMatchObject(gone);
      expect((await one.runs({ all: true })).runs.map(({ id }) => id)).toEqual(['r-2']);
      expect((await one.runs({ dropped: true })).dropped).toMatchObject([{ run: 'r', events: dropped.events }]);
    }

    await other.init({ title: 'Another run under that name', id: 'r' });
    expect((await next).value).toMatchObject({ event: { run: 'r', version: 1 } });
    await watching.return();
    expect(await other.state.get('cart')).toBeNull();
    expect((await hf.note({ text: 'goes on' })).run).toBe('r');
    expect((await hf.doctor()).findings).toEqual([]);
    await expect((await openHoldfast({ store: here, agent: 'loop' })).drop({ reason: 'which?' })).rejects.toMatchObject(
      {
        code: 'usage',
      },
    );
    await hf.drop({ run: 'r-2', reason: 'named' });
    await hf.drop({ reason: 'end of the test' });
    for (const store of [here, there]) await store.close();
  });
});

describe('holdfast drop', () => {
  const asked = (at: Folder, typed: string, ...words: string[]) =>
    runAtTerminal([process.execPath, program, ...words], { cwd: at.path, env: at.env, typed });

  it('asks a person, removes what showed the run, and the next session misses nothing', () => {
    const work = newWorkspace();
    work.data('init', '--title', 'Keep me', '--id', 'kept');
    work.data('start', 't1', '--run', 'auth', '--agent', 'ada');
    work.data('snapshot', '--next', 'rest', '--run', 'auth', '--agent', 'ada');
    work.data('mirror', 'add', 'codewalk', '--run', 'auth');
    work.person.data('use', 'auth');
    expect(readFileSync(work.own('RESUME.md'), 'utf8')).toContain('User authentication');
    const no = asked(work, 'n\n', 'drop', 'auth', '--reason', 'over');
    expect([no.code, no.err]).toEqual([1, expect.stringContaining('It cannot be undone.')]);
    expect(work.data('runs')['runs']).toHaveLength(2);
    const yes = asked(work, 'y\n', 'drop', 'auth', '--reason', 'over');
    expect([yes.code, yes.out]).toEqual([0, expect.stringContaining('STATE.md stays as it is')]);
    expect(existsSync(join(work.path, 'STATE.md'))).toBe(true);
    expect([readdirSync(work.own('snapshots')), readdirSync(work.own('mirrors'))]).toEqual([[], []]);
    expect(readFileSync(work.own('RESUME.md'), 'utf8')).not.toContain('User authentication');
    expect(work.data('status')['run']).toMatchObject({ id: 'kept' });
    // The state folder remembers the last event of the run that is gone.
    expect(work.run('resume').out).not.toContain('no longer in the journal');
    expect(work.data('doctor')['findings']).toEqual([]);
    expect(work.run('runs', '--dropped').out).toMatch(/auth.*events.*over/s);
  });

  it('is refused to agents and scripts, without a whole id, and of a run that is not there', () => {
    const work = newWorkspace();
    work.env['CLAUDECODE'] = '1';
    expect(work.fault('drop', 'auth', '--reason', 'x')).toMatchObject({ code: 'not_allowed', exit: 1 });
    delete work.env['CLAUDECODE'];
    expect(work.fault('drop', 'auth', '--reason', 'x')).toMatchObject({ code: 'not_allowed' });
    expect(work.person.fault('drop', 'aut', '--reason', 'x')).toMatchObject({ code: 'not_found' });
    expect(work.person.fault('drop', '--reason', 'x')).toMatchObject({ code: 'usage' });
    expect(work.person.fault('drop', 'auth')).toMatchObject({ code: 'invalid' });
    expect(work.run('delete').err).toContain('holdfast help drop');
    expect(work.data('status')['run']).toMatchObject({ id: 'auth' });
  });

  it('keeps an import out until someone wants the run back', () => {
    const work = newWorkspace();
    work.data('journal', 'export', '--out', 'auth.jsonl');
    const { events } = work.person.data('drop', 'auth', '--reason', 'over');
    expect(work.person.fault('journal', 'import', 'auth.jsonl')).toMatchObject({
      ...{ code: 'illegal', message: expect.stringContaining('was dropped'), data: { recorded: 'no' } },
    });
    expect(work.person.data('journal', 'import', 'auth.jsonl', '--again')).toMatchObject({ taken: events });
    expect(work.data('status', '--run', 'auth')['run']).toMatchObject({ id: 'auth' });
    expect(work.data('runs', '--dropped')['dropped']).toEqual([]);
    expect(work.person.data('journal', 'import', 'auth.jsonl')).toMatchObject({ taken: 0 });
  });

  it('needs a maintainer over HTTP, and says nothing of runs elsewhere', async () => {
    const work = newWorkspace();
    const server = openTestServer(work.path);
    const call = async (token: string, operation: string, input: object) => {
      const answer = await server.post(operation, input, { token });
      return { status: answer.status, ...((await answer.json()) as Record<string, object>) };
    };
    const input = { run: 'auth', reason: 'over' };
    expect(await call(server.tokenFor('person', 'bob', 'write'), 'drop', input)).toMatchObject({ status: 403 });
    expect(await call(server.tokenFor('agent', 'ada', 'maintain'), 'drop', input)).toMatchObject({ status: 403 });
    expect(await call(server.person, 'drop', input)).toMatchObject({ status: 200, data: { run: 'auth' } });
    expect(await call(server.person, 'status', { run: 'auth' })).toMatchObject({ status: 404 });
    expect(await call(server.person, 'runs', { dropped: true })).toMatchObject({
      data: { dropped: [{ run: 'auth' }] },
    });
    await server.close();
  });
});
