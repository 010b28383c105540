import { useState } from 'preact/hooks';
import { ActionButton } from './action.tsx';
import { acknowledgeMail, closeMail, replyToMail } from './actions.ts';
import { Await, Card, Empty, Pill } from './parts.tsx';
import type { RunAt, Status } from './run.ts';
import { useAnswer, who } from './state.ts';
import { Ago, Id, Line, Passage } from './words.tsx';

type Letter = Status['mail'][number];

const SHOWN = 200;
const CLOSED_SHOWN = 20;

export function MailView({ run, at, status }: RunAt & { status: Status }) {
  const letters = [...status.mail].reverse();
  return (
    <>
      <Card title="Open mail" count={letters.length}>
        {letters.length === 0 && <Empty title="No mail is open." />}
        <ul class="letters">
          {letters.slice(0, SHOWN).map((letter) => (
            <LetterRow key={letter.id} run={run} letter={letter} isOpen={at === null} />
          ))}
        </ul>
      </Card>
      <ClosedMail run={run} at={at} />
    </>
  );
}

/** What is closed is never touched again: what was closed by a moment of the past is what was closed before it. */
function ClosedMail({ run, at }: RunAt) {
  const [limit, setLimit] = useState(CLOSED_SHOWN);
  const past = at === null ? {} : { before: at + 1 };
  const found = useAnswer('mail.inbox', { all: true, closed: true, limit, ...past }, run);
  return (
    <Card title="Closed mail">
      <Await of={found}>
        {({ closed, before }) => (
          <>
            {!closed?.length && <Empty title="No mail is closed." />}
            <ul class="letters">
              {closed?.map((letter) => (
                <LetterRow key={letter.id} run={run} letter={letter} isOpen={false} />
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

function LetterRow({ run, letter, isOpen }: { run: string; letter: Letter; isOpen: boolean }) {
  const { id, from, to, subject, body, status, priority, type, acks, replies, overdue } = letter;
  const isMine = to === 'maintainer' || to === who.value?.actor.name;
  const said = [
    ...acks.map((one) => ({ by: one.by, at: one.at, version: one.version, what: one.to, text: one.note })),
    ...replies.map((one) => ({ by: one.from, at: one.at, version: one.version, what: 'replied', text: one.body })),
  ].sort((a, b) => a.version - b.version);
  return (
    <li class="letter" data-row tabIndex={-1}>
      <p class="letter-head">
        <Pill word={status} />
        <Id>{id}</Id>
        <span class={`tag${priority === 'P0' ? ' tag-warn' : ''}`}>{priority}</span>
        <span class="tag">{type}</span>
        <span>
          <strong>{from}</strong> to <strong>{to}</strong>
        </span>
        <span class="dim">
          <Ago at={letter.at} />
        </span>
        {letter.disposition && <span class="tag">{letter.disposition}</span>}
        {overdue && <span class="tag tag-warn">overdue</span>}
      </p>
      <h3>
        <Line text={subject} chars={200} />
      </h3>
      <Passage text={body} chars={500} />
      {said.length > 0 && (
        <ol class="said" aria-label={`Said on ${id}`}>
          {said.map((one) => (
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
        <p class="letter-tools">
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
