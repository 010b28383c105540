import { useState } from 'preact/hooks';
import { Await, Card, Empty, Pill } from '../parts.tsx';
import { runHref } from '../route.ts';
import { isTodo, moment, type RunAt, type Status } from '../run.ts';
import { useAnswer } from '../state.ts';
import { type Timeline, TimelineChart } from '../timeline-chart.tsx';
import { Ago, Id, Line, plural } from '../words.tsx';
import { Snapshots } from './snapshots.tsx';

const PAGE = 40;

export function SessionsView({ run, at, status }: RunAt & { status: Status }) {
  const [limit, setLimit] = useState(PAGE);
  const timeline = useAnswer('timeline', { ...moment(at), limit }, run);
  return (
    <>
      <Card title="Timeline" count={timeline.data?.total}>
        <Await of={timeline}>
          {(found) =>
            found.sittings.length === 0 ? (
              <Empty title="No sessions yet.">
                Each conversation of an agent appears here, with the time it took and how it ended.{' '}
                <code>holdfast install claude</code>
              </Empty>
            ) : (
              <>
                <TimelineChart run={run} timeline={found} steps={status.steps} />
                <SessionList run={run} timeline={found} />
                {found.total > found.sittings.length && (
                  <button type="button" class="button" onClick={() => setLimit(limit + PAGE)}>
                    {plural(found.total - found.sittings.length, 'earlier session')}
                  </button>
                )}
              </>
            )
          }
        </Await>
      </Card>
      <Snapshots run={run} at={at} />
    </>
  );
}

function SessionList({ run, timeline }: { run: string; timeline: Timeline }) {
  const { sittings: sessions } = timeline;
  const hosts = new Set(sessions.flatMap(({ host }) => host ?? []));
  return (
    <ul class="rows">
      {[...sessions].reverse().map((session) => (
        <li key={session.session} class="row row-top" data-row tabIndex={-1}>
          <span class="grow">
            <strong>{session.agent}</strong> <Id>{session.session}</Id>{' '}
            <span class="dim">
              <Ago at={session.to ?? session.from} prefix={session.to ? 'ended ' : 'started '} />
              {session.role !== 'worker' && `, ${session.role}`}
              {session.continues && `, continues ${session.continues}`}
              {session.parent && `, for ${session.parent}`}
              {session.handedTo && `, handed to ${session.handedTo}`}
              {hosts.size > 1 && session.host && `, on ${session.host}`}
            </span>
            <span class="block">
              {stepsOf(session).map((one) => (
                <a
                  key={`${one.step} ${one.from}`}
                  class="step-chip"
                  href={runHref(run, { view: 'sessions', step: one.step })}
                >
                  {one.step}{' '}
                  <span class="dim">
                    {one.end === 'held' && session.label === 'cut off' ? 'interrupted' : endWords[one.end]}
                  </span>
                </a>
              ))}
              {stepsOf(session).length === 0 && session.turns.length > 0 && (
                <span class="dim">
                  {plural(session.turns.length, 'request')}, the last one:{' '}
                  <Line text={session.turns.findLast(({ request }) => request)?.request ?? '“continue”'} chars={120} />
                </span>
              )}
            </span>
          </span>
          <Pill label={session.label} />
        </li>
      ))}
    </ul>
  );
}

/** Entries of a client's list are no steps of a plan. */
const stepsOf = ({ steps }: Timeline['sittings'][number]) => steps.filter(({ step }) => !isTodo({ key: step }));

const endWords: Readonly<Record<Timeline['sittings'][number]['steps'][number]['end'], string>> = {
  held: 'in progress',
  completed: 'done',
  failed: 'failed',
  released: 'released',
  interrupted: 'interrupted',
  crashed: 'cut off',
  handed: 'handed over',
};
