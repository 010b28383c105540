import { ActionButton } from '../action.tsx';
import { answerQuestion, handOver, settleItem } from '../actions.ts';
import { Card, Empty, Pill } from '../parts.tsx';
import { runHref } from '../route.ts';
import { hostsOf, isPlanned, type RunAt, type Status } from '../run.ts';
import { Ago, Id, Line, Passage } from '../words.tsx';

/** Sessions that have not ended, work that one left, and offers. */
export function Sessions({ run, at, status }: RunAt & { status: Status }) {
  const { sessions, steps, handoffs } = status;
  const left = steps.filter((step) => step.interrupted && step.lastSession);
  const open = handoffs.filter((one) => one.status === 'offered' || one.status === 'clarifying');
  const hosts = hostsOf(status);
  const shown = sessions.filter((session) => session.label !== 'ended');
  return (
    <Card title="Sessions" count={shown.length > 0 ? shown.length : undefined}>
      {shown.length + left.length + open.length === 0 && (
        <Empty title="No active session.">
          {status.standing.label === 'finished'
            ? 'Nothing is left to do. The sessions that worked on it are under Sessions.'
            : 'Start an agent in this folder and say “continue”: it gets the brief, and appears here.'}
        </Empty>
      )}
      <ul class="rows">
        {shown.map((session) => {
          const held = steps.filter((step) => step.holder?.session === session.id);
          const host = session.owner?.host.split(' ')[0];
          return (
            <li key={session.id} class="row" data-row tabIndex={-1}>
              <span class="grow">
                <strong>{session.agent}</strong> <Id>{session.id}</Id>
                <span class="dim block">
                  {held.map((step) => (
                    <span key={step.key}>
                      on{' '}
                      <a href={runHref(run, { step: step.key })}>
                        {isPlanned(status) ? step.key : <Line text={step.title} chars={60} />}
                      </a>
                      ,{' '}
                    </span>
                  ))}
                  <Ago at={session.seenAt} prefix="last seen " />
                  {hosts.size > 0 && host && ` on ${host}`}
                </span>
              </span>
              <Pill label={session.label} />
              {at === null && held.length > 0 && (
                <ActionButton
                  quiet
                  label="Hand over"
                  about={`${session.agent}, ${session.id}`}
                  scope="maintain"
                  action={() => handOver(run, session.id, session.agent)}
                />
              )}
            </li>
          );
        })}
        {left.map((step) => (
          <li key={step.key} class="row" data-row tabIndex={-1}>
            <span class="grow">
              <strong>{step.lastAgent}</strong> <Id>{step.lastSession}</Id>
              <span class="dim block">
                stopped in <a href={runHref(run, { step: step.key })}>{step.key}</a>
                {step.checkpoint ? ` after checkpoint "${step.checkpoint.name}"` : ' before its first checkpoint'}
              </span>
            </span>
            <Pill label={step.crashes > 0 ? 'cut off' : 'ended'} />
            {at === null && step.lastSession && (
              <ActionButton
                quiet
                label="Hand over"
                about={`${step.key} of ${step.lastAgent}`}
                scope="maintain"
                action={() => handOver(run, step.lastSession ?? '', step.lastAgent ?? '')}
              />
            )}
          </li>
        ))}
        {open.map((handoff) => (
          <li key={handoff.id} class="row" data-row tabIndex={-1}>
            <span class="tag">handoff</span>
            <Id>{handoff.id}</Id>
            <span class="grow">
              {handoff.by} to <strong>{handoff.to}</strong>, {handoff.status} <Ago at={handoff.at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const ITEMS_SHOWN = 100;

export function OpenItems({ run, at, status }: RunAt & { status: Status }) {
  const { items } = status;
  return (
    <Card title="Open" count={items.length > 0 ? items.length : undefined}>
      {items.length === 0 && (
        <Empty title="Nothing is open.">
          Blockers, questions and findings appear here: <code>holdfast raise KIND "…"</code>
        </Empty>
      )}
      <ul class="rows">
        {items.slice(0, ITEMS_SHOWN).map((item) => (
          <li key={item.id} class="row row-top" data-row tabIndex={-1}>
            <span class={`tag tag-${item.kind}`}>{item.kind}</span>
            <span class="grow">
              <Passage text={item.text} chars={160} />
              <span class="dim block">
                <Id>{item.id}</Id> by {item.by} <Ago at={item.raisedAt} />
                {item.to && `, to ${item.to}`}
                {item.due && (
                  <>
                    , due <Line text={item.due} chars={40} />
                  </>
                )}
                {item.overdue && <strong class="bad"> overdue</strong>}
                {item.severity && `, ${item.severity.replaceAll('_', ' ')}`}
              </span>
            </span>
            {at === null && item.kind === 'question' && (
              <ActionButton
                quiet
                label="Answer"
                about={item.id}
                action={() => answerQuestion(run, item.id, item.text)}
              />
            )}
            {at === null && item.kind !== 'question' && (
              <ActionButton
                quiet
                label="Resolve"
                about={item.id}
                action={() => settleItem(run, item.id, item.kind, item.text)}
              />
            )}
          </li>
        ))}
      </ul>
      {items.length > ITEMS_SHOWN && <p class="dim pad">and {items.length - ITEMS_SHOWN} more</p>}
    </Card>
  );
}
