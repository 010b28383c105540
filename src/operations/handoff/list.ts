import * as v from 'valibot';
import type { Handoff, Snapshot } from '../../core/fold/state.ts';
import { joined, line, id as ownId, word } from '../../core/line.ts';
import { offeredAgo } from '../../core/views/freshness.ts';
import { isOpenOffer } from '../../core/views/offer.ts';
import { isDone } from '../../core/views/plan.ts';
import { currentState } from '../act.ts';
import { limit } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';

const FALLBACK = 20;
const LAST_SNAPSHOTS = 200;

/** The last snapshot that the same agent left after the one that an offer names. */
function newerThan(snapshots: readonly Snapshot[], id: string | undefined): string | null {
  const own = snapshots.find((one) => one.id === id);
  const later = snapshots.filter((one) => own && one.agent === own.agent && one.sequence > own.sequence);
  return later.sort((a, b) => b.sequence - a.sequence)[0]?.id ?? null;
}

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
      shaped<Handoff & { open: boolean; eventsSince: number; done: string[]; newer: string | null }>({
        id: v.string(),
        from: v.string(),
        to: v.string(),
        status: v.string(),
        open: v.boolean(),
        eventsSince: v.number(),
        /** Its steps that are finished. */
        done: v.array(v.string()),
        /** A later snapshot of the sender. */
        newer: v.nullable(v.string()),
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
    const snapshots = rows.some((one) => one.open)
      ? (await engine.rows(state.run?.id ?? '', { kind: 'snapshot', limit: LAST_SNAPSHOTS })).map(
          (row) => row.doc as Snapshot,
        )
      : [];
    const told = rows.map((one) => ({
      ...one,
      done: one.steps.filter((key) => isDone(state.steps.get(key)?.status ?? 'pending')),
      newer: newerThan(snapshots, one.snapshot),
    }));
    const sorted = told.sort((a, b) => Number(b.open) - Number(a.open));
    return { data: { handoffs: open ? sorted.filter((one) => one.open) : sorted } };
  },
  say: ({ handoffs }, pen) =>
    handoffs.length === 0
      ? line`Nothing was handed over.`
      : joined(
          handoffs.map(({ id, from, to, steps, status, open, eventsSince, outcome, question, done, newer }) => {
            const what = steps.length > 0 ? line` (${joined(steps.map((key) => pen.quote(key, 'name')))})` : '';
            const asks = question && status === 'clarifying' ? line`. asks: ${pen.quote(question)}` : '';
            const more = outcome ? line`. ${pen.quote(outcome)}` : asks;
            const since = open ? line`, ${offeredAgo(eventsSince)}` : '';
            const over =
              open && done.length > 0
                ? line`; ${joined(done.map((key) => pen.quote(key, 'name')))} ${done.length === 1 ? line`is` : line`are`} done`
                : '';
            const old = open && newer ? line`; superseded by snapshot ${ownId(newer)}` : '';
            const state = open ? pen.warn(word(status)) : word(status);
            return line`${pen.bold(ownId(id))} ${ownId(from)} to ${pen.quote(to, 'name')}${what}: ${state}${since}${over}${old}${more}`;
          }),
          '\n',
        ),
});
