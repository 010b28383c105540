import type { ComponentChildren } from 'preact';
import { ActionButton } from './action.tsx';
import {
  acceptConflict,
  acknowledgeMail,
  answerQuestion,
  endEffect,
  openGate,
  retryStep,
  settleItem,
  skipStep,
  withdrawHandoff,
} from './actions.ts';
import { Card } from './parts.tsx';
import { hrefOf } from './route.ts';
import type { Status } from './run.ts';
import { useAnswer } from './state.ts';
import { Ago, Id, Line, plural } from './words.tsx';

/** Conflicts, uncertain effects and what needs a person, on top of every view of a run; one line outside the overview. */
export function Attention({ run, status, isOverview }: { run: string; status: Status; isOverview: boolean }) {
  const { data: brief } = useAnswer('brief.show', {}, run);
  const conflicts = (brief?.conflicts ?? []) as unknown as Conflict[];
  if (!isOverview) return <Strip run={run} status={status} conflicts={conflicts.length} />;
  const { uncertain, waiting } = status;
  return (
    <>
      {conflicts.length > 0 && <Conflicts run={run} conflicts={conflicts} />}
      {uncertain.length > 0 && <UncertainEffects run={run} effects={uncertain} />}
      {waiting.length > 0 && (
        <Card title="Needs you" count={waiting.length} tone="warn">
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

function Strip({ run, status, conflicts }: { run: string; status: Status; conflicts: number }) {
  const { uncertain, waiting } = status;
  const words = [
    ...(conflicts > 0 ? [plural(conflicts, 'conflict')] : []),
    ...(uncertain.length > 0 ? [plural(uncertain.length, 'uncertain effect')] : []),
    ...(waiting.length > 0 ? [`${waiting.length} ${waiting.length === 1 ? 'needs' : 'need'} you`] : []),
  ];
  if (words.length === 0) return null;
  return (
    <a
      class={conflicts + uncertain.length > 0 ? 'strip' : 'strip strip-warn'}
      href={hrefOf({ page: 'run', run, view: 'overview', at: null })}
    >
      {words.join(', ')}
    </a>
  );
}

interface Conflict {
  id: string;
  kind: string;
  path: string;
  expected: string;
  found: string;
}

function Conflicts({ run, conflicts }: { run: string; conflicts: readonly Conflict[] }) {
  return (
    <Card title="Conflicts" count={conflicts.length} tone="alert">
      <ul class="rows">
        {conflicts.slice(0, 20).map(({ id, kind, path, expected, found }) => (
          <Row key={id} id={id} kind={kind.replaceAll('_', ' ')}>
            <span class="grow">
              <code>
                <Line text={path} />
              </code>
              <span class="dim block">
                Expected <Line text={expected} chars={80} />, found <Line text={found} chars={80} />
              </span>
            </span>
            <ActionButton label="Accept" about={id} action={() => acceptConflict(run, id, path)} />
          </Row>
        ))}
      </ul>
    </Card>
  );
}

function UncertainEffects({ run, effects }: { run: string; effects: Status['uncertain'] }) {
  return (
    <Card title="Uncertain effects" count={effects.length} tone="alert">
      <ul class="rows">
        {effects.slice(0, 20).map(({ id, name, by, at, class: kind }) => (
          <Row key={id} id={id} kind={kind}>
            <span class="grow">
              <Line text={name} />
              <span class="dim block">
                started by {by} <Ago at={at} />, outcome unknown: check before repeating
              </span>
            </span>
            <ActionButton label="Record outcome" about={id} action={() => endEffect(run, id, name)} />
          </Row>
        ))}
      </ul>
    </Card>
  );
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
          {step && <ActionButton label="Retry" about={step.key} action={() => retryStep(run, step.key, step.title)} />}
          <ActionButton
            quiet={step !== undefined}
            label="Resolve"
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
