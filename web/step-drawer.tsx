import type { ComponentChildren } from 'preact';
import { ActionButton } from './action.tsx';
import { handOver, openGate, skipStep } from './actions.ts';
import type { Output } from './api.ts';
import { EntryRow } from './entry.tsx';
import { FailureActions } from './needs.tsx';
import { Await, Drawer, Pill } from './parts.tsx';
import { useAnswer } from './state.ts';
import { StepEdit, StepTitle } from './step-edit.tsx';
import { Ago, Clock, Id, Line, Passage } from './words.tsx';

type Detail = Output<'step.show'>;

/** Everything recorded on one step, and what can be done with it. */
export function StepDrawer({ run, step, close }: { run: string; step: string; close: () => void }) {
  const detail = useAnswer('step.show', { key: step }, run);
  return (
    <Drawer title={`Step ${step}`} close={close}>
      <Await of={detail}>{(found) => <StepDetail run={run} detail={found} />}</Await>
    </Drawer>
  );
}

function StepDetail({ run, detail }: { run: string; detail: Detail }) {
  const { step, parents, summary, checkpoints, activity, hosts, sessions, decisions, items, notes } = detail;
  const error = items.find(({ id }) => id === step.error);
  const files = activity.filter(({ kind }) => kind === 'file');
  const commands = activity.filter(({ kind }) => kind === 'command');
  const others = items.filter((item) => item !== error && (item.status === 'open' || item.status === 'active'));
  const [above] = parents;
  return (
    <article class="detail">
      <p class="crumbs">
        <Id>{step.key}</Id>
        {above && (
          <>
            {' '}
            in {above.key} <Line text={above.title} chars={60} />
          </>
        )}
      </p>
      <StepTitle run={run} step={step} />
      <p class="detail-facts">
        <Pill label={step.label} />
        <StepFacts detail={detail} />
      </p>
      {error && (
        <div class="grave">
          <span class="grow">
            <strong>Error {error.id}</strong>
            <Passage text={error.text} chars={400} />
          </span>
        </div>
      )}
      <StepActions run={run} detail={detail} />
      {summary && (
        <Part title="Result">
          <div class="detail-text">
            <Passage text={summary} chars={500} />
          </div>
        </Part>
      )}
      {(checkpoints.length > 0 || step.checkpoints.length > 0) && (
        <Part title="Checkpoints" count={checkpoints.length}>
          <ul class="rows">
            {checkpoints.map(({ name, at, next }) => (
              <li key={at} class="row entry">
                <Clock at={at} />
                <span class="grow">
                  <Line text={name} />
                  {next && (
                    <span class="dim block">
                      then: <Line text={next} />
                    </span>
                  )}
                </span>
              </li>
            ))}
            {step.checkpoints
              .filter((name) => !checkpoints.some((one) => one.name === name))
              .map((name) => (
                <li key={name} class="row entry dim">
                  <Line text={name} /> not reached
                </li>
              ))}
          </ul>
        </Part>
      )}
      {files.length > 0 && (
        <Part title="Files" count={files.length}>
          <ul class="rows">
            {files.map((entry) => (
              <EntryRow key={entry.version} run={run} entry={{ ...entry, step: null }} hosts={hosts} />
            ))}
          </ul>
        </Part>
      )}
      {commands.length > 0 && (
        <Part title="Commands" count={commands.length}>
          <ul class="rows">
            {commands.map((entry) => (
              <EntryRow key={entry.version} run={run} entry={{ ...entry, step: null }} hosts={hosts} />
            ))}
          </ul>
        </Part>
      )}
      {sessions.length > 0 && (
        <Part title="Sessions" count={sessions.length}>
          <ul class="rows">
            {sessions.map(({ id, agent, label, host, startedAt, endedAt }) => (
              <li key={id} class="row entry">
                <strong>{agent}</strong> <Id>{id}</Id>
                <span class="grow dim">
                  <Ago at={endedAt ?? startedAt} prefix={endedAt ? 'ended ' : 'started '} />
                  {hosts.length > 1 && host && ` on ${host}`}
                </span>
                <Pill label={label} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {decisions.length + notes.length + others.length > 0 && (
        <Part title="Decisions and notes" count={decisions.length + notes.length + others.length}>
          <ul class="rows">
            {[
              ...others.map(({ id, kind, text }) => ({ id, kind: kind as string, text })),
              ...decisions.map(({ id, decision }) => ({ id, kind: 'decision', text: decision })),
              ...notes.map(({ id, kind, text }) => ({ id, kind: kind.replace('_', ' '), text })),
            ].map(({ id, kind, text }) => (
              <li key={id} class="row row-top entry">
                <span class="tag">{kind}</span>
                <span class="grow">
                  <Passage text={text} chars={240} />
                </span>
                <Id>{id}</Id>
              </li>
            ))}
          </ul>
        </Part>
      )}
      <StepEdit run={run} step={step} />
    </article>
  );
}

function Part({ title, count, children }: { title: string; count?: number; children: ComponentChildren }) {
  return (
    <section class="part">
      <h3>
        {title}
        {count !== undefined && <span class="count">{count}</span>}
      </h3>
      {children}
    </section>
  );
}

function StepFacts({ detail: { step } }: { detail: Detail }) {
  const { holder, checkpoint, after, gate, agents } = step;
  const isLeft = step.label === 'interrupted';
  const lastAgent = step.lastAgent ?? holder?.agent;
  const words = [
    ...(holder && !isLeft ? [`held by ${holder.agent} (${holder.session})`] : []),
    ...(isLeft
      ? [
          `${lastAgent ?? 'unknown'} stopped${checkpoint ? ` after checkpoint "${checkpoint.name}"` : ' before its first checkpoint'}`,
        ]
      : []),
    ...(after.length > 0 ? [`after ${after.join(', ')}`] : []),
    ...(gate ? [`gate ${gate.state}`] : []),
    ...(agents.length > 0 ? [`for ${agents.join(', ')}`] : []),
    ...(step.retries > 0 ? [`${step.retries} of 2 retries used`] : []),
    ...(step.status === 'skipped' && step.reason ? [step.reason] : []),
  ];
  return (
    <span class="dim">
      <Line text={words.join(' · ')} chars={240} />
    </span>
  );
}

function StepActions({ run, detail: { step } }: { run: string; detail: Detail }) {
  const { key, title, label, gate, error, holder } = step;
  const lastSession = holder?.session ?? step.lastSession;
  const lastAgent = holder?.agent ?? step.lastAgent;
  const isOpen = label !== 'done' && label !== 'skipped';
  return (
    <p class="detail-tools">
      {gate?.state === 'closed' && step.status === 'pending' && (
        <ActionButton label="Open the gate" about={key} scope="maintain" action={() => openGate(run, key, title)} />
      )}
      {label === 'failed' && <FailureActions run={run} id={error ?? key} text={title} step={key} />}
      {label === 'interrupted' && lastSession && (
        <ActionButton
          label="Hand over"
          about={`${key} of ${lastAgent}`}
          scope="maintain"
          action={() => handOver(run, lastSession, lastAgent ?? '')}
        />
      )}
      {isOpen && label !== 'failed' && (
        <ActionButton quiet label="Skip" about={key} scope="maintain" action={() => skipStep(run, key, title)} />
      )}
    </p>
  );
}
