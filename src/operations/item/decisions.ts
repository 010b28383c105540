import * as v from 'valibot';
import { evolve } from '../../core/fold/evolve.ts';
import type { Decision } from '../../core/fold/state.ts';
import { emptyState } from '../../core/fold/state-tables.ts';
import type { Recall, RowKind, Rows } from '../../core/fold/touch.ts';
import { oneLine } from '../../core/text.ts';
import { currentRun } from '../act.ts';
import type { Context } from '../context.ts';
import { limit, version } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';

const MOST_TAGGED = 10_000;

export const decisions = defineOperation({
  name: 'decisions',
  summary: 'List decisions, the newest first.',
  scope: 'read',
  input: v.object({
    all: v.optional(described(v.boolean(), 'Superseded and retracted ones too.')),
    affects: v.optional(described(v.string(), 'Only those that affect this.')),
    key: v.optional(described(v.string(), 'Only those with this key.')),
    at: v.optional(described(version, 'As they were after this version.')),
    limit: limit(50),
  }),
  output: v.object({
    decisions: v.array(
      shaped<Decision>({ id: v.string(), decision: v.string(), reason: v.string(), status: v.string() }),
    ),
    total: v.number(),
  }),
  async run(context, { all, affects, key, at, limit: wanted = 50 }) {
    const run = await currentRun(context);
    if (at !== undefined) {
      const then = await decisionsAt(context, run, at);
      const found = then.filter(
        (one) =>
          (all || one.status === 'active') &&
          (key === undefined || one.key === key) &&
          (affects === undefined || one.affects?.includes(affects)),
      );
      return { data: { decisions: found.slice(0, wanted), total: found.length } };
    }
    const engine = await context.engine();
    const filter = { kind: 'decision', ...(all ? {} : { status: 'active' }) };
    const tags = [
      ...(key === undefined ? [] : [`key:${key}`]),
      ...(affects === undefined ? [] : [`affects:${affects}`]),
    ];
    const [tag] = tags;
    if (tag !== undefined) {
      // Few decisions share a tag, and no store counts by tag, so all of them are read and counted here.
      const tagged = await engine.rows(run, { ...filter, tag, limit: MOST_TAGGED });
      const found = tagged.filter((row) => tags.every((one) => row.tags.includes(one)));
      return {
        data: { decisions: found.slice(0, wanted).map((row) => row.doc as Decision), total: found.length },
      };
    }
    const [rows, counts] = await Promise.all([
      engine.rows(run, { ...filter, limit: wanted }),
      engine.count(run, 'decision'),
    ]);
    const total = all ? Object.values(counts).reduce((sum, count) => sum + count, 0) : (counts['active'] ?? 0);
    return { data: { decisions: rows.map((row) => row.doc as Decision), total } };
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

/** Folded state has no settled decisions, so the events up to the version are folded here. The newest first. */
async function decisionsAt(context: Context, run: string, at: number): Promise<Decision[]> {
  const engine = await context.engine();
  const state = emptyState();
  const found = new Map<string, Decision>();
  const recall: Recall = <K extends RowKind>(kind: K, id: string) =>
    (kind === 'decision' ? (found.get(id) ?? null) : null) as Rows[K] | null;
  for await (const page of engine.eventPages(run, { upTo: at })) {
    for (const event of page) {
      for (const { kind, id, after } of evolve(state, event, recall)) {
        if (kind === 'decision' && after) found.set(id, after);
      }
    }
  }
  return [...found.values()].reverse();
}
