import { useEffect, useRef } from 'preact/hooks';
import { oneLine } from '../src/core/text.ts';
import { Attention } from './attention.tsx';
import { Await, Pill, Progress } from './parts.tsx';
import { hrefOf, type RunView, route, runViews } from './route.ts';
import type { RunAt, Status } from './run.ts';
import { Scrubber } from './scrubber.tsx';
import { useAnswer } from './state.ts';
import { BriefView } from './views/brief.tsx';
import { DecisionsView } from './views/decisions.tsx';
import { LogView } from './views/log.tsx';
import { MailView } from './views/mail.tsx';
import { OverviewView } from './views/overview.tsx';
import { SnapshotsView } from './views/snapshots.tsx';
import { TimelineView } from './views/timeline.tsx';
import { TokensView } from './views/tokens.tsx';
import { Ago, Id, Line, Passage } from './words.tsx';

export function RunPage() {
  const here = route.value;
  const { run, at, view } = here.page === 'run' ? here : { run: '', at: null, view: 'overview' as const };
  const status = useAnswer('status', at === null ? {} : { at }, run);
  const latest = useAnswer('status', {}, run);
  return (
    <div class="page">
      {status.data === null && (
        <header class="run-head">
          <p class="crumbs">
            <a href="#/">Runs</a>
          </p>
          <h1>{run}</h1>
        </header>
      )}
      <Await of={status}>
        {(shown) => (
          <>
            <RunHead status={shown} isOverview={view === 'overview'} />
            <Scrubber run={run} at={at} view={view} last={latest.data?.version ?? shown.version} />
            {at === null && <Attention run={run} status={shown} isOverview={view === 'overview'} />}
            <Tabs run={run} at={at} view={view} />
            <View view={view} run={run} at={at} status={shown} />
          </>
        )}
      </Await>
    </div>
  );
}

/** The bar scrolls if the tabs do not fit, with the current one in view. */
function Tabs({ run, at, view }: RunAt & { view: RunView }) {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = bar.current?.querySelector<HTMLElement>('[aria-current]');
    if (bar.current && current) bar.current.scrollLeft = current.offsetLeft - bar.current.offsetLeft - 40;
  }, [view]);
  return (
    <nav ref={bar} class="tabs" aria-label="Parts of this run">
      {runViews.map((name) => (
        <a
          key={name}
          href={hrefOf({ page: 'run', run, view: name, at })}
          aria-current={name === view ? 'page' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

/** Only the overview shows the goal: it would push the other views down. */
function RunHead({ status, isOverview }: { status: Status; isOverview: boolean }) {
  const { run, standing, progress } = status;
  const { goal, updatedAt } = run as { goal?: string | null; updatedAt?: string };
  return (
    <header class="run-head">
      <p class="crumbs">
        <a href="#/">Runs</a> / <Id>{run.id}</Id>
      </p>
      <h1 title={oneLine(run.title)}>
        <Line text={run.title} chars={200} />
      </h1>
      {goal && isOverview && <Passage text={goal} chars={280} />}
      <div class="run-facts">
        <Pill word={standing.word} />
        {standing.why && (
          <span>
            <Line text={standing.why} />
          </span>
        )}
        {progress.total > 0 && (
          <span class="run-facts-progress">
            <Progress percent={progress.percent} label="Progress" />
            {progress.percent} %, {progress.done} of {progress.total} steps
          </span>
        )}
        {updatedAt && (
          <span class="dim">
            event {status.version}, <Ago at={updatedAt} />
          </span>
        )}
      </div>
    </header>
  );
}

function View({ view, ...rest }: RunAt & { view: RunView; status: Status }) {
  switch (view) {
    case 'overview':
      return <OverviewView {...rest} />;
    case 'timeline':
      return <TimelineView {...rest} />;
    case 'decisions':
      return <DecisionsView {...rest} />;
    case 'mail':
      return <MailView {...rest} />;
    case 'tokens':
      return <TokensView {...rest} />;
    case 'snapshots':
      return <SnapshotsView {...rest} />;
    case 'brief':
      return <BriefView {...rest} />;
    case 'log':
      return <LogView {...rest} />;
    default:
      return view satisfies never;
  }
}
