import { asFault, Fault, quoted } from '../core/fault.ts';
import { evolve } from '../core/fold/evolve.ts';
import type { Session, State } from '../core/fold/state.ts';
import { deserializeState, emptyState, forkState, STATE_FORMAT, serializeState } from '../core/fold/state-tables.ts';
import type { Touch } from '../core/fold/touch.ts';
import { GENESIS, seal } from '../core/journal/chain.ts';
import { type Command, referencesOf } from '../core/journal/command.ts';
import type { Event, Owner } from '../core/journal/event.ts';
import { type Circumstances, type Decided, decide } from '../core/rules/decide.ts';
import { addMs } from '../core/time.ts';
import { type Change, changesOf } from '../core/views/changed.ts';
import type { Liveness } from '../core/views/plan.ts';
import type { Actor, Scope } from '../core/words.ts';
import type { Batch, Cached, RowFilter, Store, StoredRow } from '../store/store.ts';
import { breathe } from './breathe.ts';
import { headOf, storedRows } from './head.ts';
import {
  fitsFilter,
  fitsWords,
  mustSave,
  type OpenRows,
  openRows,
  overlay,
  type Pending,
  pendingRows,
  referencesIn,
  waitingRows,
} from './pending-rows.ts';
import type { DescribeSnapshot } from './snapshots.ts';

/** How a command runs: load, decide, append at the version that was read, and again if somebody was quicker. */
export interface Engine {
  readonly store: Store;
  now(): string;
  /**
   * Waits until something was recorded since `seen`, at most so long, and gives what to pass as `seen` next time. What is
   * heard in between is not lost; a hint may be, so whoever must miss nothing looks after every wait.
   */
  news(ms: number, seen?: number): Promise<number>;
  /** Runs one command on a run. */
  execute(run: string, command: Command, identity: Identity): Promise<Done>;
  /** The folded state of a run as it stands, or as it stood after an event. */
  load(run: string, at?: number): Promise<State>;
  /** What is known about the sessions of a run beside the journal. */
  liveness(state: State): Promise<Liveness>;
  /** Records by id or alias, as they stand after the last event. */
  recall(run: string, references: readonly string[]): Promise<StoredRow[]>;
  /** Records of a kind, the last touched first, as they stand after the last event. */
  rows(run: string, filter: RowFilter): Promise<StoredRow[]>;
  /** Records whose text has all the words, the last touched first. */
  search(runs: readonly string[], words: readonly string[], limit: number): Promise<StoredRow[]>;
}

export interface Identity {
  actor: Actor;
  session: string | null;
  /** With a key the same command is recorded once, however often it comes. */
  key: string | null;
  /** The process that owns the sessions this caller opens, where that is known. */
  owner?: Owner | undefined;
  /** What the caller's token allows, where one proves who it is. */
  scope?: Scope | undefined;
  /** The conversation of a client the caller is in, where that is known. */
  client?: Session['client'] | undefined;
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
}

export interface EngineOptions {
  store: Store;
  /** The time, as an ISO string in UTC. */
  now: () => string;
  /** Whether a process that owns a session lives; undefined when that cannot be told from here. */
  probe: (owner: Owner) => 'alive' | 'dead' | undefined;
  /** Between 0 and 1, for the wait before another try. */
  random: () => number;
  /** Says what a snapshot holds at the moment it is recorded; without it, it is recorded with its words only. */
  describe?: DescribeSnapshot | undefined;
}

/** A run as this engine knows it; others may have gone on since. Never changed, only replaced: commands run side by side. */
interface Loaded {
  state: State;
  hash: string;
  savedVersion: number;
  savedBytes: number;
  pending: Pending;
}

const PAGE = 2000;
/** Folded state is saved this often, so that a load folds at most as many events; large state less often. */
const SAVE_EVERY = 12;
const SAVE_EVERY_AT_MOST = 256;
const SAVED_BYTES_PER_EVENT = 16_384;
/** About ten seconds: of many that write without pause, one may lose the race very often. */
const MAX_ATTEMPTS = 400;
const ATTEMPTS_UNTIL_A_LOOK = 30;
const REMEMBERED_RUNS = 200;

export function createEngine({ store, now, probe, random, describe }: EngineOptions): Engine {
  const known = new Map<string, Loaded>();
  const turns = new Map<string, Promise<Done>>();
  let openedNews: Engine['news'] | undefined;

  /** A process that serves many runs remembers those that were used last. */
  function remember(run: string, loaded: Loaded): void {
    known.delete(run);
    known.set(run, loaded);
    if (known.size > REMEMBERED_RUNS) known.delete(known.keys().next().value as string);
  }

  async function refresh(run: string): Promise<Loaded> {
    let loaded = known.get(run) ?? (await firstLoad(run));
    for (let more = true; more; ) {
      const events = await store.read(run, loaded.state.version, PAGE);
      more = events.length === PAGE;
      if (events.length > 0) loaded = await foldOn(run, loaded, events);
      if (more) await breathe();
    }
    remember(run, loaded);
    return loaded;
  }

  async function firstLoad(run: string): Promise<Loaded> {
    const cached = (await store.cached(run, STATE_FORMAT)) ?? (await makeAnew(run));
    if (!cached) return { state: emptyState(), hash: GENESIS, savedVersion: 0, savedBytes: 0, pending: [] };
    const { version, hash, state } = cached;
    return {
      state: deserializeState(state),
      hash,
      savedVersion: version,
      savedBytes: state.length,
      pending: [],
    };
  }

  /**
   * What another version of the program derived is of no use to this one. It is made anew once: else every command would
   * read the whole journal until one of them writes. A run that is short has nothing saved yet.
   */
  async function makeAnew(run: string): Promise<Cached | null> {
    const [head] = await store.heads({ run });
    if (!head || head.version <= SAVE_EVERY_AT_MOST) return null;
    const { tryRebuild } = await import('./audit.ts');
    // Where the journal can only be read, or others write, it is folded by this command for itself.
    const made = await tryRebuild(store, run).catch(() => null);
    return made && store.cached(run, STATE_FORMAT);
  }

  async function foldOn(run: string, loaded: Loaded, events: readonly Event[]): Promise<Loaded> {
    const rows = openRows(store, run, loaded.pending);
    await rows.fetch(referencesIn(events, loaded.state));
    const state = forkState(loaded.state);
    for (const event of events) rows.fold(state, event);
    return { ...loaded, state, hash: (events.at(-1) as Event).hash, pending: rows.pending() };
  }

  async function load(run: string, at?: number): Promise<State> {
    if (at === undefined) return mustExist(run, (await refresh(run)).state);
    const state = emptyState();
    while (state.version < at) {
      const events = await store.read(run, state.version, Math.min(PAGE, at - state.version));
      for (const event of events) evolve(state, event);
      if (events.length === 0) break;
    }
    return mustExist(run, state);
  }

  function mustExist(run: string, state: State): State {
    if (state.run) return state;
    throw new Fault('not_found', `There is no run ${quoted(run)} in ${store.place}.`, {
      hints: ['See the runs with `holdfast runs`, or open one with `holdfast init`.'],
      data: { run },
    });
  }

  async function vitals(state: State, exact = true): Promise<Liveness> {
    const at = now();
    const sessions = [...state.sessions.values()];
    // A heartbeat matters to a rule only where the last event is too long ago.
    const asked = exact ? sessions.length > 0 : sessions.some(({ seenAt, leaseMs }) => addMs(seenAt, leaseMs) <= at);
    const beats = asked && state.run ? await store.beats(state.run.id) : new Map<string, string>();
    // Asked of the system only for sessions a rule asks about: most commands ask about none.
    const owners = {
      get: (id: string) => {
        const owner = state.sessions.get(id)?.owner;
        return owner ? probe(owner) : undefined;
      },
    };
    return { now: at, beats, owners };
  }

  /** Commands of one process on one run take turns: of many that decide at once on one version, all but one work in vain. */
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
    if (identity.key !== null) {
      const before = await store.recorded(run, identity.key);
      if (before.length > 0) return replay(run, before, command, identity.key);
    }
    // The first try may go by what this engine remembers: the append refuses if that is old, and a refusal or a no-op
    // that it leads to is only believed after a look.
    let fresh = !known.has(run);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const loaded = fresh || !known.has(run) ? await refresh(run) : (known.get(run) as Loaded);
      if (command.type !== 'run.open') mustExist(run, loaded.state);
      const tried = await tryOnce(run, loaded, command, identity, fresh).catch((thrown: unknown) => asFault(thrown));
      if (tried instanceof Fault) {
        if (fresh || tried.code === 'internal') throw tried;
      } else if (tried !== 'conflict' && (fresh || tried.events.length > 0)) return tried;
      fresh = true;
      if (attempt % ATTEMPTS_UNTIL_A_LOOK === ATTEMPTS_UNTIL_A_LOOK - 1) await mustBeWhole(run);
      if (attempt > 1 && tried === 'conflict') await pause(random() * Math.min(50, 2 ** attempt));
    }
    throw new Fault('conflict', `Run ${quoted(run)} is being changed by others without pause; nothing was recorded.`, {
      hints: ['Try again.'],
      data: { run, attempts: MAX_ATTEMPTS },
    });
  }

  /** A run whose last events are gone refuses every append as if somebody had been quicker. */
  async function mustBeWhole(run: string): Promise<void> {
    const [head] = await store.heads({ run });
    const { version } = (await refresh(run)).state;
    if (!head || head.version <= version) return;
    throw new Fault(
      'corrupt',
      `Run ${quoted(run)} stood at event ${head.version}, and its journal ends at ${version}.`,
      {
        hints: ['Nothing was recorded. `holdfast doctor` says what is damaged.'],
        data: { run, version, expected: head.version },
      },
    );
  }

  async function tryOnce(
    run: string,
    loaded: Loaded,
    command: Command,
    identity: Identity,
    exact: boolean,
  ): Promise<Done | 'conflict'> {
    const { state } = loaded;
    const seen = await vitals(state, exact);
    const rows = await recallFor(run, loaded, [
      ...(identity.session ? [identity.session] : []),
      ...referencesOf(command),
    ]);
    const { actor, session, owner, scope, client } = identity;
    const circumstances: Circumstances = { ...seen, actor, session, owner, scope, client, recall: rows.recall };
    let decided = decide(state, command, circumstances);
    if (describe && decided.drafts.some((draft) => draft.type === 'snapshot.taken')) {
      const { describeSnapshots } = await import('./snapshots.ts');
      decided = await describeSnapshots(decided, { store, run, state, at: seen.now }, describe);
    }
    if (decided.drafts.length === 0)
      return { events: [], state, changed: [], session: decided.session, replayed: false };
    await rows.fetch(referencesIn(decided.drafts, state));
    const prepared = prepare(run, loaded, decided, seen.now, identity.key, rows);
    if (command.type === 'text.erase') {
      // Loaded when it is needed: it brings the schemas of all events with it.
      const { erasedBatch } = await import('./erase.ts');
      const { batch, state: erased } = await erasedBatch(
        store,
        run,
        prepared.batch,
        pendingRows(rows.pending()).keys(),
      );
      prepared.batch = batch;
      prepared.next = { ...prepared.next, state: erased, savedVersion: erased.version, pending: [] };
    }
    const appended = await store.append(prepared.batch);
    if (appended.outcome === 'conflict') return 'conflict';
    if (appended.outcome === 'replayed') return replay(run, appended.events, command, identity.key ?? '');
    remember(run, prepared.next);
    return {
      events: prepared.events,
      state: prepared.next.state,
      session: decided.session,
      replayed: false,
      get changed() {
        return changesOf(prepared.touches);
      },
    };
  }

  async function replay(run: string, events: Event[], command: Command, key: string): Promise<Done> {
    // Loaded when it is needed: most commands are no repetition.
    const { mustBeSame } = await import('./replay.ts');
    mustBeSame(command, events, key);
    const { state } = await refresh(run);
    return { events, state, changed: [], session: events.at(-1)?.session ?? null, replayed: true };
  }

  /** Records that folded state does not hold. Sessions are followed to those that went on in their place. */
  async function recallFor(run: string, { state, pending }: Loaded, references: readonly string[]) {
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

  async function recall(run: string, references: readonly string[]): Promise<StoredRow[]> {
    const { pending } = await refresh(run);
    const wanted = new Set(references);
    return overlay(
      run,
      pending,
      await store.recall(run, references),
      (row) => wanted.has(row.id) || (row.alias !== null && wanted.has(row.alias)),
    );
  }

  async function records(run: string, filter: RowFilter): Promise<StoredRow[]> {
    const { pending } = await refresh(run);
    const limit = filter.limit + waitingRows(pending);
    return overlay(run, pending, await store.rows(run, { ...filter, limit }), fitsFilter(filter)).slice(
      0,
      filter.limit,
    );
  }

  async function search(runs: readonly string[], words: readonly string[], limit: number): Promise<StoredRow[]> {
    const found = await Promise.all(
      runs.map(async (run) => {
        const { pending } = await refresh(run);
        return overlay(run, pending, await store.search([run], words, limit + waitingRows(pending)), fitsWords(words));
      }),
    );
    return found
      .flat()
      .sort((a, b) => (a.at === b.at ? b.version - a.version : a.at < b.at ? 1 : -1))
      .slice(0, limit);
  }

  async function news(ms: number, seen?: number): Promise<number> {
    if (!openedNews) {
      const { openNews } = await import('./wait-for-events.ts');
      openedNews ??= openNews(store);
    }
    return openedNews(ms, seen);
  }

  return { store, now, news, execute, load, liveness: vitals, recall, rows: records, search };
}

interface Prepared {
  events: Event[];
  touches: Touch[];
  batch: Batch;
  next: Loaded;
}

/** What is to be written, and the state after it, without touching the state before it. */
function prepare(
  run: string,
  loaded: Loaded,
  decided: Decided,
  at: string,
  key: string | null,
  rows: OpenRows,
): Prepared {
  const { actor, session, drafts } = decided;
  const head = { version: loaded.state.version, hash: loaded.hash };
  const events = seal(drafts, { run, at, actor, session, key }, head);
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
      ...(touches.every((touch) => besideTheHead.has(touch.kind)) ? {} : { head: headOf(state) }),
      rows: save ? storedRows(run, pendingRows(pending).values()) : [],
      ...(saved === null ? {} : { cache: { format: STATE_FORMAT, state: saved } }),
    },
  };
}

/** Rows that are in no column of a run's head. */
const besideTheHead: ReadonlySet<string> = new Set<Touch['kind']>(['file', 'effect', 'note', 'usage']);

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
