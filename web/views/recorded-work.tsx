import { EntryRow } from '../entry.tsx';
import { Await, Card, Empty } from '../parts.tsx';
import { StepMark } from '../plan-tree.tsx';
import { runHref } from '../route.ts';
import { type ActivityEntry, moment, type RunAt, type Status, todosOf } from '../run.ts';
import { useAnswer } from '../state.ts';
import { Ago, Line, Passage } from '../words.tsx';
import { OpenItems, Sessions } from './run-cards.tsx';

type Command = Extract<ActivityEntry, { kind: 'command' }>;

const REQUESTS = 6;
const FILES = 12;
const COMMANDS = 10;

/** A run that hooks recorded: what was asked, what changed, what was run and what the agent said last. */
export function RecordedWork({ run, at, status }: RunAt & { status: Status }) {
  return (
    <div class="columns columns-even">
      <div>
        <Requests run={run} at={at} />
        <TodoList run={run} status={status} />
        <ChangedFiles run={run} at={at} />
      </div>
      <div>
        <Commands run={run} at={at} />
        <LastWords run={run} at={at} />
        <Sessions run={run} at={at} status={status} />
        {status.items.length > 0 && <OpenItems run={run} at={at} status={status} />}
      </div>
    </div>
  );
}

const more = (run: string) => <a href={runHref(run, { view: 'activity' })}>all</a>;

function Requests({ run, at }: RunAt) {
  const found = useAnswer('activity', { kind: 'request', limit: REQUESTS, ...moment(at) }, run);
  return (
    <Card title="Requests" tools={found.data?.more ? more(run) : null}>
      <Await of={found}>
        {({ entries, hosts }) =>
          entries.length === 0 ? (
            <Empty title="No request recorded.">What you ask the agent appears here, newest first.</Empty>
          ) : (
            <ul class="rows">
              {entries.map((entry) => (
                <EntryRow key={entry.version} run={run} entry={entry} hosts={hosts} />
              ))}
            </ul>
          )
        }
      </Await>
    </Card>
  );
}

/** The client's own list, in its order; it is not a plan. */
function TodoList({ run, status }: { run: string; status: Status }) {
  const todos = todosOf(status);
  if (todos.length === 0) return null;
  const done = todos.filter(({ label }) => label === 'done').length;
  const agent =
    todos.find(({ lastAgent }) => lastAgent !== null)?.lastAgent ?? status.sessions[0]?.agent ?? 'the agent';
  const name = `${agent.charAt(0).toUpperCase()}${agent.slice(1)}`;
  return (
    <Card title={`${name}’s to-do list`} count={`${done}/${todos.length}`}>
      <ul class="todos">
        {todos.map((step) => (
          <li key={step.key} class={`todo todo-${step.label.replace(' ', '-')}`} data-row data-step={step.key}>
            <StepMark label={step.label === 'ready' ? 'pending' : step.label} />
            <a class="step-link" data-row-focus href={runHref(run, { step: step.key })}>
              <Line text={step.title} chars={160} />
            </a>
            {(step.label === 'in progress' || step.label === 'interrupted' || step.label === 'failed') && (
              <span class={`step-label step-label-${step.label.replace(' ', '-')}`}>{step.label}</span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function ChangedFiles({ run, at }: RunAt) {
  const found = useAnswer('activity', { kind: 'file', limit: FILES, ...moment(at) }, run);
  return (
    <Card title="Changed files" tools={found.data?.more ? more(run) : null}>
      <Await of={found}>
        {({ entries, hosts }) =>
          entries.length === 0 ? (
            <Empty title="No file changed yet.">
              Each file the agent edits appears here with its added and removed lines.
            </Empty>
          ) : (
            <ul class="rows">
              {entries.map((entry) => (
                <EntryRow
                  key={`${entry.version} ${entry.kind === 'file' && entry.path}`}
                  run={run}
                  entry={{ ...entry, step: null }}
                  hosts={hosts}
                />
              ))}
            </ul>
          )
        }
      </Await>
    </Card>
  );
}

function Commands({ run, at }: RunAt) {
  const found = useAnswer('activity', { kind: 'command', limit: COMMANDS, ...moment(at) }, run);
  return (
    <Card title="Commands" tools={found.data?.more ? more(run) : null}>
      <Await of={found}>
        {({ entries, hosts }) =>
          entries.length === 0 ? (
            <Empty title="No command yet.">Each command the agent runs appears here with its exit code.</Empty>
          ) : (
            <ul class="rows">
              {failuresFirst(entries as Command[]).map((entry) => (
                <EntryRow key={entry.id} run={run} entry={{ ...entry, step: null }} hosts={hosts} />
              ))}
            </ul>
          )
        }
      </Await>
    </Card>
  );
}

/** Unknown outcomes and failures that were not repaired since come first; the rest stays in order. */
function failuresFirst(commands: readonly Command[]): Command[] {
  const isRepaired = (command: Command, index: number): boolean =>
    commands.slice(0, index).some((later) => later.name === command.name && later.outcome === 'succeeded');
  const rank = (command: Command, index: number): number => {
    if (command.outcome === 'unknown') return 0;
    return command.outcome === 'failed' && !isRepaired(command, index) ? 1 : 2;
  };
  return commands
    .map((command, index) => ({ command, rank: rank(command, index), index }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ command }) => command);
}

function LastWords({ run, at }: RunAt) {
  const { data } = useAnswer('activity', { kind: 'request', limit: REQUESTS, ...moment(at) }, run);
  const said = data?.said;
  return (
    <Card title="Last message">
      {said ? (
        <div class="said">
          <Passage text={said.text} chars={700} />
          <p class="dim">
            {said.agent}
            {said.at && (
              <>
                , <Ago at={said.at} />
              </>
            )}
            {said.isCut && ', before it was cut off'}
          </p>
        </div>
      ) : (
        <Empty title="No message yet.">What the agent says at the end of its turn appears here.</Empty>
      )}
    </Card>
  );
}
