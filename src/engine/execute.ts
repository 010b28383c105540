import type { Evidence } from '../core/evidence.ts';
import { asFault, Fault, quoted } from '../core/fault.ts';
import type { Session, State, Step } from '../core/fold/state.ts';
import { forkState, STATE_FORMAT, serializeState } from '../core/fold/state-tables.ts';
import type { Touch } from '../core/fold/touch.ts';
import { seal } from '../core/journal/chain.ts';
import { type Command, referencesOf } from '../core/journal/command.ts';
import type { Event, Owner } from '../core/journal/event.ts';
import { type Here, located } from '../core/journal/located.ts';
import { type Decided, decide } from '../core/rules/decide.ts';
import type { SessionProof } from '../core/rules/session-proof.ts';
import { type Change, changesOf } from '../core/views/change.ts';
import { TRIVIAL_TOOLS } from '../core/views/run-facts.ts';
import type { Actor, Scope } from '../core/words.ts';
import type { Batch } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { headOf } from './head-columns.ts';
import { type Probe, readLiveness, watchedIn } from './liveness.ts';
import { type Loaded, type Loader, SAVE_EVERY_AT_MOST } from './loader.ts';
import { mustSave, type OpenRows, openRows, pendingRows, referencesIn, storedRows } from './pending-rows.ts';
import { describeRewound, type Rewound, rewoundDraft, rewoundFault, withRewound } from './rewound.ts';
import type { DescribeSnapshot } from './snapshots.ts';

export interface Executor {
  /** Loads, decides, appends at the version that was read, and repeats all three if another process was faster. */
  execute(run: string, command: Command, identity: Identity): Promise<Done>;
}

export interface Identity {
  actor: Actor;
  /** What the name of the actor rests on; the interface that is called decides it. */
  evidence: Evidence;
  session: string | null;
  /** With a key the same command is recorded once, however often it is sent. */
  key: string | null;
  /** The key was made for this call, so nothing was recorded under it before. */
  isKeyNew?: boolean | undefined;
  /** The process that owns the sessions this identity opens, where that is known. */
  owner?: Owner | undefined;
  /** What its token allows, where one proves the identity. */
  scope?: Scope | undefined;
  /** The conversation of a client it is in, where that is known. */
  client?: Session['client'] | undefined;
  /** What it shows for the session that it names; undefined where the interface found the session itself. */
  proof?: SessionProof | undefined;
  /** Names of people that an agent may not take, where they were looked up. */
  people?: readonly string[] | undefined;
}

export interface Done {
  /** What was recorded; empty for a no-op. */
  events: Event[];
  /** The state after them. */
  state: State;
  changed: Change[];
  session: string | null;
  /** The events had been recorded by an earlier command with the same key. */
  replayed: boolean;
  /** Acknowledged events of the run that are gone from the store, noticed since the last command on it. */
  rewound: readonly Rewound[];
}

export interface ExecutorOptions {
  store: Store;
  loader: Loader;
  /** The time, as an ISO string in UTC. */
  now: () => string;
  probe: Probe;
  /** Where this process is; left out for engines that record for others. */
  here?: (() => Here) | undefined;
  /** Between 0 and 1, for the wait before another try. */
  random: () => number;
  /** Writes the text of a snapshot when it is recorded; without it, only what the command says is recorded. */
  describe?: DescribeSnapshot | undefined;
}

/** Folded state is saved this often, so that a load folds at most as many events; large state less often. */
const SAVE_EVERY = 12;
const SAVED_BYTES_PER_EVENT = 16_384;
/** About ten seconds: of many that write without pause, one may lose the race very often. */
const MAX_ATTEMPTS = 400;
const ATTEMPTS_UNTIL_A_CHECK = 30;

export function createExecutor(options: ExecutorOptions): Executor {
  const { store, loader, random } = options;
  const turns = new Map<string, Promise<Done>>();

  /** Commands of one process on one run take turns: of many that decide on one version at once, only one can succeed. */
  function execute(run: string, command: Command, identity: Identity): Promise<Done> {
    const before = turns.get(run);
    const work = () => executeNow(run, command, identity);
    const mine = before ? before.then(work, work) : work();
    turns.set(run, mine);
    const leave = (): void => {
      if (turns.get(run) === mine) turns.delete(run);
    };
    mine.then(leave, leave);
    return mine;
  }

  async function executeNow(run: string, command: Command, identity: Identity): Promise<Done> {
    if (identity.key !== null && !identity.isKeyNew) {
      const before = await store.journal.recorded(run, identity.key);
      if (before.length > 0) return replay(loader, run, before, command, identity.key);
    }
    // The first try may use remembered state: the append refuses if that is old, and a refusal or a no-op decided on it
    // is decided again on fresh state.
    let fresh = false;
    let histories = 1;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const remembered = fresh ? undefined : loader.remembered(run);
      fresh = remembered === undefined;
      const loaded = remembered ?? (await loader.refresh(run));
      if (command.type !== 'run.open') await loader.mustExist(run, loaded.state);
      const tried = await tryOnce(options, { run, command, identity, loaded, fresh }).catch((thrown: unknown) =>
        asFault(thrown),
      );
      if (tried instanceof Fault) {
        if (fresh || isOfStore(tried)) throw withRewound(tried, loader.unrecorded(run));
      } else if (typeof tried === 'object' && (fresh || tried.events.length > 0)) return tried;
      if (tried === 'other_history' && histories++ > 1) throw await replacedAgain(loader, run);
      fresh = true;
      if (attempt % ATTEMPTS_UNTIL_A_CHECK === ATTEMPTS_UNTIL_A_CHECK - 1) await mustBeWhole(store, loader, run);
      if (attempt > 1 && tried === 'moved_on') await pause(random() * Math.min(50, 2 ** attempt));
    }
    throw new Fault('conflict', `Run ${quoted(run)} is being changed by others without pause; nothing was recorded.`, {
      hints: ['Try again.'],
      data: { run, attempts: MAX_ATTEMPTS },
    });
  }

  return { execute };
}

/** No look at fresh state changes these, and a write that may have been recorded is not repeated. */
const isOfStore = ({ code }: Fault): boolean =>
  ['internal', 'unavailable', 'corrupt', 'newer_schema', 'read_only'].includes(code);

interface Attempt {
  run: string;
  command: Command;
  identity: Identity;
  loaded: Loaded;
  /** Whether `loaded` was just read from the store. */
  fresh: boolean;
}

async function tryOnce(options: ExecutorOptions, attempt: Attempt): Promise<Done | 'moved_on' | 'other_history'> {
  const { store, loader, describe } = options;
  const { run, command, identity, loaded, fresh } = attempt;
  const { state } = loaded;
  const liveness = await readLiveness(store.presence, options.probe, watchedIn(state), options.now(), fresh);
  const references = [...(identity.session ? [identity.session] : []), ...referencesOf(command)];
  const rows = await recallFor(store, run, loaded, references);
  const { key, ...rest } = identity;
  let decided = decide(state, command, { ...liveness, ...rest, recall: rows.recall });
  if (describe && decided.drafts.some((draft) => draft.type === 'snapshot.taken')) {
    const { describeSnapshots } = await import('./snapshots.ts');
    decided = await describeSnapshots(decided, { journal: store.journal, run, state, at: liveness.now }, describe);
  }
  if (options.here) decided = { ...decided, drafts: located(decided.drafts, options.here) };
  const rewound = loader.unrecorded(run);
  if (decided.drafts.length === 0)
    return { events: [], state, changed: [], session: decided.session, replayed: false, rewound };
  if (rewound.length > 0) decided = { ...decided, drafts: [...decided.drafts, ...rewound.map(rewoundDraft)] };
  await rows.fetch(referencesIn(decided.drafts, state));
  const prepared = prepare(run, loaded, decided, liveness.now, key, rows);
  if (command.type === 'text.erase') {
    // Loaded when it is needed: it needs the schemas of all events.
    const { erasedBatch } = await import('./erase.ts');
    const { batch, state: erased } = await erasedBatch(store, run, prepared.batch, pendingRows(rows.pending()).keys());
    prepared.batch = batch;
    prepared.next = { ...prepared.next, state: erased, savedVersion: erased.version, pending: [] };
  }
  if (prepared.touches.some(({ kind }) => kind === 'value')) {
    const { changedValues } = await import('./values.ts');
    prepared.batch.values = await changedValues(store, run, command, prepared.touches);
  }
  const appended = await store.journal.append([prepared.batch]);
  if (appended.outcome === 'conflict') return appended.reason;
  if (appended.outcome === 'replayed') return replay(loader, run, appended.events, command, key ?? '');
  loader.remember(run, prepared.next);
  loader.settle(rewound);
  return {
    events: prepared.events,
    state: prepared.next.state,
    session: decided.session,
    replayed: false,
    rewound,
    get changed() {
      return changesOf(prepared.touches);
    },
  };
}

async function replay(loader: Loader, run: string, events: Event[], command: Command, key: string): Promise<Done> {
  // Loaded when it is needed: few commands are repetitions.
  const { mustBeSame } = await import('./replay.ts');
  mustBeSame(command, events, key);
  const { state } = await loader.refresh(run);
  const rewound = loader.unrecorded(run);
  return { events, state, changed: [], session: events.at(-1)?.session ?? null, replayed: true, rewound };
}

/** The store was read again, and is another one again. */
async function replacedAgain(loader: Loader, run: string): Promise<Fault> {
  await loader.refresh(run);
  const rewound = loader.rewound(run);
  const lost = rewound.map(describeRewound).join(' ');
  return rewoundFault(rewound, `The store was replaced while the command ran; nothing was recorded. ${lost}`.trim());
}

/** A run that lost its last events refuses every append as if another process had been faster. */
async function mustBeWhole(store: Store, loader: Loader, run: string): Promise<void> {
  const [head] = await store.journal.heads({ run });
  const { state, hash } = await loader.refresh(run);
  const { version } = state;
  if (!head || head.version < version || (head.version === version && head.hash === hash)) return;
  throw new Fault(
    'corrupt',
    `Run ${quoted(run)} was at event ${head.version}, and its journal ends at ${version} or with another event.`,
    {
      hints: ['Nothing was recorded. `holdfast doctor` says what is damaged.'],
      data: { run, version, expected: head.version },
    },
  );
}

/** Rows that folded state does not hold. Sessions are followed to those that continue them. */
async function recallFor(store: Store, run: string, { state, pending }: Loaded, references: readonly string[]) {
  const rows = openRows(store, run, pending);
  await rows.fetch(references.filter((reference) => !state.sessions.has(reference)));
  for (const reference of references) {
    // A session that came back under a new number is still called by its old one.
    for (let next = rows.recall('session', reference)?.continuedBy, hops = 0; next && hops < 16; hops++) {
      if (state.sessions.has(next)) break;
      await rows.fetch([next]);
      next = rows.recall('session', next)?.continuedBy;
    }
  }
  return rows;
}

interface Prepared {
  events: Event[];
  touches: Touch[];
  batch: Batch;
  next: Loaded;
}

/** What to write, and the state after it; the state before it is not changed. */
function prepare(
  run: string,
  loaded: Loaded,
  decided: Decided,
  at: string,
  key: string | null,
  rows: OpenRows,
): Prepared {
  const { actor, evidence, session, drafts } = decided;
  const head = { version: loaded.state.version, hash: loaded.hash };
  const events = seal(drafts, { run, at, actor, evidence, session, key }, head);
  const state = forkState(loaded.state);
  const touches = events.flatMap((event) => rows.fold(state, event));
  const last = events.at(-1) as Event;
  const every = Math.min(SAVE_EVERY_AT_MOST, Math.max(SAVE_EVERY, loaded.savedBytes / SAVED_BYTES_PER_EVENT));
  const saved = last.version - loaded.savedVersion >= every ? serializeState(state) : null;
  const pending = rows.pending();
  const save = saved !== null || mustSave(touches);
  return {
    events,
    touches,
    next: {
      state,
      hash: last.hash,
      savedVersion: saved === null ? loaded.savedVersion : last.version,
      savedBytes: saved?.length ?? loaded.savedBytes,
      pending: save ? [] : pending,
    },
    batch: {
      run,
      expected: head.version,
      events,
      ...(isShownInHead(touches, loaded.state, state) ? { head: headOf(state) } : {}),
      rows: save ? storedRows(run, pendingRows(pending).values()) : [],
      ...(saved === null ? {} : { cache: { format: STATE_FORMAT, state: saved } }),
    },
  };
}

/** Kinds of rows that no column of a run's head shows, apart from the names of changed files. */
const notInHead: ReadonlySet<string> = new Set<Touch['kind']>(['file', 'note', 'usage', 'value']);

function isShownInHead(touches: readonly Touch[], before: State, after: State): boolean {
  const { tally, plan, last } = after;
  if (plan !== before.plan || touches.some((touch) => !notInHead.has(touch.kind) && !isQuiet(touch, before)))
    return true;
  const isResting = ({ sessions }: State): boolean | undefined => sessions.get(last.session?.session ?? '')?.isResting;
  if (JSON.stringify(last) !== JSON.stringify(before.last) || isResting(before) !== isResting(after)) return true;
  const { tools, changed, declared } = before.tally;
  const hasNewNames = tally.changed.some((name) => !changed.includes(name));
  return hasNewNames || tally.declared !== declared || (tools < TRIVIAL_TOOLS && tally.tools >= TRIVIAL_TOOLS);
}

/** Fields of a step that a checkpoint changes, and no head shows. */
const quietFields: ReadonlySet<string> = new Set<keyof Step>(['checkpoint', 'artifacts']);

function isQuiet(touch: Touch, { steps }: State): boolean {
  if (touch.kind !== 'step' || touch.after === null) return false;
  const before = steps.get(touch.id);
  const isSame = (field: keyof Step): boolean => quietFields.has(field) || touch.after?.[field] === before?.[field];
  return before !== undefined && (Object.keys(touch.after) as (keyof Step)[]).every(isSame);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
