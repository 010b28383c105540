import * as v from 'valibot';
import type { Session } from '../../core/fold/state.ts';
import { Role } from '../../core/words.ts';
import { act } from '../act.ts';
import { briefFor } from '../brief/parts/compose.ts';
import { beginGitStatus, fullTreeMark } from '../brief/parts/evidence.ts';
import { label } from '../fields.ts';
import { defineOperation, described, shaped } from '../operation.ts';

const Ids = v.array(v.string());

export const sessionStart = defineOperation({
  name: 'session.start',
  summary: 'Start a session and print the brief.',
  scope: 'write',
  flags: { leaseMinutes: 'lease-minutes', leaseMs: 'lease-ms' },
  examples: ['holdfast session start --agent claude', 'holdfast session start --agent codex --continues S-12'],
  input: v.object({
    role: v.optional(described(Role, 'Changes the emphasis of the brief; it gives no rights.')),
    continues: v.optional(described(label, 'The session this one continues.')),
    leaseMs: v.optional(
      described(
        v.pipe(v.number(), v.integer(), v.minValue(1000), v.maxValue(86_400_000)),
        'For programs: milliseconds of silence before the session counts as gone, whether its process runs or not.',
      ),
    ),
    leaseMinutes: v.optional(
      described(
        v.pipe(v.number(), v.minValue(1), v.maxValue(10_080)),
        'Minutes of silence before a session counts as gone (default 30).',
      ),
    ),
  }),
  output: v.object({
    session: shaped<Pick<Session, 'id' | 'agent' | 'role'>>({ id: v.string(), agent: v.string(), role: v.string() }),
    run: v.object({ id: v.string(), title: v.string() }),
    version: v.number(),
    brief: v.string(),
    mail: v.object({ unread: Ids, pendingAcks: Ids, replies: Ids, unanswered: Ids }),
  }),
  async run(context, { role, continues, leaseMs, leaseMinutes }) {
    const status = beginGitStatus(context);
    const done = await act(context, {
      type: 'session.start',
      role,
      continues,
      leaseMs: leaseMs ?? (leaseMinutes === undefined ? undefined : Math.round(leaseMinutes * 60_000)),
      // Without an owner only the lease decides: a process may live on while its worker hangs.
      owner: leaseMs === undefined ? context.identity.owner : undefined,
      mark: await fullTreeMark(context, status),
    });
    const started = done.events.find((event) => event.type === 'session.started');
    const id = started?.body.id ?? '';
    const session = done.state.sessions.get(id) ?? { id, agent: context.identity.actor.name, role: role ?? 'worker' };
    const { text, fields } = await briefFor(context, done.state, status, {
      form: 'joined',
      session: id,
      agent: session.agent,
      person: started?.body.kind === 'person',
      role,
    });
    return {
      data: {
        session,
        run: { id: done.run, title: done.state.run?.title ?? '' },
        version: done.state.version,
        brief: text,
        mail: {
          unread: ids(fields.mail.unread),
          pendingAcks: ids(fields.mail.pendingAcks),
          replies: ids(fields.mail.replies),
          unanswered: ids(fields.mail.unanswered),
        },
      },
      changed: done.changed,
    };
  },
  say: ({ session, brief }, pen) =>
    `Session ${pen.bold(session.id)} of ${session.agent} started. Pass it on with --session ${session.id} or HOLDFAST_SESSION.\n\n${brief}`,
});

const ids = (messages: readonly { id: string }[]): string[] => messages.map((message) => message.id);
