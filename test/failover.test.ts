import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPair } from './failover.ts';

let pair: Awaited<ReturnType<typeof openPair>>;
beforeAll(async () => {
  pair = await openPair();
}, 60_000);
afterAll(() => pair.close());

describe('a database with a standby that takes over', () => {
  it('has everything that was acknowledged, if the primary waited for the standby', async () => {
    const found = await pair.failOver({ isSynchronous: true, writers: 2, before: 20, after: 10 });
    expect(found).toMatchObject({ acknowledged: 60, failed: [], lost: [], named: [], isChainValid: true, after: 10 });
  }, 60_000);

  it('lacks what the standby had not received, and every lost event is named', async () => {
    const found = await pair.failOver({ isSynchronous: false, writers: 2, before: 20, after: 10 });
    expect(found).toMatchObject({ failed: [], isChainValid: true });
    expect(found.lost.length).toBeGreaterThan(0);
    expect([...new Set(found.named)].sort()).toEqual([...new Set(found.lost)].sort());
  }, 60_000);
});
