import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { Await, Card, Empty } from '../parts.tsx';
import { hrefOf } from '../route.ts';
import { moment, type RunAt, type Status } from '../run.ts';
import { useAnswer } from '../state.ts';
import { clockOf, Id, Line, momentOf } from '../words.tsx';

type Event = Output<'log'>['events'][number];

const PAGE = 100;

export function LogView({ run, at, status }: RunAt & { status: Status }) {
  // Null follows the newest event; a number keeps the page there.
  const [end, setEnd] = useState<number | null>(null);
  const shownTo = Math.min(end ?? status.version, status.version);
  const log = useAnswer('log', { ...(end === null ? moment(at) : { at: shownTo }), limit: PAGE }, run);
  return (
    <Card title="Log" count={status.version}>
      <Await of={log}>
        {({ events }) => (
          <>
            {events.length === 0 && <Empty title="No events yet." />}
            <ol class="log">
              {[...events].reverse().map((event) => (
                <EventRow key={event.version} run={run} event={event} />
              ))}
            </ol>
            <div class="pager">
              <button
                type="button"
                class="button"
                disabled={end === null}
                onClick={() => setEnd(shownTo + PAGE >= status.version ? null : shownTo + PAGE)}
              >
                Newer
              </button>
              <button type="button" class="button" disabled={shownTo <= PAGE} onClick={() => setEnd(shownTo - PAGE)}>
                Earlier
              </button>
            </div>
          </>
        )}
      </Await>
    </Card>
  );
}

function EventRow({ run, event }: { run: string; event: Event }) {
  const words = Object.entries(event.body)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    .map(([name, value]) => `${name}: ${String(value).slice(0, 400)}`);
  return (
    <li>
      <a class="row row-link" data-row href={hrefOf({ page: 'run', run, view: 'overview', at: event.version })}>
        <span class="log-version">{event.version}</span>
        <time class="dim nowrap" dateTime={event.at} title={momentOf(event.at)}>
          {clockOf(event.at)}
        </time>
        <Id>{event.type}</Id>
        <span class="nowrap">{event.agent ?? event.person}</span>
        <span class="grow dim">
          <Line text={words.join(', ')} chars={220} />
        </span>
      </a>
    </li>
  );
}
