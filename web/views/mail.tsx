import { useState } from 'preact/hooks';
import { ActionButton } from '../action.tsx';
import { acknowledgeMail, closeMail, replyToMail } from '../actions.ts';
import { Await, Card, Empty, Pill } from '../parts.tsx';
import type { RunAt, Status } from '../run.ts';
import { useAnswer, who } from '../state.ts';
import { Ago, Id, Line, Passage } from '../words.tsx';

type Message = Status['mail'][number];

const SHOWN = 200;
const CLOSED_SHOWN = 20;

export function MailView({ run, at, status }: RunAt & { status: Status }) {
  const messages = [...status.mail].reverse();
  return (
    <>
      <Card title="Open mail" count={messages.length}>
        {messages.length === 0 && (
          <Empty title="No open mail.">
            Messages between agents and to you appear here: <code>holdfast mail send AGENT "Subject"</code>
          </Empty>
        )}
        <ul class="messages">
          {messages.slice(0, SHOWN).map((message) => (
            <MessageRow key={message.id} run={run} message={message} isOpen={at === null} />
          ))}
        </ul>
      </Card>
      <ClosedMail run={run} at={at} />
    </>
  );
}

/** A closed message never changes: those closed at a past event are the ones closed before it. */
function ClosedMail({ run, at }: RunAt) {
  const [limit, setLimit] = useState(CLOSED_SHOWN);
  const past = at === null ? {} : { before: at + 1 };
  const found = useAnswer('mail.inbox', { all: true, closed: true, limit, ...past }, run);
  return (
    <Card title="Closed mail">
      <Await of={found}>
        {({ closed, before }) => (
          <>
            {!closed?.length && <Empty title="No closed mail." />}
            <ul class="messages">
              {closed?.map((message) => (
                <MessageRow key={message.id} run={run} message={message} isOpen={false} />
              ))}
            </ul>
            {before !== null && (
              <button type="button" class="button" onClick={() => setLimit(limit + 5 * CLOSED_SHOWN)}>
                Earlier ones
              </button>
            )}
          </>
        )}
      </Await>
    </Card>
  );
}

function MessageRow({ run, message, isOpen }: { run: string; message: Message; isOpen: boolean }) {
  const { id, from, to, subject, body, status, priority, type, acks, replies, overdue } = message;
  const isMine = to === 'maintainer' || to === who.value?.actor.name;
  const answers = [
    ...acks.map((one) => ({ by: one.by, at: one.at, version: one.version, what: one.to, text: one.note })),
    ...replies.map((one) => ({ by: one.from, at: one.at, version: one.version, what: 'replied', text: one.body })),
  ].sort((a, b) => a.version - b.version);
  return (
    <li class="message" data-row tabIndex={-1}>
      <p class="message-head">
        <Pill label={status} />
        <Id>{id}</Id>
        <span class={`tag${priority === 'P0' ? ' tag-warn' : ''}`}>{priority}</span>
        <span class="tag">{type.replaceAll('-', ' ')}</span>
        <span>
          <strong>{from}</strong> to <strong>{to}</strong>
        </span>
        <span class="dim">
          <Ago at={message.at} />
        </span>
        {message.disposition && <span class="tag">{message.disposition}</span>}
        {overdue && <span class="tag tag-warn">overdue</span>}
      </p>
      <h3>
        <Line text={subject} chars={200} />
      </h3>
      <Passage text={body} chars={500} />
      {answers.length > 0 && (
        <ol class="answers" aria-label={`Replies to ${id}`}>
          {answers.map((one) => (
            <li key={one.version}>
              <span class="dim">
                {one.by} {one.what} <Ago at={one.at} />
              </span>
              <Passage text={one.text} chars={300} />
            </li>
          ))}
        </ol>
      )}
      {isOpen && (
        <p class="message-tools">
          {isMine && status === 'unread' && (
            <ActionButton label="Acknowledge" about={id} action={() => acknowledgeMail(run, id, subject)} />
          )}
          <ActionButton quiet label="Reply" about={id} action={() => replyToMail(run, id, subject)} />
          <ActionButton quiet label="Close" about={id} scope="maintain" action={() => closeMail(run, id, subject)} />
        </p>
      )}
    </li>
  );
}
