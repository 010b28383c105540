import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Line } from '../line.ts';
import { estimateTokens } from '../tokens.ts';
import { openScale, tokensOf } from './fill.ts';

const word = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, '')),
  fc.constantFrom('of', 'X-1321', '05:27,', '(exit', '1,280', '"src/ledger/p1.1-4.ts"', 'größer', '這們', ''),
);
const lines = fc.array(
  fc.array(word, { minLength: 1, maxLength: 20 }).map((words) => words.join(' ') as Line),
  { minLength: 1, maxLength: 8 },
);

it('estimates lines word by word as their text is estimated as a whole', () => {
  const scale = openScale(undefined);
  fc.assert(
    fc.property(lines, (all) => {
      fc.pre(all.every((line) => line !== ''));
      expect(tokensOf(scale(all))).toBe(estimateTokens(`${all.join('\n')}\n`));
    }),
    { numRuns: 500 },
  );
});
