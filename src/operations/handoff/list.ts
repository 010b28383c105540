import * as v from 'valibot';
import type { Handoff } from '../../core/fold/state.ts';
import { joined, line, id as ownId, word } from '../../core/line.ts';
import { offeredAgo } from '../../core/views/freshness.ts';
import { isOpenOffer } from '../../core/views/offer.ts';
import { currentState } from '../act.ts';
import { limit } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';

const FALLBACK = 20;

export const handoffList = defineOperation({
  name: 'handoff.list',
  summary: 'List handoffs: open offers first, then the outcome of the others.',
  scope: 'read',
  input: v.object({
    open: v.optional(described(v.boolean(), 'Only offers that can be accepted.')),
    limit: limit(FALLBACK),
  }),
  output: v.object({
    handoffs: v.array(
      shaped<Handoff & { open: boolean; eventsSince: number }>({
        id: v.string(),
        from: v.string(),
        to: v.string(),
        status: v.string(),
        open: v.boolean(),
        eventsSince: v.number(),
      }),
    ),
  }),
  async run(context, { open, limit: most = FALLBACK }) {
    const state = await currentState(context);
    const engine = await context.engine();
    const found = await engine.rows(state.run?.id ?? '', { kind: 'handoff', limit: most });
    const rows = found.map(({ doc }) => {
      const handoff = state.handoffs.get((doc as Handoff).id) ?? (doc as Handoff);
      return { ...handoff, open: isOpenOffer(state, handoff), eventsSince: state.version - handoff.version };
    });
    const sorted = rows.sort((a, b) => Number(b.open) - Number(a.open));
    return { data: { handoffs: open ? sorted.filter((one) => one.open) : sorted } };
  },
  say: ({ handoffs }, pen) =>
    handoffs.length === 0
      ? line`Nothing was handed over.`
      : joined(
          handoffs.map(({ id, from, to, steps, status, open, eventsSince, outcome, question }) => {
            const what = steps.length > 0 ? line` (${joined(steps.map((key) => pen.quote(key, 'name')))})` : '';
            const asks = question && status === 'clarifying' ? line`. asks: ${pen.quote(question)}` : '';
            const more = outcome ? line`. ${pen.quote(outcome)}` : asks;
            const since = open ? line`, ${offeredAgo(eventsSince)}` : '';
            const state = open ? pen.warn(word(status)) : word(status);
            return line`${pen.bold(ownId(id))} ${ownId(from)} to ${pen.quote(to, 'name')}${what}: ${state}${since}${more}`;
          }),
          '\n',
        ),
});
