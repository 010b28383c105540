import * as v from 'valibot';
import type { Message, Session, State } from '../../../core/fold/state.ts';
import type { EventBody } from '../../../core/journal/event.ts';
import { clock, joined, type Line, line, named, type Part, word } from '../../../core/line.ts';
import { Sentence } from '../../../core/text.ts';
import type { Change } from '../../../core/views/change.ts';
import { type Mail, type MessageView, repliesTo } from '../../../core/views/mail.ts';
import type { Actor } from '../../../core/words.ts';
import { act } from '../../act.ts';
import type { Context } from '../../context.ts';
import { Made } from '../../item/decide.ts';
import { described, type Pen, shaped } from '../../operation.ts';

export const messageNote = described(Sentence, 'The reason, for the other side to read.');

export const MailMoved = v.object({ ...Made.entries, status: v.string() });

export async function moveMail(
  context: Context,
  id: string,
  to: EventBody<'message.moved'>['to'],
  note: string,
  disposition?: EventBody<'message.moved'>['disposition'],
): Promise<{ data: v.InferOutput<typeof MailMoved>; changed: Change[] }> {
  const done = await act(context, { type: 'message.move', id, to, note, disposition });
  const [first] = done.events;
  const moved = first?.type === 'message.moved' || first?.type === 'message.heard' ? first.body.id : id;
  const status = done.state.messages.get(moved)?.status ?? (await findMessage(context, done.run, moved))?.status ?? to;
  return { data: { id: moved, status, run: done.run, version: done.state.version }, changed: done.changed };
}

/** A message by its id or alias, open or closed. */
export async function findMessage(context: Context, run: string, reference: string): Promise<Message | null> {
  const engine = await context.engine();
  const rows = await engine.recall(run, [reference]);
  return (rows.find((row) => row.kind === 'message')?.doc as Message | undefined) ?? null;
}

/** Whose mail it is: the agent of the named session, else the identity's own actor. */
export async function readerOf(context: Context, state: State): Promise<Actor> {
  const { actor, session: named } = context.identity;
  if (named === null) return actor;
  const open = [...state.sessions.values()].find(
    (session) => session.id === named || session.alias === named || session.client?.id === named,
  );
  const engine = await context.engine();
  const rows = open ? [] : await engine.recall(state.run?.id ?? '', [named]);
  const session = open ?? (rows.find((row) => row.kind === 'session')?.doc as Session | undefined);
  return session ? { kind: session.kind, name: session.agent } : actor;
}

export const MessageLine = shaped<MessageView>({
  id: v.string(),
  from: v.string(),
  to: v.string(),
  status: v.string(),
  subject: v.string(),
  overdue: v.nullable(v.string()),
  answered: v.boolean(),
});

export const MailLists = v.object({
  unread: v.array(MessageLine),
  pendingAcks: v.array(MessageLine),
  replies: v.array(MessageLine),
  unanswered: v.array(MessageLine),
});

export const copyMail = ({ unread, pendingAcks, replies, unanswered }: Mail): v.InferOutput<typeof MailLists> => ({
  unread: [...unread],
  pendingAcks: [...pendingAcks],
  replies: [...replies],
  unanswered: [...unanswered],
});

/** Open mail, one line per message. */
export function sayMail(mail: v.InferOutput<typeof MailLists>, pen: Pen): Line[] {
  const name = (text: string): Part => pen.quote(text, 'name');
  const row = (message: MessageView, rest: Line): Line => {
    const late = message.overdue ? line` ${pen.bad(line`overdue`)}` : '';
    return line`  ${pen.bold(named(message.id, message.alias))} ${word(message.priority)} ${rest}${late}: ${pen.quote(message.subject, 'title', 90)}`;
  };
  const section = (title: Line, lines: Line[], count = lines.length): Line[] =>
    lines.length > 0 ? [pen.bold(line`${title} (${count})`), ...lines] : [];
  const isAnswered = (message: MessageView): boolean => message.answered;
  return [
    ...section(
      line`Unread`,
      mail.unread.map((message) => row(message, line`${word(message.type)} from ${name(message.from)}`)),
    ),
    ...section(
      line`Answers to read`,
      mail.replies.flatMap((message) => [
        row(message, line`to ${name(message.to)}`),
        ...message.news.map(
          (said) =>
            line`    ${name(said.by)}${said.to ? line`, ${word(said.to)}` : ''}: ${pen.quote(said.text, 'title', 110)}`,
        ),
      ]),
      mail.replies.length,
    ),
    ...section(
      line`To act on`,
      mail.pendingAcks.map((message) => row(message, line`${word(message.status)}, from ${name(message.from)}`)),
    ),
    ...section(
      line`Sent, not answered`,
      mail.unanswered
        .filter((message) => !isAnswered(message))
        .map((message) => row(message, line`to ${name(message.to)}`)),
    ),
    ...section(
      line`Sent, answered, yours to close`,
      mail.unanswered
        .filter(isAnswered)
        .map((message) => row(message, line`to ${name(message.to)}, ${word(message.status)}`)),
    ),
  ];
}

export function sayClosed(messages: readonly MessageView[], before: number | null, pen: Pen): Line[] {
  return [
    ...messages.map(({ id, alias, from, to, disposition, subject, acks }) => {
      const end = acks.findLast((ack) => ack.to === 'closed');
      const by = end ? line` by ${pen.quote(end.by, 'name')}: ${pen.quote(end.note, 'title', 90)}` : '';
      const how = line`${word(disposition ?? 'closed')}${by}`;
      return line`${pen.bold(named(id, alias))} ${pen.quote(from, 'name')} to ${pen.quote(to, 'name')}: ${pen.quote(subject, 'title', 90)}\n    ${pen.dim(how)}`;
    }),
    ...(before === null ? [] : [line`Earlier ones: add \`--closed --before ${before}\`.`]),
  ];
}

/** A message and its replies. */
export function sayMessage(message: Message, now: string, pen: Pen): Line {
  const { id, alias, at, type, priority, status, subject, body, respondBy, disposition, escalated } = message;
  const from = pen.quote(message.from, 'name');
  const ended = disposition ? line` (${word(disposition)})` : '';
  const facts = [
    line`${from} to ${pen.quote(message.to, 'name')}, ${clock(at, now)}: ${word(type)}, ${word(priority)}, ${word(status)}${ended}`,
    ...(respondBy ? [line`Answer needed by: ${pen.quote(respondBy, 'name')}`] : []),
    line`Closed by: ${type === 'notify' ? line`anyone` : line`${from} or a person`}`,
    ...(escalated ? [line`Escalated ${clock(escalated.at, now)}: ${pen.quote(escalated.why)}`] : []),
  ];
  const said = repliesTo(message).map(({ by, at: when, to: became, text }) => {
    const who = line`${clock(when, now)} ${pen.quote(by, 'name')}${became ? line`, ${word(became)}` : ''}`;
    return line`${pen.dim(who)}: ${pen.whole(text)}`;
  });
  return joined(
    [
      line`${pen.bold(named(id, alias))} ${pen.quote(subject)}`,
      ...facts,
      '',
      pen.whole(body),
      ...(said.length > 0 ? (['', ...said] as const) : []),
    ],
    '\n',
  );
}
