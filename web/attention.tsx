import type { ComponentChildren } from 'preact';
import { ActionButton } from './action.tsx';
import {
  acceptConflict,
  acknowledgeMail,
  answerQuestion,
  endEffect,
  openAgain,
  openGate,
  settleItem,
  skipStep,
  withdrawHandoff,
} from './actions.ts';
import { Card } from './parts.tsx';
import { hrefOf } from './route.ts';
import type { Status } from './run.ts';
import { useAnswer } from './state.ts';
import { Ago, Id, Line, plural } from './words.tsx';

/**
 * What must not be overlooked, on top of every page of a run: what disagrees, what is uncertain, what waits for a person.
 * Where the reader looks at something else it is one line.
 */
export function Attention({ run, status, isWhole }: { run: string; status: Status; isWhole: boolean }) {
  const { data: brief } = useAnswer('brief.show', {}, run);
  const conflicts = (brief?.conflicts ?? []) as unknown as Conflict[];
  const { uncertain, waiting } = status;
  if (!isWhole) {
    const words = [
      ...(conflicts.length > 0 ? [plural(conflicts.length, 'conflict')] : []),
      ...(uncertain.length > 0 ? [plural(uncertain.length, 'uncertain effect')] : []),
      ...(waiting.length > 0 ? [`${waiting.length} waiting for a person`] : []),
    ];
    if (words.length === 0) return null;
    return (
      <a
        class={conflicts.length + uncertain.length > 0 ? 'strip' : 'strip strip-warn'}
        href={hrefOf({ page: 'run', run, view: 'overview', at: null })}
      >
        {words.join(', ')}
      </a>
    );
  }
  return (
    <>
      {conflicts.length > 0 && (
        <Card title="Conflicts" count={conflicts.length} tone="alert">
          <ul class="rows">
            {conflicts.slice(0, 20).map((conflict) => (
              <Row key={conflict.id} id={conflict.id} kind={conflict.kind.replaceAll('_', ' ')}>
                <span class="grow">
                  <code>
                    <Line text={conflict.path} />
                  </code>
                  <span class="dim block">
                    Expected <Line text={conflict.expected} chars={80} />, found{' '}
                    <Line text={conflict.found} chars={80} />
                  </span>
                </span>
                <ActionButton
                  label="Accept"
                  about={conflict.id}
                  action={() => acceptConflict(run, conflict.id, conflict.path)}
                />
              </Row>
            ))}
          </ul>
        </Card>
      )}
      {uncertain.length > 0 && (
        <Card title="Uncertain effects" count={uncertain.length} tone="alert">
          <ul class="rows">
            {uncertain.slice(0, 20).map((effect) => (
              <Row key={effect.id} id={effect.id} kind={effect.class}>
                <span class="grow">
                  <Line text={effect.name} />
                  <span class="dim block">
                    begun by {effect.by} <Ago at={effect.at} />, and never said to have ended: look before it is
                    repeated
                  </span>
                </span>
                <ActionButton
                  label="Say how it ended"
                  about={effect.id}
                  action={() => endEffect(run, effect.id, effect.name)}
                />
              </Row>
            ))}
          </ul>
        </Card>
      )}
      {waiting.length > 0 && (
        <Card title="Waits for a person" count={waiting.length} tone="warn">
          <ul class="rows">
            {waiting.slice(0, 30).map((what) => (
              <Row key={`${what.kind} ${what.id}`} id={what.id} kind={what.kind}>
                <span class="grow">
                  <Line text={what.text} chars={240} />
                </span>
                <WaitingActions run={run} what={what} status={status} />
              </Row>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

interface Conflict {
  id: string;
  kind: string;
  path: string;
  expected: string;
  found: string;
}

function Row({ id, kind, children }: { id: string; kind: string; children: ComponentChildren }) {
  return (
    <li class="row" data-row tabIndex={-1}>
      <span class="tag">{kind}</span>
      <Id>{id}</Id>
      {children}
    </li>
  );
}

function WaitingActions({ run, what, status }: { run: string; what: Status['waiting'][number]; status: Status }) {
  const { kind, id, text } = what;
  switch (kind) {
    case 'question':
      return <ActionButton label="Answer" about={id} action={() => answerQuestion(run, id, text)} />;
    case 'gate':
      return <ActionButton label="Open the gate" about={id} scope="maintain" action={() => openGate(run, id, text)} />;
    case 'mail':
      return <ActionButton label="Acknowledge" about={id} action={() => acknowledgeMail(run, id, text)} />;
    case 'failure': {
      const step = status.steps.find((one) => one.error === id || one.key === id);
      return (
        <>
          {step && (
            <ActionButton label="Open again" about={step.key} action={() => openAgain(run, step.key, step.title)} />
          )}
          <ActionButton
            quiet={step !== undefined}
            label="Settle"
            about={id}
            action={() => settleItem(run, id, 'error', text)}
          />
          {step && (
            <ActionButton
              quiet
              label="Skip"
              about={step.key}
              scope="maintain"
              action={() => skipStep(run, step.key, step.title)}
            />
          )}
        </>
      );
    }
    case 'handoff':
      return <ActionButton label="Withdraw" about={id} action={() => withdrawHandoff(run, id)} />;
    case 'escalation':
      return null;
    default:
      return kind satisfies never;
  }
}
