import fc from 'fast-check';
import { Fault } from '../fault.ts';
import type { Command } from '../journal/command.ts';
import { agent, type By, person, phase, planned, type Scenario, task, unopened } from './scenario.suite.ts';

/** Random work: legal and illegal commands of several actors, with time passing and processes dying. */
export interface Turn {
  by: By;
  command: Command;
  waitMs: number;
  owner: ['alive' | 'dead', string] | null;
}

const pick = <const T>(...values: T[]) => fc.constantFrom(...values);
const key = pick('a', 'b', 'c', 'd', 'e', 'p');
const session = pick('S-1', 'S-2', 'S-3', 'S-4', 'S-9');
const id = <P extends string>(prefix: P) => fc.integer({ min: 1, max: 2 }).map((number) => `${prefix}-${number}`);
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined, freq: 2 });
const rarely = <T>(some: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: some });
const words = pick('Done.', 'Why?', 'Não há\nnada', ' x ');
const file = pick('a.ts', 'src/', 'src/*.ts', '**');
const artifacts = fc.array(fc.record({ path: file, sha256: pick('h1', 'h2', null) }), { maxLength: 2 });
const name = pick('ada', 'bob', 'bob', 'maintainer');

const plan = fc.record({
  key,
  title: words,
  kind: pick('phase', 'task'),
  parent: maybe(key),
  after: maybe(fc.array(key, { maxLength: 2 })),
  gate: maybe(fc.boolean()),
  done: maybe(fc.boolean()),
});

/** What a file could say, plausible or not. */
const part = fc.record({
  steps: maybe(
    fc.array(
      fc.record({
        key,
        title: words,
        kind: pick('phase', 'task'),
        status: pick('pending', 'in_progress', 'completed', 'failed', 'skipped'),
        parent: maybe(key),
        after: maybe(fc.array(key, { maxLength: 2 })),
        checkpoint: maybe(words),
        startedAt: maybe(pick('2026-01-02', 'yesterday')),
      }),
      { maxLength: 3 },
    ),
  ),
  decisions: maybe(
    fc.array(
      fc.record({ alias: maybe(pick('D001', 'D-1')), decision: words, status: maybe(pick('active', 'retracted')) }),
      {
        maxLength: 2,
      },
    ),
  ),
  items: maybe(
    fc.array(
      fc.record({
        alias: maybe(pick('block-1', 'B-1')),
        kind: pick('blocker', 'question'),
        text: words,
        status: pick('active', 'open', 'resolved'),
      }),
      { maxLength: 2 },
    ),
  ),
  sessions: maybe(fc.array(fc.record({ alias: maybe(session), status: pick('active', 'crashed') }), { maxLength: 1 })),
  next: maybe(words),
});

const of = <T extends Command['type']>(type: T, rest: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ type: fc.constant(type), ...rest }) as unknown as fc.Arbitrary<Command>;

const often = fc.oneof(
  of('plan.add', { steps: fc.array(plan, { minLength: 1, maxLength: 3 }) }),
  of('step.start', { step: key }),
  of('step.start', { step: key }),
  of('step.checkpoint', {
    step: maybe(key),
    name: pick('red', 'green'),
    next: maybe(words),
    artifacts: maybe(artifacts),
  }),
  of('step.complete', { step: maybe(key), summary: maybe(words), built: maybe(words), artifacts: maybe(artifacts) }),
  of('step.fail', { step: maybe(key), errorType: pick('runtime', 'timeout'), message: words }),
  of('step.retry', { step: key, note: maybe(words), open: maybe(fc.boolean()) }),
  of('step.reopen', { step: key, reason: words }),
  of('session.end', {
    reason: pick('completed', 'timeout', 'superseded'),
    next: maybe(words),
    notes: maybe(fc.array(words)),
  }),
  of('run.supervise'),
  of('handoff.offer', { to: name, from: rarely(session).map((named) => named ?? undefined) }),
  of('handoff.accept', { id: id('H') }),
);

const seldom = fc.oneof(
  of('run.amend', { title: maybe(words), goal: maybe(words) }),
  of('plan.change', {
    step: key,
    patch: fc.record({ parent: maybe(key), after: maybe(fc.array(key)), gate: maybe(fc.boolean()) }),
  }),
  of('plan.remove', { step: key }),
  of('step.skip', { step: key, reason: words }),
  of('step.confirm', { step: key }),
  of('step.release', { step: key }),
  of('step.verify', {
    step: key,
    result: pick('pass', 'fail'),
    probe: maybe(fc.record({ command: words, exitCode: pick(0, 1, null) })),
  }),
  of('gate.set', { step: key, open: fc.boolean() }),
  of('session.start', {
    agent: maybe(name),
    continues: maybe(session),
    leaseMs: maybe(pick(0, 1000, Number.MAX_SAFE_INTEGER)),
  }),
  of('session.move', { session, to: fc.constant({ run: 'other', session: 'S-1' }) }),
  of('turn.begin', { kind: pick('request', 'continuation', 'answer', 'unknown'), request: maybe(words) }),
  of('turn.end', { outcome: pick('done', 'failed'), said: maybe(words), asks: maybe(fc.boolean()) }),
  of('claim.take', { files: fc.array(file, { minLength: 1, maxLength: 2 }) }),
  of('claim.release', { id: id('L') }),
  of('decision.make', { context: words, decision: words, reason: words, supersedes: maybe(id('D')) }),
  of('decision.retract', { id: id('D'), reason: words }),
  of('item.raise', {
    kind: pick('blocker', 'question', 'finding'),
    text: words,
    affects: maybe(fc.array(key)),
    step: maybe(key),
  }),
  of('item.settle', {
    id: pick('B-1', 'B-2', 'Q-1', 'F-1', 'E-1'),
    as: pick('resolved', 'bypassed', 'deferred', 'withdrawn', 'active'),
    note: maybe(words),
  }),
  of('note.add', { text: words, kind: pick('worklog', 'constraint', 'dead-end', 'plan') }),
  of('note.approve', { id: id('N') }),
  of('usage.add', { input: fc.nat(9), output: fc.nat(9), of: maybe(name) }),
  of('effect.begin', { name: words, class: pick('read', 'irreversible'), key: maybe(pick('k1', 'k2')) }),
  of('effect.end', { id: pick('X-1', 'X-2', 'k1'), outcome: pick('succeeded', 'failed') }),
  of('files.see', { artifacts, read: maybe(fc.boolean()) }),
  of('message.send', {
    to: name,
    messageType: pick('notify', 'request'),
    priority: pick('P1'),
    subject: words,
    body: words,
  }),
  of('message.move', {
    id: id('M'),
    to: pick('acknowledged', 'actioned', 'blocked', 'closed'),
    note: words,
    disposition: maybe(pick('resolved', 'deferred')),
  }),
  of('message.reply', { id: id('M'), body: words }),
  of('message.escalate'),
  of('worklog.compact', { entries: fc.array(pick('N-1', 'N-2', 'S-1')), proof: pick('h'), version: fc.nat(40) }),
  of('session.recover', { reason: pick('crashed', 'timeout', 'completed'), why: maybe(words), next: maybe(words) }),
  of('snapshot.take', { next: maybe(words), why: maybe(words), atRest: maybe(fc.boolean()) }),
  of('handoff.clarify', { id: id('H'), question: words }),
  of('handoff.decline', { id: id('H'), reason: words }),
  of('handoff.withdraw', { id: id('H') }),
  of('handoff.finish', { id: id('H'), outcome: words }),
  of('conflict.accept', { id: pick('K-1', 'K-2') }),
  of('mirror.add', { format: pick('gsd'), path: file }),
  of('mirror.remove', { format: pick('gsd'), path: file }),
  of('account.read', { format: pick('gsd'), path: file, account: part }),
);

const away = fc.oneof(
  of('run.archive', { reason: maybe(words) }),
  of('run.abort', { reason: words }),
  of('run.unarchive'),
);

const turn: fc.Arbitrary<Turn> = fc.record({
  by: fc
    .tuple(
      pick(agent('ada'), agent('ada'), agent('bob'), agent('bob'), agent('constructor'), person('sam')),
      rarely(session),
    )
    .map(([by, named]) => ({ ...by, session: named })),
  command: fc.oneof(
    { weight: 60, arbitrary: often },
    { weight: 40, arbitrary: seldom },
    { weight: 1, arbitrary: away },
  ),
  waitMs: pick(1, 2, 3, 4, 1000, 60_000, 31 * 60_000, -3_600_000),
  owner: rarely(fc.tuple(pick('alive', 'dead'), session)),
});

export const turns = fc.array(turn, { minLength: 20, maxLength: 80, size: 'max' });

/** Plays the turns. A refusal is expected; anything else thrown is a bug. */
export function play(played: readonly Turn[], look?: (run: Scenario, turn: Turn) => void): Scenario {
  const run = unopened().given(person('sam'), { type: 'run.open', title: 'Work', workspace: 'W-1' });
  run.given(person('sam'), planned('a', task('b', { after: ['a'] }), phase('p'), task('c', { parent: 'p' }), 'd'));
  for (const one of played) {
    run.wait(one.waitMs);
    if (one.owner) run.owners.set(one.owner[1], one.owner[0]);
    if (look) look(run, one);
    else allow(run, one);
  }
  return run;
}

/** The outcome of a turn, or null if it was refused. */
export function allow(run: Scenario, { by, command }: Turn) {
  try {
    return run.when(by, command);
  } catch (thrown) {
    if (thrown instanceof Fault) return null;
    throw thrown;
  }
}
