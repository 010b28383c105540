import { ActionButton } from '../action.tsx';
import { approveCompaction, handOver, settleItem } from '../actions.ts';
import { Card, Empty, Pill } from '../parts.tsx';
import { PlanTree } from '../plan-tree.tsx';
import type { RunAt, Status } from '../run.ts';
import { mayWrite, useAnswer } from '../state.ts';
import { Ago, Id, Line, Passage } from '../words.tsx';

export function OverviewView({ run, at, status }: RunAt & { status: Status }) {
  return (
    <div class="columns">
      <div>
        <Card title="Plan" count={status.progress.total}>
          <PlanTree run={run} isNow={at === null} steps={status.steps} />
        </Card>
      </div>
      <div>
        <AtWork run={run} at={at} status={status} />
        <OpenItems run={run} at={at} status={status} />
        {at === null && mayWrite.value && status.run.status === 'active' && <Worklog run={run} />}
      </div>
    </div>
  );
}

function AtWork({ run, at, status }: RunAt & { status: Status }) {
  const { sessions, steps, handoffs } = status;
  const left = steps.filter((step) => step.interrupted && step.lastSession);
  const open = handoffs.filter((one) => one.status === 'offered' || one.status === 'clarifying');
  return (
    <Card title="At work" count={sessions.length}>
      {sessions.length + left.length === 0 && <Empty title="No active session." />}
      <ul class="rows">
        {sessions.map((session) => {
          const held = steps.filter((step) => step.holder?.session === session.id);
          return (
            <li key={session.id} class="row" data-row tabIndex={-1}>
              <Pill word={session.standing} />
              <span class="grow">
                <strong>{session.agent}</strong> <Id>{session.id}</Id>
                <span class="dim block">
                  {held.length > 0 ? held.map((step) => step.key).join(', ') : 'holds no step'}, seen{' '}
                  <Ago at={session.seenAt} />
                </span>
              </span>
              {at === null && (
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
            <Pill word={step.crashes > 0 ? 'crashed' : 'interrupted'} />
            <span class="grow">
              <strong>{step.lastAgent}</strong> <Id>{step.lastSession}</Id>
              <span class="dim block">
                stopped in {step.key}
                {step.checkpoint ? ` after checkpoint "${step.checkpoint.name}"` : ' before its first checkpoint'}
              </span>
            </span>
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

function OpenItems({ run, at, status }: RunAt & { status: Status }) {
  const { items } = status;
  return (
    <Card title="Open" count={items.length}>
      {items.length === 0 && <Empty title="Nothing is open." />}
      <ul class="rows">
        {items.slice(0, ITEMS_SHOWN).map((item) => (
          <li key={item.id} class="row row-top" data-row tabIndex={-1}>
            <span class={`tag tag-${item.kind}`}>{item.kind}</span>
            <span class="grow">
              <Passage text={item.text} chars={240} />
              <span class="dim block">
                <Id>{item.id}</Id> {item.status}, by {item.by} <Ago at={item.raisedAt} />
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
            {at === null && (
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

function Worklog({ run }: { run: string }) {
  const { data } = useAnswer('compact', {}, run);
  const moving = data?.entries.filter((entry) => entry.moves).length ?? 0;
  if (!data || (moving === 0 && data.unfinished.length === 0)) return null;
  return (
    <Card title="Worklog">
      <div class="row">
        <span class="grow">
          {data.lines} lines; {moving} entries can move to an archive, which leaves {data.linesAfter}.
        </span>
        <ActionButton
          quiet
          label="Approve"
          about="compaction"
          scope="maintain"
          action={() => approveCompaction(run, moving, data.lines, data.linesAfter)}
        />
      </div>
    </Card>
  );
}
