import * as v from 'valibot';
import type { Session } from '../../core/fold/state.ts';
import { id, line } from '../../core/line.ts';
import { mustBeOwn } from '../../core/rules/session-proof.ts';
import { currentRun } from '../act.ts';
import type { Context } from '../context.ts';
import { label } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { moveTo } from './parts/move-to.ts';

/** A person may move any session, an agent its own. */
async function mustBeAllowed(context: Context, run: string, session: string): Promise<void> {
  if (context.identity.actor.kind === 'person') return;
  const rows = await (await context.engine()).recall(run, [session]);
  const found = rows.find(({ kind }) => kind === 'session')?.doc as Session | undefined;
  if (found) mustBeOwn(found, context.identity);
}

export const sessionMove = defineOperation({
  name: 'session.move',
  summary: 'Move a session and what it recorded to another run.',
  scope: 'write',
  words: ['id'],
  examples: ['holdfast session move S-3 --to login', 'holdfast session move S-3 --to new'],
  input: v.object({
    id: described(label, 'The session.'),
    to: described(label, 'The run, or `new` for one of its own.'),
  }),
  output: v.object({
    from: v.string(),
    run: v.string(),
    session: v.string(),
    facts: v.number(),
    /** Facts that are kept as notes, because the run could not record them as they were. */
    notes: v.number(),
  }),
  async run(context, { id: session, to }) {
    const from = await currentRun(context);
    await mustBeAllowed(context, from, session);
    const moved = await moveTo(context, { run: from, session }, to);
    return { data: { from, ...moved } };
  },
  say: ({ from, run, session, facts }, pen) =>
    from === run
      ? line`It is in run ${pen.quote(run, 'name')} already.`
      : line`Moved ${facts} facts to run ${pen.quote(run, 'name')}, session ${id(session)}.`,
});
