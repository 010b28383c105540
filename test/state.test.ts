import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { newWorkspace } from './command-line.ts';
import { openTestServer } from './http-server.ts';
import { callsOf, canInject, newPlace, withFault } from './long/faults/place.ts';

// The library as it is published, not its source.
const { openHoldfast } = (await import('../dist/lib/index.js' as string)) as typeof import('../src/index.ts');
const { openMemoryStore, openPostgresStore, openSqliteStore } = (await import(
  '../dist/lib/store/index.js' as string
)) as typeof import('../src/store/index.ts');
type Store = Awaited<ReturnType<typeof openSqliteStore>>;

const folder = mkdtempSync(join(tmpdir(), 'holdfast-state-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let places = 0;

const stores: Record<string, () => Promise<Store>> = {
  memory: async () => openMemoryStore(),
  sqlite: async () => openSqliteStore({ file: join(folder, `${++places}.db`) }),
  postgres: async () =>
    openPostgresStore({ url: inject('postgresUrl'), schema: `state_${process.pid}_${++places}`, connections: 2 }),
};

async function open(name: string) {
  const store = await (stores[name] ?? expect.fail())();
  const hf = await openHoldfast({ store, person: 'ada', evidence: 'terminal', run: 'r' });
  await hf.init({ title: 'Work', id: 'r' });
  return { store, hf };
}

/** The bytes in the store that belong to a put. */
const stored = async (store: Store, { sha256 }: { sha256: string }): Promise<number | null> =>
  (await store.journal.value('r', sha256))?.data.length ?? null;

describe.each(Object.keys(stores))('state on %s', (name) => {
  it('gives back JSON and bytes exactly as they were put', async () => {
    const { store, hf } = await open(name);
    const cart = { items: [1, 2.5, null, true, 'naïve 𝄞 \u0000 \ud800'], none: undefined, deep: { a: [{}] } };
    const put = await hf.state.put('cart', cart);
    expect(await hf.state.get('cart')).toEqual({ value: cart, version: put.version, at: expect.any(String) });
    const bytes = Uint8Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256);
    await hf.state.put('raw', bytes);
    const raw = await hf.state.get<Uint8Array>('raw');
    expect(Buffer.compare(raw?.value ?? Buffer.of(), bytes)).toBe(0);
    expect(await hf.state.get('nothing')).toBeNull();
    const large = await hf.state.put('text', 'x'.repeat(1_000_000));
    expect(large.bytes).toBe(1_000_002);
    expect(await stored(store, large)).toBeLessThan(10_000);
    expect((await hf.state.get('text'))?.value).toBe('x'.repeat(1_000_000));
    expect((await hf.state.list()).map(({ key }) => key)).toEqual(['text', 'raw', 'cart']);
    expect(await hf.state.list({ prefix: 'c' })).toEqual([expect.objectContaining({ key: 'cart', type: 'json' })]);
    await hf.close();
  });

  it('replaces only what was expected, and drops the bytes that nothing names', async () => {
    const { store, hf } = await open(name);
    const one = await hf.state.put('a', 'one', { expect: null });
    const same = await hf.state.put('b', 'one');
    expect(same.sha256).toBe(one.sha256);
    await expect(hf.state.put('a', 'two', { expect: null })).rejects.toMatchObject({
      code: 'conflict',
      data: { version: one.version },
    });
    const two = await hf.state.put('a', 'two', { expect: one.version });
    // The other key has the same content.
    expect(await stored(store, one)).toBe(5);
    await hf.state.put('b', 'three');
    expect([await stored(store, one), await stored(store, two)]).toEqual([null, 5]);
    const four = await hf.state.put('a', 'four', { keep: 'all' });
    await hf.state.put('a', 'five');
    expect(await stored(store, four)).toBeNull();
    expect((await hf.state.get('a', { version: two.version }))?.value).toBe('two');
    expect(await hf.state.get('a', { version: four.version })).toBeNull();
    expect((await hf.state.list({ kept: true })).map(({ version }) => version)).toEqual([two.version]);
    expect(await hf.state.remove('a')).toBe(true);
    expect(await stored(store, two)).toBeNull();
    expect(await hf.state.get('a')).toBeNull();
    expect(await hf.state.remove('a')).toBe(false);
    await hf.state.put('a', 'six', { expect: null });
    await hf.close();
  });

  it('sets several keys at once or none, and once per idempotency key', async () => {
    const { hf } = await open(name);
    await hf.state.put('x', 0);
    await expect(
      hf.state.putAll([
        { key: 'y', value: 1 },
        { key: 'x', value: 1, expect: null },
      ]),
    ).rejects.toMatchObject({ code: 'conflict' });
    expect(await hf.state.get('y')).toBeNull();
    const both = [
      { key: 'x', value: 2 },
      { key: 'y', value: 2 },
    ];
    const put = await hf.state.putAll(both, { key: 'k' });
    expect(new Set(put.map(({ version }) => version)).size).toBe(1);
    expect(await hf.state.putAll(both, { key: 'k' })).toEqual(put);
    await expect(hf.state.put('x', 3, { key: 'k' })).rejects.toMatchObject({ code: 'usage' });
    await hf.close();
  });

  it('erases bytes and hash, and leaves equal content of another key', async () => {
    const { store, hf } = await open(name);
    const secret = await hf.state.put('secret', 'hunter2');
    const other = await hf.state.put('other', 'mine');
    await hf.state.put('shared', 'mine');
    await hf.erase({ target: 'value:secret', reason: 'a password' });
    await hf.erase({ target: 'value:shared', reason: 'not here' });
    await expect(hf.state.get('secret')).rejects.toMatchObject({ code: 'gone' });
    expect([await stored(store, secret), await stored(store, other)]).toEqual([null, 6]);
    expect((await hf.state.get('other'))?.value).toBe('mine');
    const text = JSON.stringify(await store.journal.read('r', 0, 100));
    expect(text).not.toContain(secret.sha256);
    expect((await hf.doctor()).findings).toEqual([]);
    await hf.close();
  });

  it('goes with an export, and an import adds the bytes that are missing', async () => {
    const { hf } = await open(name);
    await hf.state.put('a', 'old');
    await hf.state.put('a', { big: 'y'.repeat(10_000) });
    await hf.state.put('b', Uint8Array.of(1, 2), { keep: 'all' });
    const [whole, bare] = ['whole', 'bare'].map((one) => join(folder, `${name}-${one}.jsonl`)) as [string, string];
    expect(await hf.journal.export({ out: whole })).toMatchObject({ values: 2 });
    expect(await hf.journal.export({ out: bare, noValues: true })).toMatchObject({ values: 0 });
    await hf.close();

    const target = await (stores[name] ?? expect.fail())();
    const there = await openHoldfast({ store: target, person: 'bob', evidence: 'terminal', run: 'r' });
    expect(await there.journal.import({ file: bare })).toMatchObject({ values: 0 });
    await expect(there.state.get('a')).rejects.toMatchObject({ code: 'gone' });
    const missing = (await there.doctor()).findings;
    expect(missing.map(({ code, level }) => [code, level])).toEqual([
      ['value.missing', 'warning'],
      ['value.missing', 'warning'],
    ]);
    expect(await there.journal.import({ file: whole })).toMatchObject({ taken: 0, values: 2 });
    expect((await there.state.get('a'))?.value).toEqual({ big: 'y'.repeat(10_000) });
    expect((await there.doctor()).findings).toEqual([]);
    await there.close();

    const forged = join(folder, `${name}-forged.jsonl`);
    const lines = readFileSync(whole, 'utf8').split('\n');
    const at = lines.findIndex((line) => line.startsWith('{"value"'));
    const line = JSON.parse(lines[at] ?? '');
    lines[at] = JSON.stringify({ value: { ...line.value, data: Buffer.from('other').toString('base64') } });
    writeFileSync(forged, lines.join('\n'));
    const last = await openHoldfast({ store: openMemoryStore(), person: 'bob', evidence: 'terminal' });
    await expect(last.journal.import({ file: forged })).rejects.toMatchObject({ code: 'invalid' });
    await last.close();
  });
});

describe('a value', () => {
  it('is refused if it would come back as something else, or is too large', async () => {
    const hf = await openHoldfast({ store: openMemoryStore(), agent: 'ada', run: 'r', maxValueBytes: 100 });
    await hf.init({ title: 'Work', id: 'r' });
    const self: unknown[] = [];
    self.push(self);
    const bad = [
      new Date(),
      new Map(),
      Number.NaN,
      undefined,
      1n,
      self,
      [undefined],
      { a: { b: () => 1 } },
      'x'.repeat(99),
    ];
    for (const value of bad) await expect(hf.state.put('k', value)).rejects.toMatchObject({ code: 'invalid' });
    await expect(hf.state.put('two\nlines', 1)).rejects.toMatchObject({ code: 'invalid' });
    await expect(hf.state.put('', 1)).rejects.toMatchObject({ code: 'invalid' });
    expect(await hf.state.list()).toEqual([]);
    await hf.state.put('k', 'x'.repeat(98));
    await hf.close();
  });

  it('whose stored bytes were changed is reported and not returned', async () => {
    const memory = openMemoryStore();
    let isBroken = false;
    const store: Store = {
      ...memory,
      journal: {
        ...memory.journal,
        async value(run, sha256) {
          const value = await memory.journal.value(run, sha256);
          return value && isBroken ? { ...value, data: Uint8Array.from(value.data, (byte) => byte ^ 1) } : value;
        },
      },
    };
    const hf = await openHoldfast({ store, person: 'ada', evidence: 'terminal', run: 'r' });
    await hf.init({ title: 'Work', id: 'r' });
    await hf.state.put('a', { n: 1 });
    isBroken = true;
    await expect(hf.state.get('a')).rejects.toMatchObject({ code: 'corrupt' });
    expect((await hf.doctor()).findings).toMatchObject([{ code: 'value.changed', level: 'error' }]);
    await hf.close();
  });

  it('is put, shown, listed and removed on the command line, and is not searched', () => {
    const place = newWorkspace();
    const { version } = place.data('state', 'put', 'cart', '{"secret":"xylophone"}');
    expect(place.data('state', 'get', 'cart')).toMatchObject({ content: '{"secret":"xylophone"}', version });
    expect(place.data('state', 'list')['values']).toMatchObject([{ key: 'cart', bytes: 22 }]);
    expect(place.data('search', 'xylophone')['results']).toEqual([]);
    expect(place.data('state', 'remove', 'cart')).toMatchObject({ removed: true });
    expect(place.data('state', 'list')['values']).toEqual([]);
  });

  it('leaves room in the file for the next one when it is replaced', async () => {
    const file = join(folder, 'room.db');
    const hf = await openHoldfast({ store: file, agent: 'ada', run: 'r' });
    await hf.init({ title: 'Work', id: 'r' });
    const noise = () => crypto.getRandomValues(new Uint8Array(60_000));
    for (let count = 0; count < 40; count++) await hf.state.put('state', noise());
    await hf.close();
    expect(statSync(file).size).toBeLessThan(1_000_000);
  });
});

const every = process.env['EVERY_KILL'] === '1';

describe('values elsewhere', () => {
  it('are in the brief by key, size and time, never by content, and results of effects are not', async () => {
    const folder = newWorkspace();
    const hf = await openHoldfast({ dir: folder.path, agent: 'loop', run: 'auth' });
    const before = await hf.resume();
    expect([before.values, before.text.includes('Stored values')]).toEqual([[], false]);
    await hf.state.put('cart "of" Ada\n', 1).catch(() => undefined);
    await hf.state.put('cart', { secret: 'hunter2' });
    await hf.state.put('pages', new Uint8Array(5000));
    await hf.effect.run('charge', () => ({ paid: 'hunter3' }));
    const { values, text } = await hf.resume();
    expect(values).toEqual([
      { key: 'pages', bytes: 5000, at: expect.any(String) },
      { key: 'cart', bytes: 20, at: expect.any(String) },
    ]);
    expect(text).toMatch(/^Stored values: "pages" \(5000 bytes, \d\d:\d\d\), "cart" \(20 bytes, \d\d:\d\d\)\.$/m);
    expect(JSON.stringify([values, text])).not.toMatch(/hunter|charge"? \(/);
    for (let number = 0; number < 30; number++) await hf.state.put(`key-${number}`, number);
    const many = await hf.resume();
    expect(many.text).toMatch(/Stored values: "key-29" .* More: `holdfast state list`\./);
    await hf.state.remove('cart');
    expect((await hf.resume()).text).not.toContain('"cart"');
    await hf.close();
  });

  it('are put, got, listed and removed over HTTP, byte for byte, and reading the run is not enough to get them', async () => {
    const folder = newWorkspace();
    const server = openTestServer(folder.path);
    const [writer, reader] = [server.agent('ada'), server.tokenFor('person', 'bob', 'read')];
    const call = async (operation: string, input: object, token = writer, headers = {}) => {
      const answer = await server.post(operation, input, { token, headers });
      return { status: answer.status, ...((await answer.json()) as { data?: Record<string, unknown> }) };
    };
    const bytes = Buffer.from(Uint8Array.from({ length: 3000 }, (_, index) => index % 256)).toString('base64');
    const first = await call('state.put', { key: 'raw', base64: bytes });
    expect(first).toMatchObject({ status: 200, data: { bytes: 3000 } });
    expect(await call('state.get', { key: 'raw' })).toMatchObject({ data: { type: 'bytes', content: bytes } });
    const again = { 'idempotency-key': 'k1' };
    const put = await call('state.put', { key: 'cart', value: '{"a":[1,"\\u0000"]}' }, writer, again);
    expect(await call('state.put', { key: 'cart', value: '{"a":[1,"\\u0000"]}' }, writer, again)).toMatchObject({
      data: put.data,
    });
    expect(await call('state.get', { key: 'cart' })).toMatchObject({ data: { content: '{"a":[1,"\\u0000"]}' } });
    expect(await call('state.put', { key: 'cart', value: '2', expect: 1 })).toMatchObject({ status: 409 });
    expect(await call('state.get', { key: 'cart' }, reader)).toMatchObject({ status: 403 });
    expect(await call('state.list', {}, reader)).toMatchObject({
      status: 200,
      data: { values: [{ key: 'cart' }, { key: 'raw', bytes: 3000 }] },
    });
    expect(await call('state.put', { key: 'effect/x', value: '1' })).toMatchObject({ status: 400 });
    expect(await call('state.put', { key: 'bad', value: '{' })).toMatchObject({ status: 400 });
    expect(await call('state.remove', { key: 'cart' })).toMatchObject({ data: { removed: true } });
    expect(await call('state.get', { key: 'cart' })).toMatchObject({ status: 404 });
    await server.close();
  });
});

describe.skipIf(!canInject)('a put that is killed', () => {
  it('leaves entry and bytes both there or neither, at every third write', { timeout: 180_000 }, async () => {
    const origin = newPlace();
    origin.data('init', '--title', 'Work', '--id', 'r');
    origin.data('state', 'put', 'a', '"before"');
    const words = ['state', 'put', 'a', '"after"', '--agent', 'ada'];
    const whole = origin.copy();
    const { answer, calls } = await callsOf(whole, (env) => whole.start(words, { env }));
    expect([answer.code, calls.length > 3]).toEqual([0, true]);
    const seen = new Set<string>();
    for (let at = 1; at <= calls.length; at += every ? 1 : 3) {
      const place = origin.copy();
      expect((await place.start(words, { env: withFault(place, { at, action: 'kill' }) })).code).toBe(null);
      const { content } = place.data('state', 'get', 'a');
      seen.add(content);
      expect(['"before"', '"after"']).toContain(content);
      expect(place.data('doctor')['findings'].filter((one: { code: string }) => one.code !== 'history')).toEqual([]);
      place.remove();
    }
    expect([...seen].sort()).toEqual(['"after"', '"before"']);
    for (const place of [origin, whole]) place.remove();
  });
});
