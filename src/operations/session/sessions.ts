import * as v from 'valibot';
import type { Handoff, Session } from '../../core/fold/state.ts';
import { agoInWords, msBetween } from '../../core/time.ts';
import { type SessionLabel, sessionLabel } from '../../core/views/labels.ts';
import { sessionWordOf } from '../../core/views/run-state.ts';
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
      shaped<Session & { label: SessionLabel }>({
        id: v.string(),
        agent: v.string(),
        status: v.string(),
        startedAt: v.string(),
        label: v.string(),
      }),
    ),
    now: v.string(),
  }),
  async run(context, { active, limit: wanted = 50 }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    const rows = await engine.rows(run, {
      kind: 'session',
      limit: wanted,
      ...(active ? { status: 'active' } : {}),
    });
    const state = await engine.load(run);
    const liveness = await engine.liveness(state);
    const handoffs = (await engine.rows(run, { kind: 'handoff', limit: wanted })).map(({ doc }) => doc as Handoff);
    const senders = new Set(handoffs.flatMap(({ acceptedBy, from }) => (acceptedBy === null ? [] : [from])));
    const labelled = rows.map((row) => {
      const session = row.doc as Session;
      const present = session.status === 'active' ? state.sessions.get(session.id) : undefined;
      const word = present ? sessionWordOf(state, present, liveness) : session.status;
      return { ...session, label: sessionLabel(word, senders.has(session.id)) };
    });
    return { data: { sessions: labelled, now: liveness.now } };
  },
  say: ({ sessions: found, now }, pen) =>
    found.length === 0
      ? 'No session is recorded.'
      : found
          .map((session) => {
            const { label, startedAt, endedAt, continues, unannounced } = session;
            const ago = (instant: string): string => agoInWords(msBetween(instant, now));
            const when = endedAt === null ? `, started ${ago(startedAt)}` : ` ${ago(endedAt)}`;
            const facts = [
              `${label}${when}${unannounced ? ' (no end reported)' : ''}`,
              ...(continues ? [`continues ${continues}`] : []),
            ];
            const kind = session.kind === 'person' ? ' (a person)' : '';
            return `${pen.bold(session.id)} ${session.agent}${kind} ${pen.dim(facts.join(', '))}`;
          })
          .join('\n'),
});
