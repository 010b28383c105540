import * as v from 'valibot';
import type { Snapshot } from '../../core/fold/state.ts';
import { oneLine } from '../../core/text.ts';
import { currentRun } from '../act.ts';
import { limit } from '../fields.ts';
import { defineOperation, shaped } from '../operation.ts';

export const snapshots = defineOperation({
  name: 'snapshots',
  summary: 'List the snapshots of all sessions, newest first.',
  scope: 'read',
  input: v.object({ limit: limit(50) }),
  output: v.object({
    snapshots: v.array(shaped<Snapshot>({ id: v.string(), agent: v.string(), session: v.string(), at: v.string() })),
  }),
  async run(context, { limit: wanted = 50 }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    const rows = await engine.rows(run, { kind: 'snapshot', limit: wanted });
    return { data: { snapshots: rows.map((row) => row.doc as Snapshot) } };
  },
  say: ({ snapshots: found }, pen) =>
    found.length === 0
      ? 'There is no snapshot yet.'
      : found
          .map(({ id, agent, session, at, reason, reconstructed, next }) => {
            const how = reconstructed ? 'reconstructed' : (reason ?? 'at work');
            const action = next === undefined ? '' : `: ${oneLine(next, 90)}`;
            return `${pen.bold(id)} ${agent} ${pen.dim(`${session}, ${at.slice(0, 16)}Z, ${how}`)}${action}`;
          })
          .join('\n'),
});
