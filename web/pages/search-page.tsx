import { useState } from 'preact/hooks';
import { printable } from '../../src/core/text.ts';
import type { Output } from '../api.ts';
import { Await, Card, Choices, Empty, Pill } from '../parts.tsx';
import { runHref } from '../route.ts';
import { useAnswer } from '../state.ts';
import { Ago, Id, Line, titleOf } from '../words.tsx';

type Result = Output<'search'>['results'][number];

const SHOWN = 60;

/** Ranked by the server, the best answer first. */
export function SearchPage({ words }: { words: string }) {
  return (
    <div class="page page-narrow">
      <header class="page-head">
        <h1>{words === '' ? 'Search' : <Line text={`Results for “${words}”`} chars={90} />}</h1>
      </header>
      {words === '' ? (
        <Empty title="Type what you look for.">
          A question or a few words: runs, steps, decisions, notes, files and commands of all runs are searched.
        </Empty>
      ) : (
        <Results key={words} words={words} />
      )}
    </div>
  );
}

function Results({ words }: { words: string }) {
  const [kind, setKind] = useState('All');
  const found = useAnswer('search', { words: [words], allRuns: true, limit: SHOWN });
  const { data: board } = useAnswer('board', { all: true, limit: 500 });
  const titles = new Map(board?.runs.map((run) => [run.id, run.title]));
  return (
    <Await of={found}>
      {({ results: all }) => {
        const results = withoutTwins(all);
        if (results.length === 0)
          return (
            <Card title="Nothing found">
              <Empty title="Nothing has any of these words.">
                Try other words, or the beginning of a word. In a terminal: <code>holdfast search WORDS</code>
              </Empty>
            </Card>
          );
        const names = ['All', ...new Set(results.map(nameOf))];
        const shown = kind === 'All' ? results : results.filter((result) => nameOf(result) === kind);
        const options = names.map((name) => [name, name] as const);
        const filter = names.length > 2 && <Choices label="Show" value={kind} options={options} onChange={setKind} />;
        return (
          <Card title="Results" count={results.length === SHOWN ? `first ${SHOWN}` : shown.length} tools={filter}>
            <ul class="rows">
              {shown.map((result) => (
                <ResultRow key={`${result.run} ${result.kind} ${result.id}`} result={result} titles={titles} />
              ))}
            </ul>
          </Card>
        );
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
  line: 'Files',
  foreign: 'Files',
  effect: 'Commands',
  turn: 'Requests',
  message: 'Mail',
  session: 'Sessions',
  snapshot: 'Sessions',
};

const nameOf = ({ kind }: Pick<Result, 'kind'>): string => kinds[kind] ?? 'Other';

/** A step and its result are one place; the better one stays. */
function withoutTwins(results: readonly Result[]): Result[] {
  const places = new Set<string>();
  return results.filter((result) => {
    const place = `${result.run} ${nameOf(result)} ${result.id}`;
    return !places.has(place) && places.add(place);
  });
}

function ResultRow({ result, titles }: { result: Result; titles: ReadonlyMap<string, string> }) {
  const { run, kind, id, status, at } = result;
  const isNamed = ['run', 'file', 'turn', 'line', 'foreign'].includes(kind);
  return (
    <li>
      <a class="row row-link result" data-row href={hrefFor(result)}>
        <span class="tag">{kinds[kind] ? oneOf(kind) : kind}</span>
        <span class="grow">
          {!isNamed && <Id>{id} </Id>}
          <Found result={result} />
          <span class="dim block">
            {kind !== 'run' && <Line text={titleOf(titles.get(run) ?? run)} chars={60} />}
            {kind !== 'run' && ' · '}
            <Ago at={at} />
          </span>
        </span>
        {(kind === 'decision' || kind === 'item' || isEnd(kind, status)) && <Pill label={stateWord(status)} />}
      </a>
    </li>
  );
}

const oneOf = (kind: string): string =>
  ({ effect: 'command', turn: 'request', message: 'mail', result: 'step', line: 'file', foreign: 'file' })[kind] ??
  kind;

/** The part of the text that answers best, with the words that were looked for marked. */
function Found({ result: { kind, id, text, snippet, marks: all, place } }: { result: Result }) {
  // The goal of a run often repeats its title.
  const shown = /^(.{8,}) \1$/.exec(snippet)?.[1] ?? (snippet || text || id);
  const marks = all.filter(([, end]) => end <= shown.length);
  const parts = marks.map(([start, end], index) => (
    <>
      {printable(shown.slice(marks[index - 1]?.[1] ?? 0, start))}
      <mark>{printable(shown.slice(start, end))}</mark>
    </>
  ));
  return (
    <bdi class="line" dir="auto">
      {(kind === 'line' || kind === 'foreign') && <code>{place ?? id} </code>}
      {parts}
      {printable(shown.slice(marks.at(-1)?.[1] ?? 0))}
    </bdi>
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
