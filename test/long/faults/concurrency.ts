import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openHoldfast } from '../../../src/holdfast.ts';
import type { Part, Trial } from './part.ts';
import { type Data, newPlace, type Place } from './place.ts';

export const concurrency: Part = {
  name: 'concurrency',
  title: 'Concurrency',
  about:
    'Processes do random things on one run and on several, some with a clock that jumps by an hour back and forth ' +
    '(so that the leases of others look expired to them), some stopped for a while and continued, some killed. Every ' +
    'answer is then compared with the journal: what was acknowledged is there exactly once, at the reported version ' +
    'and under the reported id; what was refused is not; versions follow real time; only the session that holds a ' +
    'step writes to it; an offer is accepted once; and all derived data equals the fold of the events.',
  async run(trial) {
    await mixed(trial);
    await twoReceivers(trial);
  },
};

export interface WorkerAnswer {
  action: string;
  run: string;
  token: string;
  began: string;
  ended: string;
  ok: boolean;
  version?: number;
  id?: string;
  code?: string;
  message?: string;
}

const RUNS = ['one', 'r1', 'r2', 'r3'];
const STEPS = ['a', 'b', 'c', 'd', 'e', 'f'];

async function mixed(trial: Trial): Promise<void> {
  const place = newPlace();
  await openRuns(place);
  const processes = trial.size(24, 5);
  const answers = (
    await Promise.all(Array.from({ length: processes }, (_, index) => work(trial, place, index)))
  ).flat();
  trial.count('answers', 'processes', processes);
  await check(trial, place, answers);
  place.remove();
}

/** Creates the runs that processes work on, on a server if one is given. */
export async function openRuns(place: Place, store?: string): Promise<void> {
  if (store !== undefined) place.env['HOLDFAST_STORE'] = store;
  const holdfast = await openHoldfast({ dir: place.path, person: 'sam', ...(store === undefined ? {} : { store }) });
  for (const id of RUNS) {
    await holdfast.init({ title: id, id });
    for (const key of STEPS) await holdfast.as({ run: id }).plan.add({ key, title: `Do ${key}` });
  }
  await holdfast.close();
}

/** The answers one process got; some processes are stopped past their lease, some are killed. */
export async function work(
  trial: Trial,
  place: Place,
  index: number,
  onAnswer: () => void = () => undefined,
): Promise<WorkerAnswer[]> {
  const random = trial.random.fork(`worker ${index}`);
  const shiftMs = index % 4 === 1 ? 3_600_000 : 0;
  const fate = index % 5 === 2 ? 'stopped' : index % 7 === 3 ? 'killed' : 'left alone';
  const library = `file://${join(process.cwd(), 'dist', 'lib', 'index.js')}`;
  const words = [library, place.path, `agent${index % 4}`, random.below(2 ** 31), trial.size(120, 16), shiftMs].map(
    String,
  );
  const worker = join(process.cwd(), 'test', 'long', 'faults', 'worker.mjs');
  const child = spawn(process.execPath, [worker, ...words], { env: place.env, stdio: ['ignore', 'pipe', 'inherit'] });
  trial.count('processes', fate);
  if (shiftMs !== 0) trial.count('processes', 'with a clock that jumps');
  const answers: WorkerAnswer[] = [];
  const at = 3 + random.below(8);
  for await (const line of createInterface({ input: child.stdout })) {
    answers.push(JSON.parse(line) as WorkerAnswer);
    onAnswer();
    if (answers.length === at && fate === 'killed') child.kill('SIGKILL');
    if (answers.length === at && fate === 'stopped') pause(child, 500 + random.below(1500));
  }
  return answers;
}

function pause(child: ChildProcess, ms: number): void {
  child.kill('SIGSTOP');
  setTimeout(() => child.kill('SIGCONT'), ms);
}

interface Recorded {
  version: number;
  type: string;
  session: string | null;
  agent: string;
  body: Data;
}

export async function check(trial: Trial, place: Place, answers: readonly WorkerAnswer[]): Promise<void> {
  for (const one of answers) {
    const code = one.code ?? '';
    trial.count('answers', one.ok ? 'acknowledged' : code === 'unavailable' ? 'refused as unavailable' : 'refused');
    if (!one.ok && ['thrown', 'internal', 'corrupt'].includes(code))
      trial.fail(`${one.action}: ${code}, ${one.message}`);
  }
  if (!answers.some(({ action }) => traced.has(action))) trial.fail('no answer names an action that can be checked');
  const store = place.env['HOLDFAST_STORE'];
  const holdfast = await openHoldfast({ dir: place.path, person: 'sam', ...(store === undefined ? {} : { store }) });
  const { findings } = await holdfast.doctor({});
  for (const { level, at, message } of findings) if (level === 'error') trial.fail(`doctor: ${at} ${message}`);
  for (const run of RUNS) {
    const { events } = await holdfast.as({ run }).log({ limit: 1_000_000 });
    const mine = answers.filter((one) => one.run === run);
    trial.count('events', 'recorded', events.length);
    checkAnswers(trial, run, events as unknown as Recorded[], mine);
    checkOrder(trial, run, mine);
    checkHolders(trial, run, events as unknown as Recorded[]);
  }
  await holdfast.close();
}

/** Actions that leave their token in an event. */
const traced = new Set(['note', 'decide', 'raise', 'checkpoint', 'complete', 'reopen', 'offer', 'mail']);

function checkAnswers(trial: Trial, run: string, events: readonly Recorded[], answers: readonly WorkerAnswer[]): void {
  const words = events.map((event) => (event.type === 'snapshot.taken' ? '' : JSON.stringify(event.body)));
  const ids = new Map<string, string>();
  for (const { action, token, ok, version, id, code } of answers) {
    if (!traced.has(action)) continue;
    const found = events.filter((_, index) => words[index]?.includes(`${token}"`));
    const direct = found.filter((event) => !event.type.startsWith('session.'));
    // The outcome of a request just before the server was killed is unknown; it is there once or not at all.
    if (!ok && direct.length > (code === 'unavailable' ? 1 : 0))
      trial.fail(`${run}: ${action} ${token} was refused and is there`);
    if (!ok) continue;
    if (direct.length !== 1)
      trial.fail(`${run}: ${action} ${token} was acknowledged and is there ${direct.length} times`);
    const [event] = direct;
    if (event && id !== undefined && event.body['id'] !== id) trial.fail(`${run}: ${token} was reported as ${id}`);
    if (event && version !== undefined && event.version > version)
      trial.fail(`${run}: ${token} was reported at ${version}`);
    if (id === undefined || action === 'reopen') continue;
    if (ids.has(id)) trial.fail(`${run}: ${id} was given to ${token} and to ${ids.get(id)}`);
    ids.set(id, token);
  }
}

/** A write that ended before another began has a lower version. */
function checkOrder(trial: Trial, run: string, answers: readonly WorkerAnswer[]): void {
  const wrote = answers.filter((one) => one.ok && one.version !== undefined && traced.has(one.action));
  const byEnd = [...wrote].sort((a, b) => (BigInt(a.ended) < BigInt(b.ended) ? -1 : 1));
  let newest = 0;
  let next = 0;
  for (const one of [...wrote].sort((a, b) => (BigInt(a.began) < BigInt(b.began) ? -1 : 1))) {
    for (let other = byEnd[next]; other && BigInt(other.ended) < BigInt(one.began); other = byEnd[++next])
      newest = Math.max(newest, other.version ?? 0);
    if ((one.version ?? 0) <= newest)
      trial.fail(`${run}: ${one.token} at ${one.version} came after ${newest} had been reported`);
  }
}

/** A minimal model of which session may write to which step. */
function checkHolders(trial: Trial, run: string, events: readonly Recorded[]): void {
  const holders = new Map<string, string | null>();
  const accepted = new Set<string>();
  for (const { version, type, session, body } of events) {
    const step = body['step'] as string;
    if (type === 'step.started' || type === 'step.reopened' || type === 'step.retried')
      holders.set(step, body['session'] ?? session);
    if (type === 'session.ended')
      for (const [key, holder] of holders) if (holder === body['id']) holders.set(key, null);
    if (type === 'handoff.accepted') {
      if (accepted.has(body['id'])) trial.fail(`${run}: ${body['id']} was accepted twice`);
      accepted.add(body['id']);
      for (const claim of (body['claims'] ?? []) as { step: string }[]) holders.set(claim.step, session);
      trial.count('events', 'handoffs accepted');
    }
    if (type === 'step.checkpointed' || type === 'step.completed') {
      trial.count('events', 'writes to a step');
      const holder = holders.get(step);
      if (holder !== session)
        trial.fail(`${run}: event ${version} of ${session} on ${step}, which ${holder ?? 'no session'} holds`);
    }
  }
}

/** One offer, and two processes that accept it at the same moment. */
async function twoReceivers(trial: Trial): Promise<void> {
  const place = newPlace();
  const holdfast = await openHoldfast({ dir: place.path, agent: 'ada' });
  await holdfast.init({ title: 'Work', id: 'work' });
  for (let round = 0; round < trial.size(30, 2); round++) {
    const key = `s${round}`;
    await holdfast.plan.add({ key, title: key });
    await holdfast.start({ key });
    const { id } = await holdfast.handoff({ to: 'bob' });
    const bob = holdfast.as({ agent: 'bob' });
    const sessions = [await bob.session.start({}), await bob.session.start({})].map(({ session }) => session.id);
    const answers = await Promise.all(
      sessions.map((session) => place.start(['handoff', 'accept', id, '--session', session])),
    );
    const { events } = await holdfast.log({ limit: 100_000 });
    const times = events.filter(
      (event) => event.type === 'handoff.accepted' && (event.body as Data)['id'] === id,
    ).length;
    trial.count('two receivers', 'tried');
    trial.count('two receivers', 'acknowledged', answers.filter((answer) => answer.ok).length);
    if (times !== 1) trial.fail(`${id} was accepted ${times} times`);
    const winners = sessions.filter((_, index) => answers[index]?.ok);
    if (winners.length !== 1) trial.fail(`${id}: ${answers.map((answer) => answer.out).join(' ')}`);
    for (const session of winners) await holdfast.as({ agent: 'bob', session }).complete({ key });
    for (const session of sessions) await holdfast.as({ agent: 'bob', session }).session.end({ reason: 'completed' });
  }
  await holdfast.close();
  place.remove();
}
