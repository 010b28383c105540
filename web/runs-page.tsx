import { useState } from 'preact/hooks';
import type { Output } from './api.ts';
import { Await, Empty, Pill, Progress, slug } from './parts.tsx';
import { hrefOf } from './route.ts';
import { useAnswer } from './state.ts';
import { Ago, Id, Line, plural } from './words.tsx';

type Row = Output<'board'>['runs'][number];

export function RunsPage() {
  const [all, setAll] = useState(false);
  const [limit, setLimit] = useState(100);
  const board = useAnswer('board', { ...(all ? { all } : {}), limit });
  return (
    <div class="page">
      <header class="page-head">
        <h1>Runs</h1>
        <label class="toggle">
          <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
          Show archived
        </label>
      </header>
      <Await of={board}>
        {({ runs, more }) =>
          runs.length === 0 ? (
            <Empty title={all ? 'No runs yet.' : 'No open runs.'}>
              {!all && 'There may be archived ones. '}Start one in a workspace with{' '}
              <code>holdfast init --title … --plan FILE</code>; it appears here automatically.
            </Empty>
          ) : (
            <>
              <WaitingList runs={runs} />
              <ul class="runs">
                {runs.map((run) => (
                  <RunRow key={run.id} run={run} />
                ))}
              </ul>
              {more > 0 && (
                <button type="button" class="button" onClick={() => setLimit(limit + 200)}>
                  {plural(more, 'more run')}
                </button>
              )}
            </>
          )
        }
      </Await>
    </div>
  );
}

function WaitingList({ runs }: { runs: readonly Row[] }) {
  const waiting = runs.flatMap((run) => run.waiting.map((what) => ({ run, what })));
  if (waiting.length === 0) return null;
  return (
    <section class="card card-warn" aria-labelledby="waiting-title">
      <header class="card-head">
        <h2 id="waiting-title">
          Needs you<span class="count">{waiting.length}</span>
        </h2>
      </header>
      <ul class="rows">
        {waiting.slice(0, 20).map(({ run, what }) => (
          <li key={`${run.id} ${what.kind} ${what.id}`}>
            <a class="row row-link" data-row href={hrefOf({ page: 'run', run: run.id, view: 'overview', at: null })}>
              <span class="tag">{what.kind}</span>
              <Id>{what.id}</Id>
              <span class="grow">
                <Line text={what.text} />
              </span>
              <span class="dim">
                <Line text={run.title} chars={40} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function RunRow({ run }: { run: Row }) {
  const { id, title, standing, progress, sittings: sessions, waiting, updatedAt } = run;
  return (
    <li>
      <a
        class={`run-row run-row-${slug(standing.word)}`}
        data-row
        href={hrefOf({ page: 'run', run: id, view: 'overview', at: null })}
      >
        <span class="run-title">
          <Line text={title} chars={120} />
          <Id>{id}</Id>
        </span>
        <span class="run-state">
          <Pill word={standing.word} />
          <span class="dim">
            <Line text={standing.why} chars={90} />
          </span>
        </span>
        <span class="run-progress">
          <Progress percent={progress.percent} label={`Progress of ${id}`} />
          <span class="dim">
            {progress.done} of {progress.total} steps
          </span>
        </span>
        <span class="run-people">
          {sessions.slice(0, 4).map((session) => (
            <span key={session.session} class={`run-session run-session-${slug(session.standing)}`}>
              {session.agent}
              {session.steps.length > 0 && (
                <span class="dim"> on {session.steps.map((step) => step.key).join(', ')}</span>
              )}
            </span>
          ))}
          {sessions.length > 4 && <span class="dim">and {sessions.length - 4} more</span>}
        </span>
        <span class="run-fresh dim">
          {waiting.length > 0 && (
            <span class="tag tag-warn">
              {waiting.length} {waiting.length === 1 ? 'needs' : 'need'} you
            </span>
          )}
          <Ago at={updatedAt} />
        </span>
      </a>
    </li>
  );
}
