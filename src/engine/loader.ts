import { Fault, quoted } from '../core/fault.ts';
import { evolve } from '../core/fold/evolve.ts';
import type { State } from '../core/fold/state.ts';
import { deserializeState, emptyState, forkState, STATE_FORMAT } from '../core/fold/state-tables.ts';
import { GENESIS } from '../core/journal/chain.ts';
import type { Event } from '../core/journal/event.ts';
import type { Cached } from '../store/projection.ts';
import type { Store } from '../store/store.ts';
import { eventPages } from './event-pages.ts';
import { openRows, type Pending, referencesIn } from './pending-rows.ts';

/** A run as this engine knows it; others may have recorded more. Never changed, only replaced: commands run side by side. */
export interface Loaded {
  state: State;
  hash: string;
  savedVersion: number;
  savedBytes: number;
  pending: Pending;
}

/** The folded states of runs. */
export interface Loader {
  /** The run as of the last command or read of this engine, without a look at the store. */
  remembered(run: string): Loaded | undefined;
  remember(run: string, loaded: Loaded): void;
  /** The run with all that was recorded since. */
  refresh(run: string): Promise<Loaded>;
  /** The current state, or the state after an event. */
  load(run: string, at?: number): Promise<State>;
  /** Fault `not_found`: the run has no events. */
  mustExist(run: string, state: State): State;
}

/** Shorter runs may have nothing saved, and are folded quickly. */
export const SAVE_EVERY_AT_MOST = 256;
const REMEMBERED_RUNS = 200;

export function createLoader(store: Store): Loader {
  const known = new Map<string, Loaded>();

  /** A process that serves many runs remembers those used last. */
  function remember(run: string, loaded: Loaded): void {
    known.delete(run);
    known.set(run, loaded);
    if (known.size > REMEMBERED_RUNS) known.delete(known.keys().next().value as string);
  }

  async function refresh(run: string): Promise<Loaded> {
    let loaded = known.get(run) ?? (await firstLoad(store, run));
    for await (const page of eventPages(store.journal, run, { after: loaded.state.version })) {
      loaded = await foldPage(store, run, loaded, page);
    }
    remember(run, loaded);
    return loaded;
  }

  async function load(run: string, at?: number): Promise<State> {
    if (at === undefined) return mustExist(run, (await refresh(run)).state);
    const state = emptyState();
    for await (const page of eventPages(store.journal, run, { upTo: at })) {
      for (const event of page) evolve(state, event);
    }
    return mustExist(run, state);
  }

  function mustExist(run: string, state: State): State {
    if (state.run) return state;
    throw noSuchRun(run, store.place);
  }

  return { remembered: (run) => known.get(run), remember, refresh, load, mustExist };
}

export function noSuchRun(run: string, place: string): Fault {
  return new Fault('not_found', `There is no run ${quoted(run)} in ${place}.`, {
    hints: ['See the runs with `holdfast runs`, or open one with `holdfast init`.'],
    data: { run },
  });
}

async function firstLoad(store: Store, run: string): Promise<Loaded> {
  const cached = (await store.projection.cached(run, STATE_FORMAT)) ?? (await rebuildOnce(store, run));
  if (!cached) return { state: emptyState(), hash: GENESIS, savedVersion: 0, savedBytes: 0, pending: [] };
  const { version, hash, state } = cached;
  return { state: deserializeState(state), hash, savedVersion: version, savedBytes: state.length, pending: [] };
}

/**
 * Rebuilds derived data once after an upgrade: this version cannot use what another one saved, and every command would
 * read the whole journal until one of them writes.
 */
async function rebuildOnce(store: Store, run: string): Promise<Cached | null> {
  const [head] = await store.journal.heads({ run });
  if (!head || head.version <= SAVE_EVERY_AT_MOST) return null;
  const { tryRebuild } = await import('./audit.ts');
  // If the journal is read-only, or others write to it, this command folds the events for itself.
  const rebuilt = await tryRebuild(store, run).catch(() => null);
  return rebuilt && store.projection.cached(run, STATE_FORMAT);
}

async function foldPage(store: Store, run: string, loaded: Loaded, events: readonly Event[]): Promise<Loaded> {
  const rows = openRows(store, run, loaded.pending);
  await rows.fetch(referencesIn(events, loaded.state));
  const state = forkState(loaded.state);
  for (const event of events) rows.fold(state, event);
  return { ...loaded, state, hash: (events.at(-1) as Event).hash, pending: rows.pending() };
}
