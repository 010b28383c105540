import { useEffect, useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { runOrder } from '../keys.ts';
import { kindsInWords, type Need, useNeeds } from '../needs.tsx';
import { Await, Choices, Empty, Pill, Progress, toneOf } from '../parts.tsx';
import { runHref } from '../route.ts';
import { isTodo, leftOf } from '../run.ts';
import { useAnswer } from '../state.ts';
import { Ago, Line, needYou, plural, titleOf } from '../words.tsx';

type Row = Output<'board'>['runs'][number];
type Shown = 'unfinished' | 'all' | 'programs' | 'archived';

const isOver = ({ standing: { label } }: Row): boolean =>
  label === 'finished' || label === 'abandoned' || label === 'idle';
const isArchived = ({ standing: { label } }: Row): boolean => label === 'archived';

export function RunsPage() {
  const [shown, setShown] = useState<Shown>('unfinished');
  const [words, setWords] = useState('');
  const [limit, setLimit] = useState(100);
  const board = useAnswer('board', { ...(shown === 'archived' ? { all: true } : {}), limit });
  // Until archived runs are there, those from before would pass for an empty archive.
  const isOther = shown === 'archived' && board.loading;
  const { data } = useNeeds();
  const needs = data?.needs ?? [];
  return (
    <div class="page">
      <header class="page-head">
        <h1>Runs</h1>
        <div class="filters">
          <input
            type="search"
            aria-label="Filter the runs"
            placeholder="Filter"
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
          <Choices
            label="Which runs"
            value={shown}
            onChange={setShown}
            options={[
              ['unfinished', 'Unfinished'],
              ['all', 'All'],
              ['programs', 'Programs'],
              ['archived', 'Archived'],
            ]}
          />
        </div>
      </header>
      {needs.length > 0 && (
        <a class="attention" href="#/needs">
          <strong>{needYou(needs.length)}</strong>
          <span class="grow">{kindsInWords(needs)}</span>
          <span class="attention-open">Open list</span>
        </a>
      )}
      <Await of={isOther ? { ...board, data: null } : board}>
        {({ runs, more }) => (
          <>
            <RunList runs={runs} shown={shown} words={words} needs={needs} />
            {more > 0 && (
              <button type="button" class="button" onClick={() => setLimit(limit + 200)}>
                {plural(more, 'more run')}
              </button>
            )}
          </>
        )}
      </Await>
    </div>
  );
}

function RunList({
  runs,
  shown,
  words,
  needs,
}: {
  runs: readonly Row[];
  shown: Shown;
  words: string;
  needs: readonly Need[];
}) {
  const fits = ({ id, title, agent }: Row): boolean =>
    `${id} ${title} ${agent ?? ''}`.toLowerCase().includes(words.trim().toLowerCase());
  const fitting = runs.filter(fits).sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  const unfinished = fitting.filter((run) => !isOver(run) && !isArchived(run));
  const finished = fitting.filter(isOver);
  const all = [...unfinished, ...finished];
  const listed = {
    unfinished,
    all,
    programs: all.filter(({ source }) => source !== undefined),
    archived: fitting.filter(isArchived),
  }[shown];
  const order = listed.map((run) => run.id).join('\n');
  useEffect(() => {
    runOrder.value = order.split('\n').filter(Boolean);
  }, [order]);
  if (runs.length === 0 && shown !== 'archived') return <NoRuns />;
  const needsOf = (run: Row): number => needs.filter((need) => need.run === run.id).length;
  return (
    <>
      {listed.length === 0 && (
        <Empty title={words.trim() === '' ? nothing[shown] : 'No run fits the filter.'}>
          {shown === 'unfinished' && words.trim() === '' && 'What agents start next appears here by itself.'}
        </Empty>
      )}
      <ul class="runs">
        {listed.map((run) => (
          <RunRow key={run.id} run={run} needs={needsOf(run)} />
        ))}
      </ul>
      {shown === 'unfinished' && finished.length > 0 && (
        <details class="more-runs">
          <summary>{plural(finished.length, 'finished run')}</summary>
          <ul class="runs">
            {finished.map((run) => (
              <RunRow key={run.id} run={run} needs={needsOf(run)} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const nothing: Readonly<Record<Shown, string>> = {
  unfinished: 'Nothing is unfinished.',
  all: 'There are no runs.',
  programs: 'No program keeps a run.',
  archived: 'No run is archived.',
};

function NoRuns() {
  return (
    <div class="card">
      <Empty title="No work recorded yet.">
        <code>holdfast install claude</code>, then use Claude as usual: what it does appears here by itself.
      </Empty>
      <p class="empty-more dim">
        Other clients: <code>holdfast help install</code> lists them. With a plan of your own:{' '}
        <code>holdfast init --title "…" --plan FILE</code>
      </p>
    </div>
  );
}

function RunRow({ run, needs }: { run: Row; needs: number }) {
  const { id, title, standing, progress, updatedAt, host } = run;
  return (
    <li>
      <a class={`run-row edge-${toneOf(standing.label)}`} data-row href={runHref(id)}>
        <span class="run-state">
          <Pill label={standing.label} />
        </span>
        <span class="run-title">
          <strong>
            <Line text={titleOf(title)} chars={120} />
          </strong>
          <span class="dim run-why">
            <Line text={runWords(run)} chars={120} />
          </span>
        </span>
        <span class="run-progress">
          {run.kind === 'planned' && progress.total > 0 && (
            <>
              <Progress done={progress.done} total={progress.total} label={`Progress of ${id}`} />
              <span class="dim">
                {progress.done} of {plural(progress.total, 'step')}
              </span>
            </>
          )}
        </span>
        <span class="run-fresh dim">
          {needs > 0 && <span class="tag tag-warn">{needYou(needs)}</span>}
          <span>
            <Ago at={updatedAt} />
            {host && run.isElsewhere ? ` on ${host}` : ''}
          </span>
        </span>
      </a>
    </li>
  );
}

/** Who is at work, or what is left; of a run without a plan what it changed and what failed last. */
function runWords({ kind, standing, sittings, agent, changed, failed, source, reached }: Row): string {
  const active = sittings.filter(({ label }) => label === 'working' || label === 'not responding');
  if (active.length > 0) {
    return active
      .slice(0, 3)
      .map((one) => [one.agent, ...one.steps.map((step) => (isTodo(step) ? `“${step.title}”` : step.key))].join(' on '))
      .join('; ');
  }
  const facts =
    kind === 'planned'
      ? []
      : [
          ...(changed > 0 ? [plural(changed, 'changed file')] : []),
          ...(failed ? [`${failed.name} ${failed.exitCode === null ? 'failed' : `exit ${failed.exitCode}`}`] : []),
        ];
  const why = leftOf(standing);
  const who = agent !== null && !why.startsWith(agent) ? [agent] : [];
  return [source, reached, ...who, why, ...facts].filter((part) => part).join(' · ');
}
