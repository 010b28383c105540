import * as v from 'valibot';
import { MAINTAINER } from '../../core/fold/message.ts';
import type { Message } from '../../core/fold/state.ts';
import { joined, line } from '../../core/line.ts';
import { plainName } from '../../core/names.ts';
import { type MessageView, mailOf, messageView } from '../../core/views/mail.ts';
import type { Actor } from '../../core/words.ts';
import type { StoredRow } from '../../store/projection.ts';
import { currentState } from '../act.ts';
import type { Context } from '../context.ts';
import { limit, version } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { copyMail, MailLists, MessageLine, readerOf, sayClosed, sayMail } from './parts/message.ts';

const CLOSED_SHOWN = 50;

export const mailInbox = defineOperation({
  name: 'mail.inbox',
  summary: 'Show your mail: unread messages, answers, and what waits for you or for others.',
  scope: 'read',
  examples: ['holdfast mail inbox --agent codex', 'holdfast mail inbox --all --closed'],
  input: v.object({
    all: v.optional(described(v.boolean(), "Everyone's mail.")),
    closed: v.optional(described(v.boolean(), 'Closed messages instead, newest first.')),
    before: v.optional(described(version, 'Of the closed, only those closed before this version.')),
    limit: limit(CLOSED_SHOWN),
  }),
  output: v.object({
    reader: v.nullable(v.string()),
    ...MailLists.entries,
    overdue: v.array(v.string()),
    /** Null unless closed mail was asked for. */
    closed: v.nullable(v.array(MessageLine)),
    /** More messages were closed before this version. */
    before: v.nullable(v.number()),
    run: v.string(),
  }),
  async run(context, { all, closed: wantsClosed, before, limit: wanted = CLOSED_SHOWN }) {
    const state = await currentState(context);
    const engine = await context.engine();
    const run = state.run?.id ?? '';
    const now = engine.now();
    const reader = all ? null : await readerOf(context, state);
    if (wantsClosed || before !== undefined) {
      const found = await closedMail(context, run, reader, wanted + 1, before);
      const earlier = found.length > wanted ? (found[wanted - 1]?.version ?? null) : null;
      const messages = found.slice(0, wanted).map(({ doc }) => messageView(doc as Message, now));
      const nothing = { unread: [], pendingAcks: [], replies: [], unanswered: [], overdue: [] };
      return { data: { reader: reader?.name ?? null, ...nothing, closed: messages, before: earlier, run } };
    }
    const mail = mailOf(state, reader, now);
    const late = (messages: readonly MessageView[]) => messages.filter((message) => message.overdue !== null);
    const overdue = new Set([...late(mail.unread), ...late(mail.unanswered)].map((message) => message.id));
    const open = { ...copyMail(mail), overdue: [...overdue] };
    return { data: { reader: reader?.name ?? null, ...open, closed: null, before: null, run } };
  },
  say: ({ reader, closed, before, ...mail }, pen) => {
    const lines = closed ? sayClosed(closed, before, pen) : sayMail(mail, pen);
    const whose = reader === null ? '' : line` for ${pen.quote(reader, 'name')}`;
    const kind = closed ? line`closed` : line`open`;
    return lines.length > 0 ? joined(lines, '\n') : line`There is no ${kind} mail${whose}.`;
  },
});

/** Closed messages from or to a reader, or all without one; newest first. */
async function closedMail(
  context: Context,
  run: string,
  reader: Actor | null,
  wanted: number,
  before: number | undefined,
): Promise<StoredRow[]> {
  // A closed message never changes again: the version of its row is the one at which it was closed.
  const engine = await context.engine();
  const filter = { kind: 'message', status: 'closed', limit: wanted, ...(before === undefined ? {} : { before }) };
  if (!reader) return engine.rows(run, filter);
  const name = plainName(reader.name);
  const tags = [`from:${name}`, `to:${name}`, ...(reader.kind === 'person' ? [`to:${MAINTAINER}`] : [])];
  const pages = await Promise.all(tags.map((tag) => engine.rows(run, { ...filter, tag })));
  const found = new Map(pages.flat().map((row) => [row.id, row]));
  return [...found.values()].sort((a, b) => b.version - a.version);
}
