import { GENESIS, seal } from '../core/chain.ts';
import { type Change, changesOf } from '../core/changed.ts';
import { type Command, referencesOf } from '../core/command.ts';
import { type Circumstances, type Decided, decide } from '../core/decide.ts';
import type { Vitals } from '../core/derive.ts';
import type { Actor, Draft, Event, Owner } from '../core/event.ts';
import { evolve } from '../core/evolve.ts';
import { asFault, Fault, quoted } from '../core/fault.ts';
import { recordsOf } from '../core/record.ts';
import { deserializeState, emptyState, forkState, STATE_FORMAT, type State, serializeState } from '../core/state.ts';
import type { RowKind, Rows, Touch } from '../core/touch.ts';
import type { Batch, Store, StoredRecord } from '../store/store.ts';
import { headOf, storedRecords } from './derived.ts';

/** How a command runs: load, decide, append at the version that was read, and again if somebody was quicker. */
export interface Engine {
  readonly store: Store;
  now(): string;
  /** Runs one command on a run. */
  execute(run: string, command: Command, caller: Caller): Promise<Done>;
  /** The folded state of a run as it stands, or as it stood after an event. */
  load(run: string, at?: number): Promise<State>;
  /** What is known about the sessions of a run beside the journal. */
  vitals(state: State): Promise<Vitals>;
}

export interface Caller {
  actor: Actor;
  session: string | null;
  /** With a key the same command is recorded once, however often it comes. */
  key: string | null;
  /** The process that owns the sessions this caller opens, where that is known. */
  owner?: Owner | undefined;
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
}

/** A run as this engine knows it; others may have gone on since. */
interface Loaded {
  state: State;
  hash: string;
  savedVersion: number;
  savedBytes: number;
}

const PAGE = 2000;
/** Folded state is saved this often, so that a load folds at most as many events; large state less often. */
const SAVE_EVERY = 12;
const SAVE_EVERY_AT_MOST = 256;
const SAVED_BYTES_PER_EVENT = 4096;
const MAX_ATTEMPTS = 60;

export function createEngine({ store, now, probe, random }: EngineOptions): Engine {
  const known = new Map<string, Loaded>();

  async function refresh(run: string): Promise<Loaded> {
    let loaded = known.get(run);
    if (!loaded) {
      const cached = await store.cached(run, STATE_FORMAT);
      loaded = cached
        ? {
            state: deserializeState(cached.state),
            hash: cached.hash,
            savedVersion: cached.version,
            savedBytes: cached.state.length,
          }
        : { state: emptyState(), hash: GENESIS, savedVersion: 0, savedBytes: 0 };
    }
    for (;;) {
      const events = await store.read(run, loaded.state.version, PAGE);
      for (const event of events) {
        evolve(loaded.state, event);
        loaded.hash = event.hash;
      }
      if (events.length < PAGE) break;
    }
    known.set(run, loaded);
    return loaded;
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

  async function vitals(state: State): Promise<Vitals> {
    const beats = state.sessions.size > 0 && state.run ? await store.beats(state.run.id) : new Map<string, string>();
    const owners = new Map<string, 'alive' | 'dead'>();
    for (const session of state.sessions.values()) {
      const verdict = session.owner ? probe(session.owner) : undefined;
      if (verdict) owners.set(session.id, verdict);
    }
    return { now: now(), beats, owners };
  }

  async function execute(run: string, command: Command, caller: Caller): Promise<Done> {
    if (caller.key !== null) {
      const before = await store.recorded(run, caller.key);
      if (before.length > 0) return replay(await refresh(run), before);
    }
    // The first try may go by what this engine remembers: the append refuses if that is old, and a refusal or a no-op
    // that it leads to is only believed after a look.
    let fresh = !known.has(run);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const loaded = fresh || !known.has(run) ? await refresh(run) : (known.get(run) as Loaded);
      if (command.type !== 'run.open') mustExist(run, loaded.state);
      const tried = await tryOnce(run, loaded, command, caller).catch((thrown: unknown) => asFault(thrown));
      if (tried instanceof Fault) {
        if (fresh || tried.code === 'internal') throw tried;
      } else if (tried !== 'conflict' && (fresh || tried.events.length > 0)) return tried;
      fresh = true;
      if (attempt > 1 && tried === 'conflict') await pause(random() * Math.min(50, 2 ** attempt));
    }
    throw new Fault('conflict', `Run ${quoted(run)} is being changed by others without pause; nothing was recorded.`, {
      hints: ['Try again.'],
      data: { run, attempts: MAX_ATTEMPTS },
    });
  }

  async function tryOnce(run: string, loaded: Loaded, command: Command, caller: Caller): Promise<Done | 'conflict'> {
    const { state } = loaded;
    const seen = await vitals(state);
    const rows = await recallRows(run, state, [...(caller.session ? [caller.session] : []), ...referencesOf(command)]);
    const { actor, session, owner } = caller;
    const circumstances: Circumstances = { ...seen, actor, session, owner, recall: rows.find };
    const decided = decide(state, command, circumstances);
    if (decided.drafts.length === 0)
      return { events: [], state, changed: [], session: decided.session, replayed: false };
    await rows.fetch(draftReferences(decided.drafts).filter((id) => !state.sessions.has(id) && !state.items.has(id)));
    const prepared = prepare(run, loaded, decided, seen.now, caller.key, rows.find);
    if (command.type === 'text.erase') {
      // Loaded when it is needed: it brings the schemas of all events with it.
      const { erasedBatch } = await import('./erase.ts');
      const { batch, state: erased } = await erasedBatch(store, run, prepared.batch);
      prepared.batch = batch;
      prepared.next = { ...prepared.next, state: erased, savedVersion: erased.version };
    }
    const appended = await store.append(prepared.batch);
    if (appended.outcome === 'conflict') return 'conflict';
    if (appended.outcome === 'replayed') return replay(await refresh(run), appended.events);
    known.set(run, prepared.next);
    const changed = changesOf(prepared.touches);
    return { events: prepared.events, state: prepared.next.state, changed, session: decided.session, replayed: false };
  }

  function replay(loaded: Loaded, events: Event[]): Done {
    return { events, state: loaded.state, changed: [], session: events.at(-1)?.session ?? null, replayed: true };
  }

  /** Records that folded state does not hold. Sessions are followed to those that went on in their place. */
  async function recallRows(run: string, state: State, references: readonly string[]) {
    const found: StoredRecord[] = [];
    const fetch = async (wanted: readonly string[]): Promise<void> => {
      const missing = wanted.filter(
        (reference) => !found.some((row) => row.id === reference || row.alias === reference),
      );
      if (missing.length > 0) found.push(...(await store.recall(run, missing)));
    };
    await fetch(references.filter((reference) => !state.sessions.has(reference)));
    for (let hops = 0; hops < 16; hops++) {
      const onward = found
        .map((row) => (row.kind === 'session' ? (row.doc as Rows['session']).continuedBy : null))
        .filter((id) => id !== null)
        .filter((id) => !state.sessions.has(id) && !found.some((row) => row.id === id));
      if (onward.length === 0) break;
      await fetch(onward);
    }
    const find = <K extends RowKind>(kind: K, reference: string): Rows[K] | null => {
      const row = found.find((one) => one.kind === kind && (one.id === reference || one.alias === reference));
      return row ? (row.doc as Rows[K]) : null;
    };
    return { find, fetch };
  }

  return { store, now, execute, load, vitals };
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
  recall: Circumstances['recall'],
): Prepared {
  const { actor, session, drafts } = decided;
  const head = { version: loaded.state.version, hash: loaded.hash };
  const events = seal(drafts, { run, at, actor, session, key }, head);
  const state = forkState(loaded.state);
  const touched = events.map((event) => ({ event, touches: evolve(state, event, recall) }));
  const last = events.at(-1) as Event;
  const every = Math.min(SAVE_EVERY_AT_MOST, Math.max(SAVE_EVERY, loaded.savedBytes / SAVED_BYTES_PER_EVENT));
  const saved = last.version - loaded.savedVersion >= every ? serializeState(state) : null;
  return {
    events,
    touches: touched.flatMap(({ touches }) => touches),
    next: {
      state,
      hash: last.hash,
      savedVersion: saved === null ? loaded.savedVersion : last.version,
      savedBytes: saved?.length ?? loaded.savedBytes,
    },
    batch: {
      run,
      expected: head.version,
      events,
      head: headOf(state),
      records: storedRecords(run, recordsOf(touched)),
      ...(saved === null ? {} : { cache: { format: STATE_FORMAT, state: saved } }),
    },
  };
}

/** Rows that an event changes although folded state may no longer hold them. */
function draftReferences(drafts: readonly Draft[]): string[] {
  return drafts.flatMap((draft) => {
    switch (draft.type) {
      case 'session.started':
        return draft.body.continues ? [draft.body.continues] : [];
      case 'decision.made':
        return draft.body.supersedes ? [draft.body.supersedes] : [];
      case 'decision.retracted':
      case 'item.settled':
        return [draft.body.id];
      default:
        return [];
    }
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
