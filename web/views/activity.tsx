import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { EntryRow } from '../entry.tsx';
import { Await, Card, Choices, Empty } from '../parts.tsx';
import { runHref } from '../route.ts';
import { moment, type RunAt, type Status } from '../run.ts';
import { useAnswer } from '../state.ts';
import { Clock, Id, Line } from '../words.tsx';

type Kind = 'all' | 'request' | 'file' | 'command' | 'raw';

const PAGE = 50;

export function ActivityView({ run, at, status }: RunAt & { status: Status }) {
  const [kind, setKind] = useState<Kind>('all');
  const [agent, setAgent] = useState('');
  const [failed, setFailed] = useState(false);
  const [path, setPath] = useState('');
  const [limit, setLimit] = useState(PAGE);
  const isRaw = kind === 'raw';
  const filter = {
    ...(kind === 'all' || isRaw ? {} : { kind }),
    ...(agent === '' ? {} : { agent }),
    ...(failed ? { failed } : {}),
    ...(path.trim() === '' ? {} : { path: path.trim() }),
  };
  const found = useAnswer('activity', { ...filter, limit, ...moment(at) }, run);
  const agents = found.data?.agents ?? [];
  return (
    <Card
      title="Activity"
      tools={
        <div class="filters">
          <Choices
            label="Kind"
            value={kind}
            onChange={setKind}
            options={[
              ['all', 'All'],
              ['request', 'Requests'],
              ['file', 'Files'],
              ['command', 'Commands'],
              ['raw', 'Raw'],
            ]}
          />
          {!isRaw && (
            <>
              {agents.length > 1 && (
                <select aria-label="Agent" value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
                  <option value="">All agents</option>
                  {agents.map((one) => (
                    <option key={one} value={one}>
                      {one}
                    </option>
                  ))}
                </select>
              )}
              <label class="toggle">
                <input type="checkbox" checked={failed} onChange={(event) => setFailed(event.currentTarget.checked)} />
                Failures only
              </label>
              <input
                type="search"
                class="filter-path"
                aria-label="Path contains"
                placeholder="Path"
                value={path}
                onInput={(event) => setPath(event.currentTarget.value)}
              />
            </>
          )}
        </div>
      }
    >
      {isRaw ? (
        <RawEvents run={run} at={at} status={status} />
      ) : (
        <Await of={found}>
          {({ entries, hosts, more }) => (
            <>
              {at !== null && <p class="dim pad">Entries that changed after this event are left out.</p>}
              {entries.length === 0 && <NoEntries isFiltered={Object.keys(filter).length > 0} />}
              <ul class="rows">
                {entries.map((entry) => (
                  <EntryRow
                    key={`${entry.kind} ${entry.version} ${entry.kind === 'file' ? entry.path : ''}`}
                    run={run}
                    entry={entry}
                    hosts={hosts}
                    isMixed
                  />
                ))}
              </ul>
              {more && (
                <button type="button" class="button" onClick={() => setLimit(limit + 100)}>
                  Earlier ones
                </button>
              )}
            </>
          )}
        </Await>
      )}
    </Card>
  );
}

function NoEntries({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="Nothing fits the filter." />
  ) : (
    <Empty title="Nothing recorded yet.">
      Requests, changed files and commands appear here while an agent works. <code>holdfast install claude</code> sets
      that up.
    </Empty>
  );
}

type Event = Output<'log'>['events'][number];

const EVENTS = 100;

function RawEvents({ run, at, status }: RunAt & { status: Status }) {
  // Null follows the newest event; a number keeps the page there.
  const [end, setEnd] = useState<number | null>(null);
  const shownTo = Math.min(end ?? status.version, status.version);
  const log = useAnswer('log', { ...(end === null ? moment(at) : { at: shownTo }), limit: EVENTS }, run);
  return (
    <Await of={log}>
      {({ events }) => (
        <>
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
              onClick={() => setEnd(shownTo + EVENTS >= status.version ? null : shownTo + EVENTS)}
            >
              Newer
            </button>
            <button type="button" class="button" disabled={shownTo <= EVENTS} onClick={() => setEnd(shownTo - EVENTS)}>
              Earlier
            </button>
          </div>
        </>
      )}
    </Await>
  );
}

function EventRow({ run, event }: { run: string; event: Event }) {
  const words = Object.entries(event.body)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    .map(([name, value]) => `${name}: ${String(value).slice(0, 400)}`);
  return (
    <li>
      <a class="row row-link" data-row href={runHref(run, { at: event.version })}>
        <span class="log-version">{event.version}</span>
        <Clock at={event.at} />
        <Id>{event.type}</Id>
        <span class="nowrap">{event.agent ?? event.person}</span>
        <span class="grow dim">
          <Line text={words.join(', ')} chars={220} />
        </span>
      </a>
    </li>
  );
}
