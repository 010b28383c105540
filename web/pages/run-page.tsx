import { useEffect, useRef } from 'preact/hooks';
import { nearest } from '../../src/core/fault.ts';
import { oneLine } from '../../src/core/text.ts';
import { ActionButton, ask } from '../action.tsx';
import { abandonRun, endEffect } from '../actions.ts';
import { CopyButton, copyText, shellWord } from '../copy.tsx';
import { History } from '../history.tsx';
import { isHistoryOpen } from '../keys.ts';
import { graveIn, kindsInWords, type Need, NeedRows, NeedsDrawer, useNeeds } from '../needs.tsx';
import { Await, Menu, Pill, Progress } from '../parts.tsx';
import { hrefOf, type RunRoute, type RunView, replaceRoute, runHref, runViews } from '../route.ts';
import { isPlanned, nextWords, type Status, whyOf } from '../run.ts';
import { isNeedsOpen, type Loaded, mayMaintain, useAnswer } from '../state.ts';
import { StepDrawer } from '../step-drawer.tsx';
import { ActivityView } from '../views/activity.tsx';
import { BriefView } from '../views/brief.tsx';
import { DecisionsView } from '../views/decisions.tsx';
import { MailView } from '../views/mail.tsx';
import { OverviewView } from '../views/overview.tsx';
import { SessionsView } from '../views/sessions.tsx';
import { TokensView } from '../views/tokens.tsx';
import { Ago, Id, Line, needYou, Passage, plural, repeats, titleOf } from '../words.tsx';

export function RunPage({ here }: { here: RunRoute }) {
  const { run, at, view, step } = here;
  const status = useAnswer('status', at === null ? {} : { at }, run);
  const latest = useAnswer('status', {}, run);
  const { data } = useNeeds();
  const all = data?.needs ?? [];
  const needs = all.filter((need) => need.run === run);
  return (
    <div class="page">
      {status.data === null && <Unloaded run={run} status={status} />}
      {status.data !== null && (
        <Await of={status}>
          {(shown) => (
            <>
              <RunHead here={here} status={shown} />
              {(isHistoryOpen.value || at !== null) && (
                <History here={here} last={latest.data?.version ?? shown.version} />
              )}
              {at === null && <Attention needs={needs} isOverview={view === 'overview'} />}
              <Tabs here={here} status={shown} />
              <View view={view} run={run} at={at} status={shown} needs={needs} />
            </>
          )}
        </Await>
      )}
      {isNeedsOpen.value && <NeedsDrawer needs={needs} others={all.length - needs.length} />}
      {step !== null && (
        <StepDrawer key={step} run={run} step={step} close={() => replaceRoute({ ...here, step: null })} />
      )}
    </div>
  );
}

function Unloaded({ run, status }: { run: string; status: Loaded<Status> }) {
  return (
    <>
      <header class="run-head">
        <p class="crumbs">
          <a href="#/">Runs</a>
        </p>
        <h1>{run}</h1>
      </header>
      {status.fault?.code === 'not_found' ? (
        <>
          <p role="alert" class="no-run">
            There is no such run. It may have another id, or belong to another folder.
          </p>
          <NearRuns run={run} />
        </>
      ) : (
        <Await of={status}>{() => null}</Await>
      )}
    </>
  );
}

/** A link with a typing error, or to a run that was renamed or archived. */
function NearRuns({ run }: { run: string }) {
  const { data } = useAnswer('board', { all: true, limit: 500 });
  const runs = data?.runs ?? [];
  const words = run
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word.length > 2);
  const similar = runs.filter(({ id, title }) => words.some((word) => `${id} ${title}`.toLowerCase().includes(word)));
  const near = new Set([
    ...nearest(
      run,
      runs.map(({ id }) => id),
    ),
    ...similar.map(({ id }) => id),
  ]);
  const shown = runs.filter(({ id }) => near.has(id)).slice(0, 5);
  const listed = shown.length > 0 ? shown : runs.slice(0, 5);
  if (listed.length === 0) return null;
  return (
    <section class="card" aria-label="Other runs">
      <header class="card-head">
        <h2>{shown.length > 0 ? 'Did you mean' : 'The latest runs'}</h2>
      </header>
      <ul class="rows">
        {listed.map(({ id, title, standing }) => (
          <li key={id}>
            <a class="row row-link" data-row href={runHref(id)}>
              <Pill label={standing.label} />
              <span class="grow">
                <Line text={titleOf(title)} />
              </span>
              <Id>{id}</Id>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function RunHead({ here, status }: { here: RunRoute; status: Status }) {
  const { run, standing, progress, place } = status;
  const { goal, updatedAt } = run as { goal?: string | null; updatedAt?: string };
  const title = titleOf(run.title);
  const isPast = here.at !== null;
  return (
    <header class="run-head">
      <div class="run-top">
        <p class="crumbs">
          <a href="#/">Runs</a> / <Id>{run.id}</Id>
        </p>
        <div class="run-tools">
          <button
            type="button"
            class="button button-quiet"
            aria-pressed={isHistoryOpen.value || isPast}
            onClick={() => {
              isHistoryOpen.value = !(isHistoryOpen.value || isPast);
              if (isPast) replaceRoute({ ...here, at: null });
            }}
          >
            History
          </button>
          <a class="button button-quiet" href={hrefOf({ ...here, view: 'brief' })}>
            Brief
          </a>
          {!isPast && run.status === 'active' && <RunMenu status={status} />}
        </div>
      </div>
      <h1 title={oneLine(run.title)}>
        <Line text={title} chars={120} />
      </h1>
      {here.view === 'overview' && goal && !repeats(goal, run.title) && isPlanned(status) && (
        <div class="goal">
          <Passage text={goal} chars={160} />
        </div>
      )}
      <div class="run-facts">
        <Pill label={standing.label} />
        {standing.why && (
          <span>
            <Line text={whyOf(status)} />
          </span>
        )}
        {isPlanned(status) && progress.total > 0 && (
          <span class="run-facts-progress">
            <Progress done={progress.done} total={progress.total} label="Progress" />
            {progress.done} of {plural(progress.total, 'step')}
          </span>
        )}
        {place.branch && (
          <span class="dim">
            branch <Line text={place.branch} chars={40} />
          </span>
        )}
        {place.machine && place.machine !== place.here && <span class="dim">on {place.machine}, not here</span>}
        {updatedAt && (
          <span class="dim">
            <Ago at={updatedAt} prefix="last activity " />
          </span>
        )}
      </div>
      {!isPast && <NextLine status={status} />}
    </header>
  );
}

function RunMenu({ status: { run } }: { status: Status }) {
  return (
    <Menu label={<span aria-hidden="true">⋯</span>} name="More">
      <button type="button" class="menu-item" onClick={() => void copyText(run.id)}>
        Copy the id
      </button>
      <button
        type="button"
        class="menu-item"
        disabled={!mayMaintain.value}
        title={mayMaintain.value ? undefined : 'Your token does not allow this: it needs the scope maintain.'}
        onClick={() => ask(abandonRun(run.id, run.title))}
      >
        Abandon this run
      </button>
    </Menu>
  );
}

function NextLine({ status }: { status: Status }) {
  const next = nextWords(status);
  if (next === null) return null;
  return (
    <div class="next">
      <span class="next-words">
        <strong>{next.lead}:</strong> <Line text={next.text} chars={160} />
        {next.at && (
          <span class="dim">
            {' '}
            ({next.by && `${next.by}, `}
            <Ago at={next.at} />)
          </span>
        )}
      </span>
      <CopyButton label="Copy resume command" text={`holdfast resume ${shellWord(status.run.id)}`} />
    </div>
  );
}

/** One line on what needs a person; only an irreversible effect without a known outcome is spelled out. */
function Attention({ needs, isOverview }: { needs: readonly Need[]; isOverview: boolean }) {
  if (needs.length === 0) return null;
  if (!isOverview) return <AttentionLine needs={needs} />;
  return (
    <>
      {graveIn(needs).map(({ run, id, text, by, at }) => (
        <div key={id} class="grave grave-line" role="note">
          <span class="grow">
            <strong>Irreversible, outcome unknown:</strong>{' '}
            <code>
              <Line text={text} chars={120} />
            </code>{' '}
            <span class="grave-when">
              started by {by} {at && <Ago at={at} />}; check before repeating
            </span>
          </span>
          <ActionButton label="Record outcome" about={id} action={() => endEffect(run, id, text)} />
        </div>
      ))}
      <div class="not-phone">
        <AttentionLine needs={needs} />
      </div>
      <section class="card phone-only" aria-label="Needs you">
        <header class="card-head">
          <h2>
            Needs you<span class="count">{needs.length}</span>
          </h2>
          {needs.length > 2 && (
            <button type="button" class="link" onClick={() => (isNeedsOpen.value = true)}>
              all {needs.length}
            </button>
          )}
        </header>
        <NeedRows needs={needs.slice(0, 2)} />
      </section>
    </>
  );
}

function AttentionLine({ needs }: { needs: readonly Need[] }) {
  return (
    <button type="button" class="attention" onClick={() => (isNeedsOpen.value = true)}>
      <strong>{needYou(needs.length)}</strong>
      <span class="grow">{kindsInWords(needs)}</span>
      <span class="attention-open">Open list</span>
    </button>
  );
}

/** The bar scrolls if the tabs do not fit, with the current one in view. Tabs without content are dimmed. */
function Tabs({ here, status }: { here: RunRoute; status: Status }) {
  const bar = useRef<HTMLElement>(null);
  const { view } = here;
  useEffect(() => {
    const current = bar.current?.querySelector<HTMLElement>('[aria-current]');
    if (bar.current && current) bar.current.scrollLeft = current.offsetLeft - bar.current.offsetLeft - 40;
  }, [view]);
  const empty: Partial<Record<RunView, boolean>> = {
    sessions: status.totals.sessions === 0,
    decisions: status.totals.decisions === 0,
    mail: status.mail.length === 0,
    tokens: status.totals.usage === 0,
  };
  return (
    <nav ref={bar} class="tabs" aria-label="Parts of this run">
      {runViews.map((name) => (
        <a
          key={name}
          class={empty[name] ? 'tab-empty' : undefined}
          href={hrefOf({ ...here, view: name, step: null })}
          aria-current={name === view ? 'page' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

interface ViewProps {
  view: RunView;
  run: string;
  at: number | null;
  status: Status;
  needs: readonly Need[];
}

function View({ view, needs, ...rest }: ViewProps) {
  switch (view) {
    case 'overview':
      return <OverviewView {...rest} needs={needs} />;
    case 'activity':
      return <ActivityView {...rest} />;
    case 'sessions':
      return <SessionsView {...rest} />;
    case 'decisions':
      return <DecisionsView {...rest} />;
    case 'mail':
      return <MailView {...rest} />;
    case 'tokens':
      return <TokensView {...rest} />;
    case 'brief':
      return <BriefView {...rest} />;
    default:
      return view satisfies never;
  }
}
