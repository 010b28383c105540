import { describe, expect, it } from 'vitest';
import { type Part, tryPart } from './long/faults/part.ts';
import { canInject } from './long/faults/place.ts';
import { seeded } from './long/faults/random.ts';

/** A sample of `npm run test:long faults`, the same one every time. */
export function sampleFaults(parts: readonly Part[]): void {
  describe.skipIf(!canInject)('what survives faults', () => {
    it.each(parts)(
      '$name',
      async (part) => {
        const { failures } = await tryPart(part, { random: seeded(1).fork(part.name), long: false });
        expect(failures).toEqual([]);
      },
      180_000,
    );
  });
}
