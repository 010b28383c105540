import { runHref } from './route.ts';
import type { ActivityEntry } from './run.ts';
import { Ago, Clock, durationOf, Id, Line } from './words.tsx';

type Of<Kind extends ActivityEntry['kind']> = Extract<ActivityEntry, { kind: Kind }>;

interface EntryProps {
  run: string;
  entry: ActivityEntry;
  /** The run was worked on elsewhere too: each entry says where. */
  hosts: readonly string[];
  /** In a list of several kinds each row names its kind and its agent. */
  isMixed?: boolean;
}

/** A request, a changed file or a command. */
export function EntryRow({ run, entry, hosts, isMixed = false }: EntryProps) {
  return (
    <li class="row entry" data-row tabIndex={-1}>
      <Clock at={entry.at} />
      {isMixed && <span class="entry-agent">{entry.agent}</span>}
      <span class="grow">
        <EntryWords entry={entry} />
        {entry.step !== null && (
          <a class="entry-step" href={runHref(run, { step: entry.step })}>
            {entry.step}
          </a>
        )}
      </span>
      {!(hosts.length > 1 && isElsewhere(entry)) && <EntryEnd entry={entry} />}
      {hosts.length > 1 && entry.host && <span class="tag">{hostWords(entry)}</span>}
    </li>
  );
}

const isElsewhere = (entry: ActivityEntry): boolean => entry.kind === 'file' && entry.state === 'elsewhere';

function hostWords(entry: ActivityEntry): string {
  return isElsewhere(entry) ? `on ${entry.host}, not here` : `on ${entry.host}`;
}

function EntryWords({ entry }: { entry: ActivityEntry }) {
  switch (entry.kind) {
    case 'request':
      return (
        <span class="entry-request">
          <Line text={entry.text} chars={300} />
        </span>
      );
    case 'file':
      return (
        <code class={entry.change === 'deleted' ? 'entry-gone' : ''}>
          <Line text={entry.path} chars={160} />
        </code>
      );
    case 'command':
      return (
        <code>
          <Line text={entry.name} chars={200} />
        </code>
      );
    default:
      return entry satisfies never;
  }
}

function EntryEnd({ entry }: { entry: ActivityEntry }) {
  switch (entry.kind) {
    case 'request':
      return entry.outcome === 'cut off' || entry.outcome === 'failed' ? (
        <span class="end end-bad">{entry.outcome}</span>
      ) : entry.outcome === null ? (
        <span class="end end-good">in progress</span>
      ) : null;
    case 'file':
      return <FileEnd entry={entry} />;
    case 'command':
      return <CommandEnd entry={entry} />;
    default:
      return entry satisfies never;
  }
}

function FileEnd({ entry }: { entry: Of<'file'> }) {
  const { added, deleted, state, changedSince, change } = entry;
  return (
    <>
      {added !== null && (
        <span class="lines">
          <span class="good">+{added}</span>
          {deleted !== null && deleted > 0 && <span class="bad"> −{deleted}</span>}
        </span>
      )}
      <span class={`end${changedSince ? ' end-warn' : ''}`}>
        {change === 'deleted' && 'deleted, '}
        {change === 'created' && state === 'uncommitted' && 'new, '}
        {fileWords[state]}
        {changedSince && state !== 'gone' && ', changed since'}
      </span>
    </>
  );
}

const fileWords: Readonly<Record<Of<'file'>['state'], string>> = {
  uncommitted: 'uncommitted',
  committed: 'committed',
  'as before': 'as in the last commit',
  gone: 'no longer there',
  unknown: 'not compared',
  elsewhere: 'not here',
};

export function CommandEnd({ entry }: { entry: Of<'command'> }) {
  const { outcome, exitCode, durationMs } = entry;
  const time = durationMs === null ? null : <span class="dim nowrap">{durationOf(durationMs)}</span>;
  switch (outcome) {
    case 'running':
      return (
        <span class="end end-good">
          running, <Ago at={entry.at} prefix="started " />
        </span>
      );
    case 'unknown':
      return (
        <>
          <Id>{entry.id}</Id>
          <span class="end end-bad">outcome unknown</span>
        </>
      );
    case 'cancelled':
      return <span class="end">cancelled</span>;
    case 'failed':
      return (
        <>
          {time}
          <span class="end end-bad">{exitCode === null ? 'failed' : `exit ${exitCode}`}</span>
        </>
      );
    case 'succeeded':
      return (
        <>
          {time}
          <span class="end end-good">{exitCode === null ? 'done' : `exit ${exitCode}`}</span>
        </>
      );
    default:
      return outcome satisfies never;
  }
}
