import type { Output } from '../api.ts';
import { Await, Card, Empty, Pill } from '../parts.tsx';
import { runHref } from '../route.ts';
import { useAnswer } from '../state.ts';
import { Ago, Id, Line, titleOf } from '../words.tsx';

type Result = Output<'search'>['results'][number] & { at?: string };

const SHOWN = 60;

/** Ranked by the server, in groups by kind. */
export function SearchPage({ words }: { words: string }) {
  return (
    <div class="page page-narrow">
      <header class="page-head">
        <h1>{words === '' ? 'Search' : <Line text={`Results for “${words}”`} chars={90} />}</h1>
      </header>
      {words === '' ? (
        <Empty title="Type what you look for.">
          Runs, steps, decisions, notes, files and commands of all runs are searched.
        </Empty>
      ) : (
        <Results words={words} />
      )}
    </div>
  );
}

function Results({ words }: { words: string }) {
  const found = useAnswer('search', { words: [words], allRuns: true, limit: SHOWN });
  const { data: board } = useAnswer('board', { all: true, limit: 500 });
  const titles = new Map(board?.runs.map((run) => [run.id, run.title]));
  return (
    <Await of={found}>
      {({ results }) => {
        const groups = groupsOf(results as Result[]);
        if (groups.length === 0)
          return (
            <Card title="Nothing found">
              <Empty title="Nothing has all of these words.">
                Use fewer words, or the beginning of a word. In a terminal: <code>holdfast search WORDS</code>
              </Empty>
            </Card>
          );
        return groups.map(([kind, some]) => (
          <Card key={kind} title={kind} count={some.length}>
            <ul class="rows">
              {some.map((result) => (
                <ResultRow key={`${result.run} ${result.kind} ${result.id}`} result={result} titles={titles} />
              ))}
            </ul>
          </Card>
        ));
      }}
    </Await>
  );
}

const kinds: Readonly<Record<string, string>> = {
  run: 'Runs',
  step: 'Steps',
  result: 'Steps',
  decision: 'Decisions',
  note: 'Notes',
  item: 'Items',
  file: 'Files',
  effect: 'Commands',
  turn: 'Requests',
  message: 'Mail',
  session: 'Sessions',
  snapshot: 'Sessions',
};

function groupsOf(results: readonly Result[]): [string, Result[]][] {
  const groups = new Map<string, Result[]>();
  for (const result of results) {
    const name = kinds[result.kind] ?? 'Other';
    const some = groups.get(name) ?? [];
    // A step and its result are one place.
    if (!some.some(({ run, id }) => run === result.run && id === result.id)) some.push(result);
    groups.set(name, some);
  }
  const order = [...new Set(Object.values(kinds)), 'Other'];
  return order.flatMap((name): [string, Result[]][] => {
    const some = groups.get(name);
    return some ? [[name, some]] : [];
  });
}

function ResultRow({ result, titles }: { result: Result; titles: ReadonlyMap<string, string> }) {
  const { run, kind, id, status, text, at } = result;
  const isNamed = kind === 'run' || kind === 'file' || kind === 'turn';
  return (
    <li>
      <a class="row row-link" data-row href={hrefFor(result)}>
        {!isNamed && <Id>{id}</Id>}
        <span class="grow">
          <Line text={kind === 'file' ? id : text || id} chars={200} />
          <span class="dim block">
            {kind !== 'run' && <Line text={titleOf(titles.get(run) ?? run)} chars={60} />}
            {at && (
              <>
                {kind !== 'run' && ' · '}
                <Ago at={at} />
              </>
            )}
          </span>
        </span>
        {(kind === 'decision' || kind === 'item' || isEnd(kind, status)) && <Pill label={stateWord(status)} />}
      </a>
    </li>
  );
}

/** What a step with others below it is follows from them; a row only has its own word. */
const isEnd = (kind: string, status: string): boolean =>
  kind === 'step' && (status === 'completed' || status === 'failed' || status === 'skipped');

const stateWord = (status: string): string => (status === 'completed' ? 'done' : status);

function hrefFor({ run, kind, id }: Result): string {
  switch (kind) {
    case 'step':
    case 'result':
      return runHref(run, { step: id });
    case 'decision':
      return runHref(run, { view: 'decisions' });
    case 'message':
      return runHref(run, { view: 'mail' });
    case 'session':
    case 'snapshot':
      return runHref(run, { view: 'sessions' });
    case 'effect':
    case 'file':
    case 'turn':
    case 'note':
      return runHref(run, { view: 'activity' });
    default:
      return runHref(run);
  }
}
