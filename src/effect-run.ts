import * as v from 'valibot';
import { asFault, Fault, quoted } from './core/fault.ts';
import type { Effect, State } from './core/fold/state.ts';
import { sha256 } from './core/sha256.ts';
import { Label } from './core/text.ts';
import { isGone } from './core/views/liveness.ts';
import { act, execute, idInEvents, inRun } from './operations/act.ts';
import type { Context } from './operations/context.ts';
import { entryOf, readValue, resultKey } from './operations/state/parts/values.ts';
import { ownerOf } from './workspace/process.ts';

export interface EffectOptions<T> {
  /** What repeating it would do. `unknown`, the default, is treated like `irreversible`. */
  class?: 'idempotent' | 'irreversible' | 'unknown';
  /** JSON that the effect depends on. The same key with another input is refused with `conflict`. */
  input?: unknown;
  /** What people read; the key when left out. */
  name?: string;
  /** Wait while another process runs it, instead of the fault `held`. */
  wait?: boolean;
  /** Asked when an earlier attempt may have happened; without it the fault `uncertain` is thrown. */
  onUncertain?: (info: UncertainEffect) => Uncertainty<T> | Promise<Uncertainty<T>>;
  /** Passed on to the work. Aborted before the effect began, nothing is recorded. */
  signal?: AbortSignal;
  /** On another machine an attempt counts as gone after this much silence; a minute when left out. */
  leaseMs?: number;
}

/** `again` runs it once more; a result is recorded as that of the earlier attempt. */
export type Uncertainty<T> = 'again' | { result: T } | undefined;

export interface UncertainEffect {
  /** Such as `X-2`, for `holdfast settle`. */
  effect: string;
  key: string;
  class: string;
  began: string;
  /** `no-end`: it may have happened or not. `no-result`: it happened, and what it gave is not recorded. */
  what: 'no-end' | 'no-result';
}

export interface EffectWork {
  /** The same in every attempt, for services that accept such a key. */
  idempotencyKey: string;
  signal: AbortSignal | undefined;
  attempt: number;
}

type InRun = Context & { run: string };

/** Runs `work` at most once to its end under a key of the run and returns its result, now and on every later call. */
export async function runEffect<T>(
  given: Context,
  key: string,
  work: (effect: EffectWork) => Promise<T> | T,
  options: EffectOptions<T> = {},
): Promise<T> {
  mustBeKey(key);
  const context = await inRun(given);
  for (;;) {
    if (options.signal?.aborted) throw cancelled();
    const found = await look<T>(context, key, options);
    if ('result' in found) return found.result;
    const done = await whileRunning(context, key, async () => {
      const begun = await begin(context, key, options, found).catch(isTaken);
      return begun && { result: await carryOut(context, key, begun, work, options) };
    });
    if (done) return done.result;
  }
}

/** Another process was faster: null, to look again at what it did. */
function isTaken(thrown: unknown): null {
  const fault = asFault(thrown);
  if (fault.data['effect'] !== undefined && (fault.code === 'illegal' || fault.code === 'conflict')) return null;
  throw fault;
}

interface Attempt {
  replaces?: string;
  isAgain?: true;
}

/** What is recorded under the key: a result, or leave to begin. Waits while it is held, if that is wanted. */
async function look<T>(context: InRun, key: string, options: EffectOptions<T>): Promise<{ result: T } | Attempt> {
  const engine = await context.engine();
  for (let seen: number | undefined; ; ) {
    const state = await engine.load(context.run);
    const open = [...state.effects.values()].find((effect) => effect.key === key);
    if (!open) return lookAtEnded(context, key, options);
    mustHaveInput(open, key, options.input);
    if (await isOver(context, key, open)) return lookAtOpen(context, key, open, options);
    if (!options.wait) throw heldBy(open);
    if (options.signal?.aborted) throw cancelled();
    seen = await engine.waitForEvents(WAIT_MS, seen);
  }
}

/** A process that dies records nothing, so that a waiting one looks at intervals. */
const WAIT_MS = 1000;

async function lookAtEnded<T>(
  context: InRun,
  key: string,
  options: EffectOptions<T>,
): Promise<{ result: T } | Attempt> {
  const rows = await (await context.engine()).recall(context.run, [key]);
  const done = rows
    .filter(({ kind, alias }) => kind === 'effect' && alias === key)
    .sort((a, b) => b.version - a.version)
    .map(({ doc }) => doc as Effect)[0];
  if (!done) return {};
  mustHaveInput(done, key, options.input);
  if (done.result === 'none') return { result: undefined as T };
  const stored = done.result === 'value' ? await readValue(context, resultKey(key)) : null;
  if (stored) return { result: stored.value as T };
  const answer = await askAbout(done, key, 'no-result', options);
  return answer === 'again' ? { isAgain: true } : answer;
}

async function lookAtOpen<T>(
  context: InRun,
  key: string,
  open: Effect,
  options: EffectOptions<T>,
): Promise<{ result: T } | Attempt> {
  const mayRepeat = (one: string | undefined): boolean => one === 'idempotent' || one === 'read';
  if (mayRepeat(open.class) && mayRepeat(options.class)) return { replaces: open.id };
  const answer = await askAbout(open, key, 'no-end', options);
  if (answer === 'again') return { replaces: open.id };
  await recordResult(context, key, open.id, answer.result);
  return answer;
}

async function askAbout<T>(
  { id, at, class: effectClass }: Effect,
  key: string,
  what: UncertainEffect['what'],
  { onUncertain }: EffectOptions<T>,
): Promise<'again' | { result: T }> {
  const info = { effect: id, key, class: effectClass, began: at, what };
  const answer = await onUncertain?.(info);
  if (answer) return answer;
  const message =
    what === 'no-end'
      ? `${id} with the key ${quoted(key)} began at ${at} and has no recorded end: it may have happened.`
      : `${id} with the key ${quoted(key)} succeeded, and its result is not recorded.`;
  throw new Fault('uncertain', message, {
    hints: [
      'Look at what it did. `onUncertain` can return its result, or "again" to repeat it.',
      ...(what === 'no-end' ? [`If it did not happen: \`holdfast settle ${id} failed\`, and call again.`] : []),
    ],
    data: info,
  });
}

/** Whether nobody works on it any more. */
async function isOver(context: InRun, key: string, { id, at, owner, leaseMs = LEASE_MS }: Effect): Promise<boolean> {
  const watched = { id, seenAt: at, leaseMs, owner: owner ?? null };
  if (isGone(watched, await (await context.engine()).watch(context.run, [watched]))) return true;
  const self = ownerOf(process.pid);
  const isMine = owner?.pid === self?.pid && owner?.host === self?.host && owner?.startedAt === self?.startedAt;
  // This process began it, and the end could not be recorded.
  return isMine && !running.has(await runningName(context, key));
}

const LEASE_MS = 60_000;

/** How often this process works on an effect; shared by all copies of the library in it. */
const RUNNING = Symbol.for('holdfast.running-effects');
const shared = globalThis as { [RUNNING]?: Map<string, number> };
shared[RUNNING] ??= new Map();
const running = shared[RUNNING];

async function whileRunning<T>(context: InRun, key: string, work: () => Promise<T>): Promise<T> {
  const name = await runningName(context, key);
  running.set(name, (running.get(name) ?? 0) + 1);
  try {
    return await work();
  } finally {
    const left = (running.get(name) ?? 1) - 1;
    if (left > 0) running.set(name, left);
    else running.delete(name);
  }
}

async function runningName(context: InRun, key: string): Promise<string> {
  const { id } = await (await context.engine()).identity();
  return JSON.stringify([id, context.run, key]);
}

interface Begun {
  id: string;
  attempt: number;
  idempotencyKey: string;
}

async function begin<T>(
  context: InRun,
  key: string,
  { name = key, class: effectClass = 'unknown', input, leaseMs = LEASE_MS }: EffectOptions<T>,
  { replaces, isAgain }: Attempt,
): Promise<Begun> {
  const engine = await context.engine();
  const earlier = await engine.rows(context.run, { kind: 'effect', tag: `key:${key}`, limit: 10_000 });
  const done = await act(context, {
    type: 'effect.begin',
    name,
    class: effectClass,
    key,
    once: !isAgain,
    owner: ownerOf(process.pid),
    replaces,
    input: input === undefined ? undefined : inputMark(input),
    attempt: earlier.length + 1,
    leaseMs,
  });
  const id = idInEvents(done) ?? '';
  return { id, attempt: earlier.length + 1, idempotencyKey: idempotencyKey(done.state, key) };
}

function idempotencyKey({ run }: State, key: string): string {
  return `hf-${sha256(JSON.stringify([run?.workspace, run?.id, run?.openedAt, key])).slice(0, 40)}`;
}

async function carryOut<T>(
  context: InRun,
  key: string,
  { id, attempt, idempotencyKey: sent }: Begun,
  work: (effect: EffectWork) => Promise<T> | T,
  { signal, leaseMs = LEASE_MS }: EffectOptions<T>,
): Promise<T> {
  const engine = await context.engine();
  const beat = (): void => void engine.beat(context.run, id, engine.now()).catch(() => undefined);
  const timer = setInterval(beat, leaseMs / 3);
  timer.unref();
  try {
    let result: T;
    try {
      result = await work({ idempotencyKey: sent, signal, attempt });
    } catch (thrown) {
      const note = thrown instanceof Error ? thrown.message : String(thrown);
      // If this cannot be recorded, the attempt stays uncertain; the caller needs the error of the work.
      await act(context, { type: 'effect.end', id, outcome: 'failed', note: note.slice(0, 2000) }).catch(
        () => undefined,
      );
      throw thrown;
    }
    await recordResult(context, key, id, result).catch((thrown: unknown) => {
      throw asFault(thrown).code === 'illegal' ? fenced(id, key) : thrown;
    });
    return result;
  } finally {
    clearInterval(timer);
  }
}

/** It was silent for so long that another process took the effect over, or a person settled it. */
const fenced = (id: string, key: string): Fault =>
  new Fault('fenced', `${id} with the key ${quoted(key)} was ended by someone else while it ran here.`, {
    hints: ['Its result was not recorded. `holdfast log` shows who ended it.'],
    data: { effect: id, key },
  });

/** The result and the end of the effect, in one transaction. */
async function recordResult(context: InRun, key: string, id: string, result: unknown): Promise<void> {
  const end = { type: 'effect.end', id, outcome: 'succeeded' } as const;
  if (result === undefined) {
    await execute(context, context.run, { ...end, result: 'none' });
    return;
  }
  let ready: ReturnType<typeof entryOf>;
  try {
    ready = entryOf(context, resultKey(key), result);
  } catch (thrown) {
    await execute(context, context.run, { ...end, result: 'unstored' });
    const { message, hints } = asFault(thrown);
    throw new Fault('invalid', `${id} succeeded, but its result cannot be stored. ${message}`, {
      hints,
      data: { effect: id, key, recorded: 'yes' },
      cause: thrown,
    });
  }
  const { entry, content } = ready;
  await execute(context, context.run, { ...end, result: 'value', entry, contents: [content] });
}

/** A nonce and the hash of the input with it, so that short inputs cannot be guessed from the hash. */
function inputMark(
  input: unknown,
  nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('base64url'),
) {
  return `${nonce}:${sha256(JSON.stringify([nonce, input]))}`;
}

function mustHaveInput({ id, input: recorded }: Effect, key: string, input: unknown): void {
  const [nonce = '', hash] = recorded?.split(':') ?? [];
  // Not recorded, or erased: nothing to compare with.
  if (hash === undefined && (recorded !== undefined || input === undefined)) return;
  if (input !== undefined && inputMark(input, nonce) === recorded) return;
  throw new Fault('conflict', `${id} with the key ${quoted(key)} has another input.`, {
    hints: ['A key stands for one action: give another action another key.'],
    data: { key },
  });
}

function heldBy({ id, key, at, by }: Effect): Fault {
  return new Fault('held', `${id} with the key ${quoted(key ?? '')} was begun by ${by} at ${at} and is under way.`, {
    hints: ['Wait for it with `wait: true`, or call again later.'],
    data: { held: id, key, began: at },
  });
}

const cancelled = (): Fault =>
  new Fault('cancelled', 'The call was cancelled by its signal. Nothing was recorded.', { data: { recorded: 'no' } });

/** The result is stored under the key with a prefix, which must be a key too. */
function mustBeKey(key: unknown): void {
  const parsed = v.safeParse(v.pipe(Label, v.maxLength(190, 'must be at most 190 characters')), key);
  if (!parsed.success)
    throw new Fault('invalid', `The key ${parsed.issues[0].message}.`, { hints: ['Such as `charge-42`.'] });
}
