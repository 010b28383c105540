import { describe, expect, it } from 'vitest';
import { newWorkspace } from './command-line.ts';

// The library as it is published, not its source.
const { Fault, openHoldfast } = (await import('../dist/lib/index.js' as string)) as typeof import('../src/index.ts');
const { testHoldfast } = (await import('../dist/lib/testing.js' as string)) as typeof import('../src/testing.ts');

async function planned(...keys: string[]) {
  const t = await testHoldfast({ agent: 'ada' });
  await t.hf.init({ title: 'Work', id: 'w' });
  for (const key of keys) await t.hf.plan.add({ key, title: key });
  return t;
}

const codeOf = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work();
    return 'done';
  } catch (thrown) {
    return (thrown as InstanceType<typeof Fault>).code;
  }
};

describe('a call with options', () => {
  it('is recorded once per key, and refuses the key for another input', async () => {
    const { hf, events } = await planned();
    const first = await hf.note({ text: 'one' }, { key: 'k' });
    const before = (await events()).length;
    expect(await hf.note({ text: 'one' }, { key: 'k' })).toEqual(first);
    expect((await events()).length).toBe(before);
    expect(await codeOf(() => hf.note({ text: 'two' }, { key: 'k' }))).toBe('usage');
  });

  it('records nothing once its signal is aborted', async () => {
    const { hf, events } = await planned();
    const before = (await events()).length;
    const stop = new AbortController();
    const asked = hf.note({ text: 'late' }, { signal: stop.signal });
    stop.abort();
    await expect(asked).rejects.toMatchObject({ code: 'cancelled', data: { recorded: 'no' } });
    await expect(hf.note({ text: 'later' }, { signal: stop.signal })).rejects.toMatchObject({ code: 'cancelled' });
    expect((await events()).length).toBe(before);
    expect(await hf.note({ text: 'other' }, { signal: new AbortController().signal })).toMatchObject({ id: 'N-1' });
  });

  it('refuses an identity that is not text, with a line that helps', async () => {
    const { hf } = await planned();
    const session = { id: 'S-1' } as unknown as string;
    expect(() => hf.as({ session })).toThrow('session must be string, not Object.');
    for (const [options, message] of [
      [{ agent: 7 }, 'agent must be string, not 7.'],
      [{ agnet: 'ada' }, 'agnet is not known here.'],
      [{ evidence: 'sure' }, 'evidence must be `library`'],
      [{ store: 7 }, 'store must be an open store'],
      [{ maxValueBytes: 0 }, 'maxValueBytes must be at least 1'],
      [{ now: 'today' }, 'now must be Function'],
    ] as [object, string][]) {
      await expect(openHoldfast(options)).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringContaining(message),
      });
    }
    await expect(openHoldfast({ agnet: 'ada' } as object)).rejects.toMatchObject({
      hints: ['Did you mean `agent`?', expect.any(String)],
    });
    await expect(hf.note({ text: 'x' }, { keys: 'k' } as object)).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('watching', () => {
  it('gives every event once and in order, also after it was left and continued', async () => {
    const { hf } = await planned();
    for (let count = 0; count < 450; count++) await hf.note({ text: `n${count}` });
    const seen: string[] = [];
    let cursor: string | undefined;
    for (const most of [3, 250, 197]) {
      for await (const { event, cursor: next } of hf.watch({ types: ['note.added'], after: cursor ?? 'beginning' })) {
        cursor = next;
        if (event.type === 'note.added') seen.push(event.body.text);
        if (seen.length % 450 === 0 || (most < 250 && seen.length === 3) || (most === 250 && seen.length === 253))
          break;
      }
    }
    expect(seen).toEqual(Array.from({ length: 450 }, (_, count) => `n${count}`));
  });

  it('waits for what is recorded, and ends with its signal and when the journal is closed', async () => {
    const folder = newWorkspace();
    const hf = await openHoldfast({ dir: folder.path, agent: 'ada' });
    const stop = new AbortController();
    const events = hf.watch({ types: ['note.added'], signal: stop.signal });
    const waiting = events.next();
    await hf.watch({ after: 'beginning' }).next();
    folder.data('note', 'from another process');
    expect((await waiting).value).toMatchObject({ event: { body: { text: 'from another process' } } });
    const last = events.next();
    stop.abort();
    expect((await last).done).toBe(true);
    const other = hf.watch({}).next();
    await hf.close();
    expect((await other).done).toBe(true);
  });

  it('refuses a cursor that is not one', async () => {
    const { hf } = await planned();
    await expect(hf.watch({ after: 'yesterday' }).next()).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('a lease', () => {
  it('alone decides for a program: its process lives, and the step is free after the time', async () => {
    const { hf, clock } = await planned('t1');
    const slow = hf.as({ agent: 'slow' });
    const { session } = await slow.session.start({ leaseMs: 1000 });
    const held = slow.as({ session: session.id });
    await held.start({ key: 't1' });
    const quick = hf.as({ agent: 'quick' });
    clock.advance(900);
    expect(await codeOf(() => quick.start({ key: 't1' }))).toBe('held');
    clock.advance(200);
    expect(await codeOf(() => quick.start({ key: 't1' }))).toBe('done');
    expect(await codeOf(() => held.checkpoint({ name: 'late' }))).toBe('fenced');
    expect(await codeOf(() => hf.session.start({ leaseMs: 10 }))).toBe('invalid');
  });

  it('is renewed while a step is held, which is completed when the work returns', async () => {
    const folder = newWorkspace();
    folder.data('plan', 'add', 'a', 'A');
    const hf = await openHoldfast({ dir: folder.path, agent: 'ada' });
    const result = await hf.hold('a', async ({ checkpoint }) => {
      await checkpoint('half', 'the rest');
      return 42;
    });
    expect(result).toBe(42);
    expect((await hf.plan.show()).steps).toContainEqual(expect.objectContaining({ key: 'a', status: 'completed' }));
    await hf.close();
  });

  it('releases the step when the work throws', async () => {
    const { hf } = await planned('a');
    await expect(
      hf.hold('a', async () => {
        throw new Error('broken');
      }),
    ).rejects.toThrow('broken');
    expect((await hf.plan.show()).steps).toContainEqual(expect.objectContaining({ key: 'a', status: 'pending' }));
    expect(await codeOf(() => hf.hold('missing', async () => 1))).toBe('not_found');
  });

  it('is lost by a worker that is blocked past it: another one takes the step, and the first is told', async () => {
    const folder = newWorkspace();
    folder.data('plan', 'add', 'a', 'A');
    const hf = await openHoldfast({ dir: folder.path });
    const order: string[] = [];
    const blocked = hf.as({ agent: 'blocked' }).hold(
      'a',
      async ({ signal, checkpoint }) => {
        const until = performance.now() + 1100;
        while (performance.now() < until); // The whole process hangs: no timer runs.
        await hf.as({ agent: 'quick' }).hold('a', async () => order.push('quick'));
        await checkpoint('late').catch((thrown: unknown) => order.push((thrown as { code: string }).code));
        order.push(String(signal.aborted));
        return 'finished';
      },
      { leaseMs: 1000 },
    );
    await expect(blocked).rejects.toMatchObject({ code: 'fenced' });
    expect(order).toEqual(['quick', 'fenced', 'true']);
    expect((await hf.plan.show()).steps).toContainEqual(expect.objectContaining({ key: 'a', status: 'completed' }));
    await hf.close();
  });
});

describe('the journal for tests', () => {
  it('has a clock, crashes and failures of its own', async () => {
    const t = await testHoldfast({ at: '2026-03-01T00:00:00Z', agent: 'ada' });
    await t.hf.init({ title: 'Work', id: 'w' });
    await t.hf.plan.add({ key: 'a', title: 'A' });
    const { session } = await t.hf.session.start();
    await t.hf.as({ session: session.id }).start({ key: 'a' });
    const other = t.hf.as({ agent: 'bob' });
    t.clock.advance(24 * 3600 * 1000);
    expect(await codeOf(() => other.start({ key: 'a' }))).toBe('held');
    t.crash(session.id);
    t.failNext('unavailable');
    expect(await codeOf(() => other.start({ key: 'a' }))).toBe('unavailable');
    expect(await codeOf(() => other.start({ key: 'a' }))).toBe('done');
    const events = await t.events();
    expect(events[0]).toMatchObject({ type: 'run.opened', at: '2026-03-01T00:00:00.000Z' });
    expect(events.at(-1)?.at).toBe('2026-03-02T00:00:00.000Z');
    await t.close();
  });
});
