import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
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
import type { Output } from './api.ts';
import { Await, Card, Drawer, Empty } from './parts.tsx';
import { runHref } from './route.ts';
import { isNeedsOpen, type Loaded, useAnswer } from './state.ts';
import { Ago, Id, Line, needYou, plural, titleOf } from './words.tsx';

export type Need = Output<'needs'>['needs'][number];

/** One list for the header, the page, the title of the window and every run: the numbers are the same everywhere. */
export const useNeeds = (): Loaded<Output<'needs'>> => useAnswer('needs', {});

export function NeedsPage() {
  const needs = useNeeds();
  return (
    <div class="page page-narrow">
      <header class="page-head">
        <h1>Needs you</h1>
      </header>
      <Await of={needs}>
        {({ needs: all }) =>
          all.length === 0 ? (
            <Card title="Nothing">
              <Empty title="Nothing needs you.">
                Questions, gates, failed steps and commands without a known outcome appear here as soon as an agent
                records them.
              </Empty>
            </Card>
          ) : (
            <ByRun needs={all} />
          )
        }
      </Await>
    </div>
  );
}

function ByRun({ needs }: { needs: readonly Need[] }) {
  const runs = [...new Set(needs.map((need) => need.run))];
  return (
    <>
      {runs.map((run) => {
        const own = needs.filter((need) => need.run === run);
        return (
          <section class="card" key={run} aria-label={`Needs you in ${run}`}>
            <header class="card-head">
              <h2>
                <a href={runHref(run)}>
                  <Line text={titleOf(own[0]?.title ?? run)} chars={90} />
                </a>
                <span class="count">{own.length}</span>
              </h2>
            </header>
            <NeedRows needs={own} />
          </section>
        );
      })}
    </>
  );
}

/** The list of one run at the side of its page. */
export function NeedsDrawer({ needs, others }: { needs: readonly Need[]; others: number }) {
  const close = (): void => {
    isNeedsOpen.value = false;
  };
  // Also when a link in it leads to another page.
  useEffect(() => close, []);
  return (
    <Drawer title="Needs you" close={close}>
      <h2 class="drawer-title">{needYou(needs.length)}</h2>
      {needs.length === 0 ? <Empty title="Nothing in this run needs you." /> : <NeedRows needs={needs} />}
      {others > 0 && (
        <p class="drawer-foot">
          <a href="#/needs">{plural(others, 'more in other runs', 'more in other runs')}</a>
        </p>
      )}
    </Drawer>
  );
}

export function NeedRows({ needs }: { needs: readonly Need[] }) {
  return (
    <ul class="rows">
      {needs.map((need) => (
        <li key={`${need.run} ${need.kind} ${need.id}`} class="row row-top need" data-row tabIndex={-1}>
          <span class={`tag ${need.kind === 'effect' || need.kind === 'failure' ? 'tag-bad' : 'tag-warn'}`}>
            {kindWords[need.kind]}
          </span>
          <span class="grow">
            <NeedWords need={need} />
          </span>
          <span class="row-tools">
            <NeedActions need={need} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const kindWords: Readonly<Record<Need['kind'], string>> = {
  effect: 'outcome unknown',
  conflict: 'conflict',
  question: 'question',
  reply: 'waiting for you',
  gate: 'gate',
  mail: 'mail',
  failure: 'failed',
  handoff: 'handoff',
  blocker: 'blocker',
  escalation: 'blocked',
};

function NeedWords({ need }: { need: Need }) {
  const { kind, id, text, at, by, irreversible } = need;
  const when = at !== null && <Ago at={at} />;
  const under = ((): ComponentChildren => {
    switch (kind) {
      case 'effect':
        return (
          <>
            started by {by} {when}, outcome unknown: check before repeating
          </>
        );
      case 'conflict':
        return (
          <>
            expected <Line text={need.expected ?? ''} chars={80} />, found <Line text={need.found ?? ''} chars={80} />
          </>
        );
      case 'reply':
        return (
          <>
            {by} asked in its own window {when}; answer there
          </>
        );
      default:
        return (
          <>
            {by && `from ${by} `}
            {when}
          </>
        );
    }
  })();
  return (
    <>
      <span class="need-text">
        {irreversible && <strong class="bad">Irreversible: </strong>}
        {kind === 'effect' || kind === 'conflict' ? (
          <code>
            <Line text={text} chars={200} />
          </code>
        ) : (
          <Line text={text} chars={240} />
        )}
      </span>
      <span class="dim block">
        {kind !== 'reply' && <Id>{id}</Id>} {under}
      </span>
    </>
  );
}

function NeedActions({ need }: { need: Need }) {
  const { run, kind, id, text, step } = need;
  switch (kind) {
    case 'effect':
      return <ActionButton label="Record outcome" about={id} action={() => endEffect(run, id, text)} />;
    case 'conflict':
      return <ActionButton label="Accept" about={id} action={() => acceptConflict(run, id, text)} />;
    case 'question':
      return <ActionButton label="Answer" about={id} action={() => answerQuestion(run, id, text)} />;
    case 'gate':
      return <ActionButton label="Open the gate" about={id} scope="maintain" action={() => openGate(run, id, text)} />;
    case 'mail':
      return <ActionButton label="Acknowledge" about={id} action={() => acknowledgeMail(run, id, text)} />;
    case 'blocker':
      return <ActionButton label="Resolve" about={id} action={() => settleItem(run, id, 'blocker', text)} />;
    case 'failure':
      return <FailureActions run={run} id={id} text={text} step={step} />;
    case 'handoff':
      return <ActionButton label="Withdraw" about={id} action={() => withdrawHandoff(run, id)} />;
    case 'reply':
    case 'escalation':
      return null;
    default:
      return kind satisfies never;
  }
}

export function FailureActions({
  run,
  id,
  text,
  step,
}: {
  run: string;
  id: string;
  text: string;
  step: string | null;
}) {
  return (
    <>
      {step && <ActionButton label="Retry" about={step} action={() => retryStep(run, step, text)} />}
      {id !== step && (
        <ActionButton
          quiet={step !== null}
          label="Resolve"
          about={id}
          action={() => settleItem(run, id, 'error', text)}
        />
      )}
      {step && (
        <ActionButton quiet label="Skip" about={step} scope="maintain" action={() => skipStep(run, step, text)} />
      )}
    </>
  );
}

/** `1 outcome unknown, 2 questions`. */
export function kindsInWords(needs: readonly Need[]): string {
  const counts = new Map<Need['kind'], number>();
  for (const { kind } of needs) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => countWords(kind, count)).join(', ');
}

function countWords(kind: Need['kind'], count: number): string {
  switch (kind) {
    case 'effect':
      return plural(count, 'outcome unknown', 'outcomes unknown');
    case 'reply':
      return plural(count, 'agent waits for an answer', 'agents wait for an answer');
    case 'mail':
      return plural(count, 'message');
    case 'failure':
      return plural(count, 'failed step');
    default:
      return plural(count, kind);
  }
}

/** Only what cannot be undone is spelled out above the plan. */
export const graveIn = (needs: readonly Need[]): Need[] =>
  needs.filter(({ kind, irreversible }) => kind === 'effect' && irreversible);
