import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { Await, Card, Empty, Pill } from '../parts.tsx';
import { moment, type RunAt } from '../run.ts';
import { now, useAnswer } from '../state.ts';
import { Ago, clockOf, Id, Line, momentOf, plural } from '../words.tsx';

type Session = Output<'timeline'>['sittings'][number];

const PAGE = 40;

export function TimelineView({ run, at }: RunAt) {
  const [limit, setLimit] = useState(PAGE);
  const timeline = useAnswer('timeline', { ...moment(at), limit }, run);
  return (
    <Card title="Timeline" count={timeline.data?.total}>
      <Await of={timeline}>
        {({ sittings: sessions, total }) =>
          sessions.length === 0 ? (
            <Empty title="No sessions yet." />
          ) : (
            <>
              <Chart sessions={sessions} isNow={at === null} />
              <Legend />
              <SessionList sessions={sessions} />
              {total > sessions.length && (
                <button type="button" class="button" onClick={() => setLimit(limit + PAGE)}>
                  {plural(total - sessions.length, 'earlier session')}
                </button>
              )}
            </>
          )
        }
      </Await>
    </Card>
  );
}

const WIDTH = 1000;
const LANE = 34;
const NAME = 150;
const TOP = 26;
const NAME_CHARS = 17;
/** Below this two ticks would show the same minute. */
const SECONDS_WITHIN_MS = 10 * 60_000;

/** One lane per session: when it was active, which steps it held and how they ended. */
function Chart({ sessions, isNow }: { sessions: readonly Session[]; isNow: boolean }) {
  const ends = sessions.flatMap(({ from, to, steps }) => [from, ...(to ? [to] : []), ...steps.map((one) => one.from)]);
  const begin = Math.min(...ends.map((at) => Date.parse(at)));
  const isLive = isNow && sessions.some((session) => session.to === null);
  const end = Math.max(begin + 60_000, ...ends.map((at) => Date.parse(at)), isLive ? now.value : 0);
  const x = (at: string | null): number => {
    const ms = at === null ? end : Date.parse(at);
    return NAME + ((ms - begin) / (end - begin)) * (WIDTH - NAME - 12);
  };
  const height = TOP + sessions.length * LANE + 6;
  const lane = new Map(sessions.map((session, index) => [session.session, index]));
  const ticks = [0, 0.25, 0.5, 0.75].map((share) => new Date(begin + share * (end - begin)).toISOString());
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <section class="chart-scroll" tabIndex={0} aria-label="Timeline chart">
      <svg
        class="timeline"
        viewBox={`0 0 ${WIDTH} ${height}`}
        role="img"
        aria-label={`${plural(sessions.length, 'session')} from ${clockOf(new Date(begin).toISOString())} to ${clockOf(new Date(end).toISOString())}; the list below has the same data`}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="tick" x1={x(tick)} x2={x(tick)} y1={TOP - 6} y2={height} />
            <text class="tick-words" x={x(tick) + 4} y={TOP - 12}>
              {clockOf(tick, end - begin < SECONDS_WITHIN_MS)}
            </text>
          </g>
        ))}
        {sessions.map((session, index) => (
          <Lane key={session.session} session={session} y={TOP + index * LANE} x={x} />
        ))}
        {sessions.map((session, index) => {
          const before = session.continues === null ? undefined : lane.get(session.continues);
          if (before === undefined) return null;
          const from = TOP + before * LANE + LANE / 2;
          const to = TOP + index * LANE + LANE / 2;
          return <path key={session.session} class="lineage" d={`M${x(session.from)} ${from}V${to}`} />;
        })}
      </svg>
    </section>
  );
}

function Lane({ session, y, x }: { session: Session; y: number; x: (at: string | null) => number }) {
  const { session: id, agent, from, to, status, steps } = session;
  const left = x(from);
  const width = Math.max(3, x(to) - left);
  return (
    <g>
      <text class="lane-name" x="4" y={y + 16}>
        {agent.length > NAME_CHARS ? `${agent.slice(0, NAME_CHARS - 1)}…` : agent}
        <title>{agent}</title>
      </text>
      <text class="lane-id" x="4" y={y + 28}>
        {id}
      </text>
      <rect class={`session-bar session-bar-${status}`} x={left} y={y + 6} width={width} height={LANE - 12} rx="5">
        <title>{`${agent} ${id}: ${status}, from ${momentOf(from)}`}</title>
      </rect>
      {steps.map((one) => {
        const start = x(one.from);
        const wide = Math.max(4, x(one.to ?? to) - start);
        return (
          <g key={`${one.step} ${one.from}`}>
            <rect class={`stretch stretch-${one.end}`} x={start} y={y + 10} width={wide} height={LANE - 20} rx="3">
              <title>{`${one.step}: ${one.end}`}</title>
            </rect>
            {wide > one.step.length * 8 + 8 && (
              <text class="stretch-words" x={start + 5} y={y + 21.5}>
                {one.step}
              </text>
            )}
            {one.checkpoints.slice(0, 50).map((checkpoint) => (
              <circle key={checkpoint.at} class="checkpoint" cx={x(checkpoint.at)} cy={y + LANE - 8} r="2.4">
                <title>{checkpoint.name}</title>
              </circle>
            ))}
          </g>
        );
      })}
      {status === 'crashed' && (
        <path class="crash" d={`M${x(to) - 5} ${y + 12}l10 10m0-10l-10 10`}>
          <title>crashed</title>
        </path>
      )}
    </g>
  );
}

function Legend() {
  const kinds = ['held', 'completed', 'failed', 'interrupted', 'crashed', 'handed'];
  return (
    <ul class="legend" aria-label="Colours">
      {kinds.map((kind) => (
        <li key={kind}>
          <svg viewBox="0 0 12 12" aria-hidden="true">
            <rect class={`stretch stretch-${kind}`} width="12" height="12" rx="3" />
          </svg>
          {kind === 'handed' ? 'handed over' : kind}
        </li>
      ))}
    </ul>
  );
}

function SessionList({ sessions }: { sessions: readonly Session[] }) {
  return (
    <ul class="rows">
      {[...sessions].reverse().map((session) => (
        <li key={session.session} class="row row-top" data-row tabIndex={-1}>
          <Pill word={session.status} />
          <span class="grow">
            <strong>{session.agent}</strong> <Id>{session.session}</Id>{' '}
            <span class="dim">
              {session.role}, since <Ago at={session.from} />
              {session.continues && `, continues ${session.continues}`}
              {session.parent && `, for ${session.parent}`}
              {session.handedTo && `, handed to ${session.handedTo}`}
            </span>
            <span class="block dim">
              {session.steps.length === 0 && 'held no step'}
              <Line text={session.steps.map((one) => `${one.step} ${one.end}`).join(', ')} chars={300} />
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}
