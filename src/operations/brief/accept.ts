import * as v from 'valibot';
import { Fault, nearest, quoted } from '../../core/fault.ts';
import type { Conflict } from '../../core/views/conflict.ts';
import { act, currentState, inRun } from '../act.ts';
import { label, note } from '../fields.ts';
import { Made } from '../item/decide.ts';
import { defineOperation, described } from '../operation.ts';
import { findEvidence } from './parts/evidence.ts';

export const accept = defineOperation({
  name: 'accept',
  summary: 'Accept a conflict: record that the present state is right.',
  scope: 'write',
  words: ['conflict'],
  examples: ['holdfast accept K-3fa91c --note "the formatter did it"'],
  input: v.object({ conflict: described(label, 'The id of the conflict, as `holdfast resume` shows it.'), note }),
  output: v.object({ ...Made.entries, path: v.nullable(v.string()), kind: v.nullable(v.string()), open: v.number() }),
  async run(given, { conflict: id, note: remark }) {
    const context = await inRun(given);
    const state = await currentState(context);
    const { open } = await findEvidence(context, state);
    const conflict = open.find((one) => one.id === id);
    if (!conflict && !state.acceptedConflicts.has(id)) throw noSuchConflict(id, open);
    const done = await act(context, { type: 'conflict.accept', id, note: remark });
    return {
      data: {
        id,
        path: conflict?.path ?? null,
        kind: conflict?.kind ?? null,
        open: open.filter((one) => one.id !== id).length,
        run: done.run,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ id, path, open }, pen) =>
    `${pen.bold(id)}${path ? ` (${path})` : ''} is accepted. ${open === 0 ? 'No conflict is open.' : `Still open: ${open}.`}`,
});

function noSuchConflict(id: string, open: readonly Conflict[]): Fault {
  const ids = open.map((conflict) => conflict.id);
  const listed = open.slice(0, 10).map((conflict) => `${conflict.id} ${conflict.kind} ${quoted(conflict.path)}`);
  return new Fault('not_found', `There is no open conflict ${quoted(id)}.`, {
    hints: open.length === 0 ? ['No conflict is open.'] : [`Open: ${listed.join(', ')}.`, 'See `holdfast resume`.'],
    data: {
      noun: 'conflict',
      name: id,
      near: nearest(id, ids),
      open: open.map(({ id: openId, kind, path }) => ({ id: openId, kind, path })),
    },
  });
}
