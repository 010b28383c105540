import * as v from 'valibot';
import type { Decision } from '../core/state.ts';
import { oneLine } from '../core/text.ts';
import { currentRun } from './act.ts';
import { limit } from './fields.ts';
import { defineOperation, described, shaped } from './operation.ts';

export const decisions = defineOperation({
  name: 'decisions',
  summary: 'List decisions, the newest first.',
  scope: 'read',
  input: v.object({
    all: v.optional(described(v.boolean(), 'Superseded and retracted ones too.')),
    affects: v.optional(described(v.string(), 'Only those that bear on this.')),
    key: v.optional(described(v.string(), 'Only those with this key.')),
    limit: limit(50),
  }),
  output: v.object({
    decisions: v.array(
      shaped<Decision>({ id: v.string(), decision: v.string(), reason: v.string(), status: v.string() }),
    ),
    total: v.number(),
  }),
  async run(context, { all, affects, key, limit: wanted = 50 }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    const tag = key !== undefined ? `key:${key}` : affects === undefined ? undefined : `affects:${affects}`;
    const filter = {
      kind: 'decision',
      limit: wanted,
      ...(all ? {} : { status: 'active' }),
      ...(tag === undefined ? {} : { tag }),
    };
    const [records, counts] = await Promise.all([engine.records(run, filter), engine.store.count(run, 'decision')]);
    const total = all ? Object.values(counts).reduce((sum, count) => sum + count, 0) : (counts['active'] ?? 0);
    return { data: { decisions: records.map((record) => record.doc as Decision), total } };
  },
  say: ({ decisions: found, total }, pen) =>
    found.length === 0
      ? 'No decision is recorded.'
      : [
          ...found.map(
            (one) =>
              `${pen.bold(one.id)}${one.irreversible ? pen.warn(' irreversible') : ''}${one.status === 'active' ? '' : pen.dim(` ${one.status}`)} ${oneLine(one.decision, 100)}\n    ${pen.dim(`Why: ${oneLine(one.reason, 110)}`)}`,
          ),
          ...(found.length < total ? [`${total - found.length} more: \`holdfast decisions --limit ${total}\``] : []),
        ].join('\n'),
});
