import { resolve } from 'node:path';
import type { CallOptions } from './call-options.ts';
import {
  type AddBlockerInput,
  type AddDecisionInput,
  addBlocker,
  addDecision,
  type UpdateStateInput,
  updateState,
} from './codewalk.ts';
import { type Evidence, UNKNOWN } from './core/evidence.ts';
import { Fault } from './core/fault.ts';
import type { SessionProof } from './core/rules/session-proof.ts';
import type { Actor } from './core/words.ts';
import { type EffectOptions, type EffectWork, runEffect } from './effect-run.ts';
import type { Engine } from './engine/engine.ts';
import type { Identity } from './engine/execute.ts';
import { type Held, type HoldOptions, hold } from './hold.ts';
import type { Methods } from './methods/methods.ts';
import type { Context } from './operations/context.ts';
import { loadOperation, operationNames } from './operations/index.ts';
import { actorNamed, type OpenOptions, openContext } from './operations/open.ts';
import { callOperation } from './operations/operation.ts';
import { checkCall, checkIdentity, checkOptions } from './options.ts';
import { type ProgramState, programState } from './state.ts';
import type { Store } from './store/store.ts';
import { type Watched, type WatchOptions, watchEvents } from './watch.ts';
import { ownerOf } from './workspace/process.ts';

export interface HoldfastOptions {
  /** The folder to work in; the current one when neither this nor a store is given. */
  dir?: string;
  /** An open store, a PostgreSQL address, or the path of a SQLite file. Without `dir` no folder is used. */
  store?: Store | string;
  /** The agent's name. With neither an agent nor a person the identity is the agent `unknown`. */
  agent?: string;
  person?: string;
  /**
   * How the program knows who calls; `library` when left out, which is not enough for what only a person may do. A program
   * that asked the person at a terminal says `terminal`; one that checked a credential of its own says `token:NAME`.
   */
  evidence?: Evidence;
  session?: string;
  run?: string;
  /** Records text as given, even where it looks like a secret. */
  verbatim?: boolean;
  /** The largest value that `state.put` stores, in bytes: 8 MiB when left out, at most 64 MiB. */
  maxValueBytes?: number;
  now?: () => string;
}

/** Every operation as a method: `hf.start({ key })`, `hf.plan.add({ … })`. Each returns its data or throws a Fault. */
export type Holdfast = Methods & {
  /**
   * The same under another identity or on another run. With `exact` the run is the one with this id; otherwise a part of its id
   * or its title is enough.
   */
  as(
    identity: Pick<HoldfastOptions, 'agent' | 'person' | 'evidence' | 'session' | 'run'> & { exact?: boolean },
  ): Holdfast;
  state: ProgramState;
  effect: {
    /**
     * Runs a side effect under a key of the run. Its result is recorded with its end and returned by every later call; an
     * attempt whose end is not known is repeated only if `class` is `idempotent`, and otherwise refused with `uncertain`.
     */
    run<T>(key: string, work: (effect: EffectWork) => Promise<T> | T, options?: EffectOptions<T>): Promise<T>;
  };
  updateState(input: UpdateStateInput): Promise<void>;
  addDecision(input: AddDecisionInput): Promise<{ id: string }>;
  addBlocker(input: AddBlockerInput): Promise<{ id: string }>;
  /** The events as they are recorded; see `WatchOptions`. */
  watch(options?: WatchOptions): AsyncGenerator<Watched, void, undefined>;
  /**
   * Takes a step under a lease that is renewed while `work` runs; completes it when `work` returns and releases it when it
   * throws. `held.signal` aborts when the lease was lost.
   */
  hold<T>(step: string, work: (held: Held) => Promise<T>, options?: HoldOptions): Promise<T>;
  close(): Promise<void>;
};

type As = Parameters<Holdfast['as']>[0];

export function openHoldfast(options: HoldfastOptions = {}): Promise<Holdfast> {
  return openWith(options);
}

/** `more` replaces what a test controls. */
export async function openWith(options: HoldfastOptions, more: Partial<OpenOptions> = {}): Promise<Holdfast> {
  checkOptions(options);
  const open: OpenOptions = {
    dir: resolve(options.dir ?? '.'),
    withoutWorkspace: options.dir === undefined && options.store !== undefined,
    store: options.store,
    actor: actorOf(options),
    evidence: options.evidence ?? 'library',
    session: options.session,
    proof: proofOf(options),
    run: options.run,
    isVerbatim: options.verbatim,
    now: options.now,
    takeReports: async (context) => (await import('./hooks/take-reports.ts')).takeReports(context),
    ...(options.agent === undefined ? {} : { owner: ownerOf(process.pid) }),
    ...more,
  };
  const context = { ...openContext(open), maxValueBytes: options.maxValueBytes };
  const closing = new AbortController();
  return methodsOf(context, {
    isClosed: () => closing.signal.aborted,
    async close() {
      closing.abort();
      await context.close();
    },
  });
}

interface Named {
  agent?: string | undefined;
  person?: string | undefined;
  evidence?: Evidence | undefined;
}

function actorOf({ agent, person }: Named): Actor {
  return agent === undefined && person !== undefined
    ? actorNamed('person', person)
    : actorNamed('agent', agent ?? UNKNOWN);
}

/** A program may act in the sessions it opened, and in those of its own process. */
function proofOf({ agent = null }: { agent?: string | null | undefined }): SessionProof {
  const self = ownerOf(process.pid);
  return { agent, conversations: [], ancestors: self ? [self] : [] };
}

/** Without a name the identity stays: naming only a run or session must not turn an agent into a person. */
function identityOf({ agent, person, evidence = 'library' }: Named, before: Identity): Identity {
  if (agent === undefined && person === undefined) return before;
  return {
    ...before,
    actor: actorOf({ agent, person }),
    evidence,
    proof: proofOf({ agent }),
    owner: agent === undefined ? undefined : ownerOf(process.pid),
  };
}

interface Life {
  isClosed(): boolean;
  close(): Promise<void>;
}

function methodsOf(context: Context, life: Life): Holdfast {
  const root: Record<string, unknown> = {};
  const contextOf = async (options?: CallOptions): Promise<Context> => {
    await context.takeReports();
    return options ? withOptions(context, options) : context;
  };
  for (const name of operationNames) {
    const call = async (input: unknown = {}, options?: CallOptions) => {
      const mine = options ? withOptions(context, options) : context;
      if (name !== 'doctor') await context.takeReports();
      return (await callOperation(await loadOperation(name), mine, input)).data;
    };
    const [group, member] = name.split('.') as [string, string | undefined];
    // A name may be an operation and a group at once: `hf.usage()` and `hf.usage.add()`.
    if (member === undefined) root[group] = Object.assign(call, root[group]);
    else root[group] = Object.assign(root[group] ?? {}, { [member]: call });
  }
  const methods = root as unknown as Holdfast;
  return Object.assign(methods, {
    as: (given: As) => {
      checkIdentity(given);
      const { session, run = context.run, exact = context.isRunExact, ...named } = given;
      const identity = { ...identityOf(named, context.identity), session: session ?? null, key: null };
      return methodsOf({ ...context, identity, run, isRunExact: exact }, life);
    },
    state: programState(contextOf),
    effect: {
      ...methods.effect,
      run: async <T>(key: string, work: (effect: EffectWork) => Promise<T> | T, options?: EffectOptions<T>) =>
        runEffect(await contextOf(), key, work, options),
    },
    updateState: (input: UpdateStateInput) => updateState(context, input),
    addDecision: (input: AddDecisionInput) => addDecision(context, input),
    addBlocker: (input: AddBlockerInput) => addBlocker(context, input),
    watch: (options: WatchOptions = {}) => watchEvents(context, options, life.isClosed),
    hold: <T>(step: string, work: (held: Held) => Promise<T>, options?: HoldOptions) =>
      hold(methods, step, work, options),
    close: life.close,
  });
}

function withOptions(context: Context, given: CallOptions): Context {
  checkCall(given);
  const { key, signal } = given;
  if (signal?.aborted) throw cancelled('no');
  const identity = key === undefined ? context.identity : { ...context.identity, key };
  return { ...context, identity, ...(signal ? { engine: async () => stoppable(await context.engine(), signal) } : {}) };
}

/** Refuses to send anything more once the signal is aborted. */
function stoppable(engine: Engine, signal: AbortSignal): Engine {
  let events = 0;
  return {
    ...engine,
    async execute(run, command, identity) {
      if (signal.aborted) throw cancelled(events > 0 ? 'yes' : 'no');
      const done = await engine.execute(run, command, identity);
      events += done.events.length;
      return done;
    },
  };
}

function cancelled(recorded: 'yes' | 'no'): Fault {
  const part = recorded === 'yes' ? ' A part of it was recorded before.' : ' Nothing was recorded.';
  return new Fault('cancelled', `The call was cancelled by its signal.${part}`, { data: { recorded } });
}
