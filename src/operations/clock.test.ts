import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { loadOperation, type OperationName } from './index.ts';
import { openContext } from './open.ts';
import { callOperation } from './operation.ts';

const HOUR_MS = 3_600_000;
const realNow = Date.now;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** One operation on a machine whose clock is ahead of the database's by so much. */
async function onMachine(aheadMs: number, run: string, name: OperationName, input: object): Promise<unknown> {
  vi.setSystemTime(realNow() + aheadMs);
  const context = openContext({
    ...{ dir: '/', withoutWorkspace: true, store: inject('postgresUrl'), run },
    ...{ actor: { kind: 'agent', name: 'ada' } as const, evidence: 'library' as const },
  });
  try {
    return (await callOperation(await loadOperation(name), context, input)).data;
  } finally {
    await context.close();
  }
}

it.each([
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
])('E3: a machine whose clock is an hour %s judges leases by the clock of the database', async (where, aheadMs) => {
  const run = `clock-${where}-${process.pid}-${realNow()}`;
  const sessionSeen = async (machineMs: number) => {
    const { now, sessions } = (await onMachine(machineMs, run, 'status', {})) as { now: string; sessions: object[] };
    return { sessions, isOnTime: Math.abs(Date.parse(now) - realNow()) < HOUR_MS / 2 };
  };
  await onMachine(0, run, 'init', { title: 'Clocks', id: run });
  await onMachine(0, run, 'session.start', { leaseMs: 60_000 });
  const seen = await sessionSeen(0);
  expect(seen).toMatchObject({ sessions: [{ id: 'S-1' }], isOnTime: true });
  expect(await sessionSeen(aheadMs)).toEqual(seen);
});
