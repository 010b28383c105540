import * as v from 'valibot';
import type { Session } from '../../core/fold/state.ts';
import { currentRun } from '../act.ts';
import { limit } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';

export const sessions = defineOperation({
  name: 'sessions',
  summary: 'List sessions, newest first.',
  scope: 'read',
  input: v.object({ active: v.optional(described(v.boolean(), 'Only those that have not ended.')), limit: limit(50) }),
  output: v.object({
    sessions: v.array(
      shaped<Session>({ id: v.string(), agent: v.string(), status: v.string(), startedAt: v.string() }),
    ),
  }),
  async run(context, { active, limit: wanted = 50 }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    const rows = await engine.rows(run, {
      kind: 'session',
      limit: wanted,
      ...(active ? { status: 'active' } : {}),
    });
    return { data: { sessions: rows.map((row) => row.doc as Session) } };
  },
  say: ({ sessions: found }, pen) =>
    found.length === 0
      ? 'No session is recorded.'
      : found
          .map((session) => {
            const lineage = session.continues ? `, continues ${session.continues}` : '';
            const status = session.unannounced ? `${session.status} (no end reported)` : session.status;
            return `${pen.bold(session.id)} ${session.agent} (${session.kind}) ${pen.dim(`${status}, since ${session.startedAt.slice(0, 16)}Z${lineage}`)}`;
          })
          .join('\n'),
});
