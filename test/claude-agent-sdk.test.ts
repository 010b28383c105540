import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import {
  type SessionEntry,
  type SessionStoreOptions,
  type SessionSummary,
  sessionStore,
} from '../src/adapters/claude-agent-sdk.ts';
import { openHoldfast } from '../src/index.ts';
import { testHoldfast } from '../src/testing.ts';
import { newFolder } from './command-line.ts';
import { installExample } from './program-pages.ts';

const main = { projectKey: 'shop', sessionId: 'a1' };
const scout = { ...main, subpath: 'subagents/scout' };
const tester = { ...main, subpath: 'subagents/tester' };
const line = (text: string, uuid?: string): SessionEntry => ({ type: 'user', text, ...(uuid ? { uuid } : {}) });
const opened = async (options?: SessionStoreOptions) => {
  const t = await testHoldfast({ agent: 'sdk', at: '2026-11-01T00:00:00Z' });
  return { ...t, store: sessionStore(t.hf, options) };
};

describe('the contracts of a session store', () => {
  it('1: gives back what was appended, in order and deep equal', async () => {
    const { store } = await opened();
    const entries = [{ type: 'a', deep: { list: [1, null, { x: 'é' }] } }, line('two')];
    await store.append(main, entries);
    expect(await store.load(main)).toEqual(entries);
  });

  it('2: knows nothing of a session that was never written', async () => {
    const { store } = await opened();
    expect([await store.load(main), await store.load(scout)]).toEqual([null, null]);
  });

  it('3: keeps the order of calls, also of calls that do not wait for each other', async () => {
    const { store } = await opened();
    await Promise.all(['1', '2', '3', '4'].map((text) => store.append(main, [line(text), line(`${text}b`)])));
    const texts = (await store.load(main))?.map(({ text }) => text);
    expect(texts).toEqual(['1', '1b', '2', '2b', '3', '3b', '4', '4b']);
  });

  it('4: records nothing for an empty batch', async () => {
    const { store, events } = await opened();
    await store.append(main, []);
    expect([await store.load(main), (await events()).length]).toEqual([null, 0]);
    await store.append(main, [line('one')]);
    await store.append(main, []);
    expect(await store.load(main)).toEqual([line('one')]);
  });

  it('5: keeps a subagent apart from the main transcript', async () => {
    const { store } = await opened();
    await store.append(main, [line('main')]);
    await store.append(scout, [line('scout')]);
    expect([await store.load(main), await store.load(scout)]).toEqual([[line('main')], [line('scout')]]);
  });

  it('6: keeps projects apart', async () => {
    const { store } = await opened();
    await store.append(main, [line('shop')]);
    await store.append({ ...main, projectKey: 'bank' }, [line('bank')]);
    expect([await store.load(main), await store.load({ ...main, projectKey: 'bank' })]).toEqual([
      [line('shop')],
      [line('bank')],
    ]);
  });

  it('7: lists the sessions of a project with the time of their last entry', async () => {
    const { store, clock } = await opened();
    await store.append(main, [line('x')]);
    await store.append({ ...main, sessionId: 'b2' }, [line('y')]);
    await store.append({ ...main, projectKey: 'bank' }, [line('z')]);
    clock.advance(5000);
    await store.append(main, [line('later')]);
    const at = Date.parse('2026-11-01T00:00:00Z');
    const listed = (await store.listSessions('shop')).sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
    expect(listed).toEqual([
      { sessionId: 'a1', mtime: at + 5000 },
      { sessionId: 'b2', mtime: at },
    ]);
    expect(await store.listSessions('never')).toEqual([]);
  });

  it('8: does not list a session that has subagents only', async () => {
    const { store } = await opened();
    await store.append(scout, [line('scout')]);
    expect(await store.listSessions('shop')).toEqual([]);
  });

  it('9: deletes a main transcript, and minds none that is not there', async () => {
    const { store, hf } = await opened();
    await store.append(main, [line('secret words')]);
    await store.delete(main);
    await store.delete({ projectKey: 'x', sessionId: 'never' });
    expect([await store.load(main), await store.listSessions('shop')]).toEqual([null, []]);
    expect((await hf.runs({ all: true })).runs.map(({ title }) => title)).toEqual(['Claude session a1']);
  });

  it('10: deletes the subagents with it, and nothing of other sessions', async () => {
    const { store } = await opened();
    const others = [
      { ...main, sessionId: 'b2' },
      { ...main, projectKey: 'bank' },
    ];
    for (const key of [main, scout, tester, ...others]) await store.append(key, [line('x')]);
    await store.delete(main);
    for (const key of [main, scout, tester]) expect(await store.load(key)).toBeNull();
    for (const key of others) expect(await store.load(key)).toEqual([line('x')]);
    expect(await store.listSubkeys(main)).toEqual([]);
  });

  it('11: deletes one subagent alone', async () => {
    const { store } = await opened();
    for (const key of [main, scout, tester]) await store.append(key, [line('x')]);
    await store.delete(scout);
    expect(await Promise.all([main, scout, tester].map((key) => store.load(key)))).toEqual([
      [line('x')],
      null,
      [line('x')],
    ]);
    expect(await store.listSubkeys(main)).toEqual(['subagents/tester']);
  });

  it('12: lists the subagents of a session', async () => {
    const { store } = await opened();
    for (const key of [scout, tester, { ...scout, sessionId: 'b2' }]) await store.append(key, [line('x')]);
    expect((await store.listSubkeys(main)).sort()).toEqual(['subagents/scout', 'subagents/tester']);
  });

  it('13: does not list the main transcript among them', async () => {
    const { store } = await opened();
    await store.append(main, [line('x')]);
    expect(await store.listSubkeys(main)).toEqual([]);
    expect(await store.listSubkeys({ projectKey: 'x', sessionId: 'never' })).toEqual([]);
  });
});

describe('beyond the contracts', () => {
  it('stores a batch once that is sent again, and gives each uuid back once', async () => {
    const { store, events } = await opened();
    await store.append(main, [line('one', 'u1'), line('title')]);
    const before = (await events()).length;
    await store.append(main, [line('one', 'u1'), line('title')]);
    expect((await events()).length).toBe(before);
    await store.append(main, [line('one', 'u1'), line('two', 'u2')]);
    await store.append(main, [line('title')]);
    expect(await store.load(main)).toEqual([line('one', 'u1'), line('title'), line('two', 'u2'), line('title')]);
  });

  it('folds summaries in order, and gives them the time of the list', async () => {
    const foldSessionSummary: SessionStoreOptions['foldSessionSummary'] = (before, key, entries) => ({
      sessionId: key.sessionId,
      mtime: 0,
      data: { texts: [...((before?.data['texts'] as string[]) ?? []), ...entries.map(({ text }) => text)] },
    });
    const { store, hf } = await opened({ foldSessionSummary });
    const other = sessionStore(hf, { foldSessionSummary });
    await Promise.all([
      store.append(main, [line('a')]),
      other.append(main, [line('b')]),
      store.append(main, [line('c')]),
    ]);
    await store.append(scout, [line('not in it')]);
    const [summary] = ((await store.listSessionSummaries?.('shop')) ?? []) as SessionSummary[];
    expect([...((summary?.data['texts'] ?? []) as string[])].sort()).toEqual(['a', 'b', 'c']);
    expect(summary?.mtime).toBe((await store.listSessions('shop'))[0]?.mtime);
    expect(sessionStore(hf).listSessionSummaries).toBeUndefined();
  });

  it('removes what is older than it should be kept', async () => {
    const { store, hf } = await opened();
    await store.append(main, [line('2026, long ago')]);
    const t = await testHoldfast({ agent: 'sdk', at: '2020-01-01T00:00:00Z' });
    await sessionStore(t.hf).append(main, [line('old')]);
    t.clock.advance(Date.now() - Date.parse(t.clock.now()));
    await sessionStore(t.hf, { keepDays: 30 }).append({ ...main, sessionId: 'b2' }, [line('new')]);
    expect((await sessionStore(t.hf).listSessions('shop')).map(({ sessionId }) => sessionId)).toEqual(['b2']);
    expect(await sessionStore(hf).load(main)).not.toBeNull();
  });

  it('has what a killed process had appended, in another process', async () => {
    const folder = newFolder();
    const file = installExample(folder.path, 'programs.md', 'transcript.mjs', []);
    const child = spawn(process.execPath, [file], { cwd: folder.path, env: { ...folder.env, ENDLESS: '1' } });
    let out = '';
    for await (const piece of child.stdout.setEncoding('utf8')) {
      out += piece;
      if (out.split('\n').length > 5) break;
    }
    child.kill('SIGKILL');
    if (child.signalCode === null) await once(child, 'exit');
    const acknowledged = out.split('\n').slice(0, -1);
    const hf = await openHoldfast({ dir: folder.path, agent: 'sdk' });
    const loaded = await sessionStore(hf).load({ projectKey: 'shop', sessionId: '7c1d' });
    await hf.close();
    expect(loaded?.map(({ uuid }) => uuid).slice(0, acknowledged.length)).toEqual(acknowledged);
  });
});

/** The vendor's own suite, which is not ours to copy: the path of its `conformance.ts`. */
const original = process.env['SESSION_STORE_CONFORMANCE'];
describe.runIf(original !== undefined)('the suite of the vendor', async () => {
  if (original === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
  const text = readFileSync(original, 'utf8').replace(
    /^import .*'bun:test'$/m,
    'const { test, expect } = globalThis as any',
  );
  writeFileSync(join(folder, 'conformance.ts'), text);
  Object.assign(globalThis, { test, expect });
  const { runSessionStoreConformance } = await import(join(folder, 'conformance.ts'));
  rmSync(folder, { recursive: true });
  runSessionStoreConformance(async () => (await opened()).store);
});
