import * as v from 'valibot';
import type { Message, Session, State } from '../../../core/fold/state.ts';
import type { EventBody } from '../../../core/journal/event.ts';
import { oneLine, Sentence } from '../../../core/text.ts';
import { clockTime } from '../../../core/time.ts';
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

/** Open mail for people, one line per message. */
export function sayMail(mail: v.InferOutput<typeof MailLists>, pen: Pen): string[] {
  const line = (message: MessageView, rest: string): string => {
    const late = message.overdue ? ` ${pen.bad('overdue')}` : '';
    return `  ${pen.bold(message.id)} ${message.priority} ${rest}${late}: ${oneLine(message.subject, 90)}`;
  };
  const section = (title: string, lines: string[], count = lines.length): string[] =>
    lines.length > 0 ? [pen.bold(`${title} (${count})`), ...lines] : [];
  const isAnswered = (message: MessageView): boolean => message.answered;
  return [
    ...section(
      'Unread',
      mail.unread.map((message) => line(message, `${message.type} from ${message.from}`)),
    ),
    ...section(
      'Answers to read',
      mail.replies.flatMap((message) => [
        line(message, `to ${message.to}`),
        ...message.news.map((said) => `    ${said.by}${said.to ? `, ${said.to}` : ''}: ${oneLine(said.text, 110)}`),
      ]),
      mail.replies.length,
    ),
    ...section(
      'To act on',
      mail.pendingAcks.map((message) => line(message, `${message.status}, from ${message.from}`)),
    ),
    ...section(
      'Sent, not answered',
      mail.unanswered.filter((message) => !isAnswered(message)).map((message) => line(message, `to ${message.to}`)),
    ),
    ...section(
      'Sent, answered, yours to close',
      mail.unanswered.filter(isAnswered).map((message) => line(message, `to ${message.to}, ${message.status}`)),
    ),
  ];
}

export function sayClosed(messages: readonly MessageView[], before: number | null, pen: Pen): string[] {
  return [
    ...messages.map(({ id, from, to, disposition, subject, acks }) => {
      const end = acks.findLast((ack) => ack.to === 'closed');
      const how = `${disposition ?? 'closed'}${end ? ` by ${end.by}: ${oneLine(end.note, 90)}` : ''}`;
      return `${pen.bold(id)} ${from} to ${to}: ${oneLine(subject, 90)}\n    ${pen.dim(how)}`;
    }),
    ...(before === null ? [] : [`Earlier ones: add \`--closed --before ${before}\`.`]),
  ];
}

/** A message and its replies for people. */
export function sayMessage(message: Message, now: string, pen: Pen): string {
  const { id, alias, from, to, at, type, priority, status, subject, body, respondBy, disposition, escalated } = message;
  const facts = [
    `${from} to ${to}, ${clockTime(at, now)}: ${type}, ${priority}, ${status}${disposition ? ` (${disposition})` : ''}`,
    ...(respondBy ? [`Answer needed by: ${respondBy}`] : []),
    `Closed by: ${type === 'notify' ? 'anyone' : `${from} or a person`}`,
    ...(escalated ? [`Escalated ${clockTime(escalated.at, now)}: ${escalated.why}`] : []),
  ];
  const said = repliesTo(message).map(
    ({ by, at: when, to: became, text }) =>
      `${pen.dim(`${clockTime(when, now)} ${by}${became ? `, ${became}` : ''}`)}: ${text}`,
  );
  return [
    `${pen.bold(id)}${alias ? ` (${alias})` : ''} ${subject}`,
    ...facts,
    '',
    body,
    ...(said.length > 0 ? ['', ...said] : []),
  ].join('\n');
}
