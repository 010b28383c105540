import * as v from 'valibot';
import type { Item } from '../../core/fold/state.ts';
import { named } from '../../core/line.ts';
import { oneLine } from '../../core/text.ts';
import { ItemKind } from '../../core/words.ts';
import { currentRun, currentState } from '../act.ts';
import { limit } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';

const ItemStatus = v.picklist(['open', 'active', 'bypassed', 'resolved', 'deferred', 'withdrawn']);

export const items = defineOperation({
  name: 'items',
  summary: 'List what is open; with --all what is settled too.',
  scope: 'read',
  input: v.object({
    kind: v.optional(described(ItemKind, 'Only of this kind.')),
    all: v.optional(described(v.boolean(), 'Settled ones too.')),
    status: v.optional(described(ItemStatus, 'Only those with this status, such as deferred.')),
    limit: limit(100),
  }),
  output: v.object({
    items: v.array(shaped<Item>({ id: v.string(), kind: v.string(), status: v.string(), text: v.string() })),
  }),
  async run(context, { kind, all, status, limit: wanted = 100 }) {
    if (!all && status === undefined) {
      const open = [...(await currentState(context)).items.values()].filter(
        (item) => kind === undefined || item.kind === kind,
      );
      return { data: { items: open.slice(0, wanted) } };
    }
    const run = await currentRun(context);
    const engine = await context.engine();
    const rows = await engine.rows(run, {
      kind: 'item',
      limit: wanted,
      ...(kind === undefined ? {} : { tag: `kind:${kind}` }),
      ...(status === undefined ? {} : { status }),
    });
    return { data: { items: rows.map((row) => row.doc as Item) } };
  },
  say: ({ items: found }, pen) =>
    found.length === 0
      ? 'Nothing is open.'
      : found
          .map((item) => {
            const to = `${item.to ? `, to ${item.to}` : ''}${item.due ? `, due ${oneLine(item.due, 40)}` : ''}`;
            return `${pen.bold(named(item.id, item.alias))} ${pen.dim(`${item.kind}, ${item.status}${to}`)} ${oneLine(item.text, 110)}`;
          })
          .join('\n'),
});
