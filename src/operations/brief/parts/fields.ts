import * as v from 'valibot';
import { Role } from '../../../core/words.ts';
import { described } from '../../operation.ts';

/** What can be asked of a brief. */
export const briefFields = {
  budget: v.optional(
    described(
      v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(100_000)),
      'Tokens for the whole text (default 2000).',
    ),
  ),
  role: v.optional(described(Role, 'Changes the emphasis.')),
};

export const Budget = v.object({ limit: v.number(), used: v.number(), omitted: v.record(v.string(), v.number()) });
export type Budget = v.InferOutput<typeof Budget>;
