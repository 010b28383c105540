import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import type { Holdfast } from '../src/index.ts';
import {
  type Answer,
  answerOf,
  callsOf,
  canInject,
  type Environment,
  newPlace,
  type Place,
  withFault,
} from './long/faults/place.ts';

// The library as it is published, not its source.
const { openHoldfast } = (await import('../dist/lib/index.js' as string)) as typeof import('../src/index.ts');
const { openPostgresStore } = (await import(
  '../dist/lib/store/index.js' as string
)) as typeof import('../src/store/index.ts');
const { testHoldfast } = (await import('../dist/lib/testing.js' as string)) as typeof import('../src/testing.ts');
const library = join(process.cwd(), 'dist', 'lib', 'index.js');

async function opened() {
  const t = await testHoldfast({ agent: 'ada', run: 'r' });
  await t.hf.init({ title: 'Work', id: 'r' });
  return t;
}

/** Work that never ends, and a promise that it has begun. */
function stuck() {
  let begun: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  return { started, work: () => new Promise<never>(() => begun()) };
}

describe('an effect of a program', () => {
  it('runs once and gives its result to every later call', async () => {
    const { hf, events } = await opened();
    let runs = 0;
    const pay = () => hf.effect.run('charge', () => ({ paid: ++runs }), { class: 'irreversible', input: { order: 1 } });
    expect([await pay(), await pay()]).toEqual([{ paid: 1 }, { paid: 1 }]);
    await expect(hf.effect.run('charge', () => 0, { input: { order: 2 } })).rejects.toMatchObject({ code: 'conflict' });
    expect(await hf.effect.run('quiet', () => undefined)).toBeUndefined();
    expect(await hf.effect.run('quiet', () => expect.fail())).toBeUndefined();
    const [put, ended] = (await events()).filter(({ type }) => type === 'value.put' || type === 'effect.ended');
    expect([put?.type, ended?.type, put?.version]).toEqual(['value.put', 'effect.ended', (ended?.version ?? 0) - 1]);
    expect(JSON.stringify(await events())).not.toContain('"order":1');
  });

  it('records that the work threw, and tries again with the same key for others', async () => {
    const { hf } = await opened();
    const seen: { idempotencyKey: string; attempt: number }[] = [];
    const flaky = () =>
      hf.effect.run('send', ({ idempotencyKey, attempt }) => {
        seen.push({ idempotencyKey, attempt });
        if (seen.length === 1) throw new RangeError('offline');
        return 'sent';
      });
    await expect(flaky()).rejects.toThrow(RangeError);
    expect(await flaky()).toBe('sent');
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it('is held while another call runs it, which can be waited for', async () => {
    const { hf } = await opened();
    let finish: (value: string) => void = () => undefined;
    const first = hf.effect.run('build', () => new Promise<string>((resolve) => (finish = resolve)));
    const second = hf.effect.run('build', () => expect.fail(), { wait: true });
    await expect
      .poll(() => hf.effect.run('build', () => expect.fail()).catch((fault: { code: string }) => fault.code))
      .toBe('held');
    finish('built');
    expect(await Promise.all([first, second])).toEqual(['built', 'built']);
  });

  it.each(['irreversible', 'unknown'] as const)(
    'is not repeated if it is %s and its end is not known',
    async (kind) => {
      const { hf, crash } = await opened();
      const { started, work } = stuck();
      void hf.effect.run('charge', work, { class: kind });
      await started;
      crash('X-1');
      const again = (options = {}) => hf.effect.run('charge', () => 'twice', { class: kind, ...options });
      await expect(again()).rejects.toMatchObject({ code: 'uncertain', data: { effect: 'X-1', what: 'no-end' } });
      // Who calls it idempotent now does not know what was meant then.
      await expect(again({ class: 'idempotent' })).rejects.toMatchObject({ code: 'uncertain' });
      expect(await again({ onUncertain: () => ({ result: 'it was paid' }) })).toBe('it was paid');
      expect(await again()).toBe('it was paid');
    },
  );

  it('is repeated with consent, after a person settled it as failed, and if it is idempotent', async () => {
    const { hf, crash, events } = await opened();
    const leave = async (key: string, kind: 'idempotent' | 'irreversible', id: string) => {
      const { started, work } = stuck();
      void hf.effect.run(key, work, { class: kind });
      await started;
      crash(id);
    };
    await leave('a', 'irreversible', 'X-1');
    expect(await hf.effect.run('a', ({ attempt }) => attempt, { onUncertain: () => 'again' })).toBe(2);
    await leave('b', 'irreversible', 'X-3');
    await hf.settle({ id: 'X-3', as: 'failed' });
    expect(await hf.effect.run('b', () => 'settled')).toBe('settled');
    await leave('c', 'idempotent', 'X-5');
    expect(await hf.effect.run('c', () => 'repeated', { class: 'idempotent' })).toBe('repeated');
    const unknown = (await events()).filter((one) => one.type === 'effect.ended' && one.body.outcome === 'unknown');
    expect(unknown.map((one) => one.type === 'effect.ended' && one.body.id)).toEqual(['X-1', 'X-5']);
  });

  it('that a person settled as succeeded has no result until someone gives it', async () => {
    const { hf, crash } = await opened();
    const { started, work } = stuck();
    void hf.effect.run('charge', work, { class: 'irreversible' });
    await started;
    crash('X-1');
    await hf.settle({ id: 'X-1', as: 'succeeded' });
    const again = (options = {}) => hf.effect.run('charge', () => expect.fail(), options);
    await expect(again()).rejects.toMatchObject({ code: 'uncertain', data: { what: 'no-result' } });
    expect(await again({ onUncertain: () => ({ result: 7 }) })).toBe(7);
  });

  it('is over for this process if its end could not be recorded', async () => {
    const { hf, failNext } = await opened();
    const run = () =>
      hf.effect.run(
        'charge',
        () => {
          failNext('unavailable');
          return 'paid';
        },
        { class: 'irreversible' },
      );
    await expect(run()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(hf.effect.run('charge', () => expect.fail())).rejects.toMatchObject({ code: 'uncertain' });
  });

  it('says that it succeeded if its result cannot be stored, and is not repeated', async () => {
    const { hf } = await opened();
    const run = () => hf.effect.run('charge', () => new Date(), { class: 'irreversible' });
    await expect(run()).rejects.toMatchObject({ code: 'invalid', data: { effect: 'X-1', recorded: 'yes' } });
    await expect(run()).rejects.toMatchObject({ code: 'uncertain', data: { what: 'no-result' } });
  });

  it('records nothing once its signal is aborted', async () => {
    const { hf, events } = await opened();
    const before = (await events()).length;
    const stop = AbortSignal.abort();
    await expect(hf.effect.run('a', () => 1, { signal: stop })).rejects.toMatchObject({ code: 'cancelled' });
    expect((await events()).length).toBe(before);
  });
});

/** Sets a key and runs an effect, in the store that the arguments name. */
const PROGRAM = `
import { appendFileSync } from 'node:fs';
import { openHoldfast } from ${JSON.stringify(library)};
import { openPostgresStore } from ${JSON.stringify(join(process.cwd(), 'dist', 'lib', 'store', 'index.js'))};
const [kind, url, schema] = process.argv.slice(2);
const store = url ? await openPostgresStore({ url, schema, connections: 1 }) : undefined;
const hf = await openHoldfast({ ...(store ? { store } : { dir: process.cwd() }), agent: 'worker', run: 'r' });
const answer = await hf.effect
  .run('charge', () => { appendFileSync('ran.log', 'x'); return { paid: 42 }; }, { class: kind, input: 1 })
  .then((result) => ({ result }), (fault) => ({ code: fault.code, message: fault.message }));
await hf.state.putAll([{ key: 'a', value: 'after' }, { key: 'b', value: 'after' }]);
process.stdout.write(JSON.stringify({ ok: true, data: answer }));
await hf.close();
await store?.close();
`;

function runProgram(place: Place, words: readonly string[], env: Environment = {}): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['program.mjs', ...words], {
      cwd: place.path,
      env: { ...place.env, ...env },
    });
    const printed = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed.err += text;
    });
    child.on('close', (code) => resolve(answerOf(code, printed.out, printed.err)));
  });
}

/** A folder with the program, and how to open and name the store that belongs to it. */
interface Ground {
  place: Place;
  words: readonly string[];
  open(): Promise<Holdfast>;
  remove(): Promise<void>;
}

/** What a run was killed in, and how far it came. */
async function killed(ground: Ground, kind: string, env: Environment): Promise<string> {
  const { place, words } = ground;
  expect((await runProgram(place, [kind, ...words], env)).code).toBe(null);
  const before = ranIn(place);
  const hf = await ground.open();
  const [a, b] = [await hf.state.get('a'), await hf.state.get('b')];
  // Several keys are set at once: both or neither, each with its bytes.
  expect([a?.value ?? null, b?.value ?? null]).toEqual(a ? ['after', 'after'] : [null, null]);
  const next = (await runProgram(place, [kind, ...words])).data;
  const ran = ranIn(place);
  if (kind === 'idempotent') expect(next).toEqual({ result: { paid: 42 } });
  else {
    expect(ran).toBeLessThanOrEqual(1);
    if (next['code'] === undefined) expect([next, ran]).toEqual([{ result: { paid: 42 } }, 1]);
    else expect([next['code'], ran]).toEqual(['uncertain', before]);
  }
  const results = (await hf.state.list({ prefix: 'effect/' })).length;
  expect(results).toBe(next['code'] === undefined ? 1 : 0);
  expect((await hf.doctor()).findings).toEqual([]);
  await hf.close();
  return next['code'] ?? 'result';
}

describe.skipIf(!canInject).each(['irreversible', 'idempotent', 'unknown'])(
  'a killed program with an %s effect',
  (kind) => {
    const expected = kind === 'idempotent' ? ['result'] : ['result', 'uncertain'];

    it('repeats it only if that is harmless, and records one result, at every twelfth write', {
      timeout: 1_200_000,
    }, async () => {
      const origin = newPlace();
      origin.data('init', '--title', 'Work', '--id', 'r');
      writeFileSync(origin.file('program.mjs'), PROGRAM);
      const groundAt = (place: Place): Ground => ({
        ...{ place, words: [], remove: async () => place.remove() },
        open: () => openHoldfast({ store: place.own('journal.db'), agent: 'looker', run: 'r' }),
      });
      const whole = origin.copy();
      const { answer, calls } = await callsOf(whole, (env) => runProgram(whole, [kind], env));
      expect(answer.data).toEqual({ result: { paid: 42 } });
      const outcomes = new Set<string>();
      for (const at of pointsIn(calls.length, 12)) {
        const ground = groundAt(origin.copy());
        outcomes.add(await killed(ground, kind, withFault(ground.place, { at, action: 'kill' })));
        await ground.remove();
      }
      expect([...outcomes].sort()).toEqual(expected);
      for (const place of [origin, whole]) place.remove();
    });

    it('does the same on PostgreSQL, cut off before and after what it sends', { timeout: 1_200_000 }, async () => {
      const origin = newPlace();
      writeFileSync(origin.file('program.mjs'), PROGRAM);
      const newGround = async (): Promise<Ground> => {
        const place = origin.copy();
        const schema = `kill_${process.pid}_${++schemas}`;
        const url = inject('postgresUrl');
        const store = await openPostgresStore({ url, schema, connections: 1 });
        await (await openHoldfast({ store, agent: 'maker' })).init({ title: 'Work', id: 'r' });
        return {
          ...{ place, words: [url, schema] },
          open: () => openHoldfast({ store, agent: 'looker', run: 'r' }),
          async remove() {
            await store.close();
            place.remove();
          },
        };
      };
      const whole = await newGround();
      const { calls } = await callsOf(whole.place, (env) => runProgram(whole.place, [kind, ...whole.words], env), true);
      const outcomes = new Set<string>();
      for (const at of pointsIn(calls.length, kind === 'irreversible' ? 4 : 12)) {
        for (const action of ['kill', 'sent'] as const) {
          const ground = await newGround();
          outcomes.add(await killed(ground, kind, withFault(ground.place, { at, action, sockets: true })));
          await ground.remove();
        }
      }
      for (const outcome of outcomes) expect(expected).toContain(outcome);
      if (every || kind === 'irreversible') expect([...outcomes].sort()).toEqual(expected);
      await whole.remove();
      origin.remove();
    });
  },
);
let schemas = 0;

/** All of them take minutes: `EVERY_KILL=1 npx vitest run test/effect-run.test.ts`. */
const pointsIn = (calls: number, step: number): number[] =>
  Array.from({ length: calls }, (_, index) => index + 1).filter((at) => every || at % step === 1);
const every = process.env['EVERY_KILL'] === '1';

const ranIn = (place: Place): number =>
  existsSync(place.file('ran.log')) ? readFileSync(place.file('ran.log'), 'utf8').length : 0;
