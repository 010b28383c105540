import { evolve } from '../core/fold/evolve.ts';
import type { State } from '../core/fold/state.ts';
import { deserializeState, emptyState, forkState, STATE_FORMAT } from '../core/fold/state-tables.ts';
import { GENESIS } from '../core/journal/chain.ts';
import type { Event } from '../core/journal/event.ts';
import type { Cached } from '../store/projection.ts';
import type { Store } from '../store/store.ts';
import { eventPages } from './event-pages.ts';
import { openRows, type Pending, referencesIn } from './pending-rows.ts';
import { describeRewound, findRewound, type Mark, type Rewound, rewoundFault } from './rewound.ts';

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
  /** Fault `not_found`: the run has no events; `rewound`: it had some. */
  mustExist(run: string, state: State): Promise<State>;
  /** What was known here and is gone from the store, as far as it is not recorded in the journal. */
  unrecorded(run: string): readonly Rewound[];
  /** Called when the journal has them. */
  settle(rewound: readonly Rewound[]): void;
  /** All losses this process noticed, the last ones if there are many. */
  rewound(run?: string): readonly Rewound[];
  onRewound(listener: (rewound: Rewound) => void): void;
}

/** Shorter runs may have nothing saved, and are folded quickly. */
export const SAVE_EVERY_AT_MOST = 256;
const REMEMBERED_RUNS = 200;
const MARKS_PER_RUN = 64;
const NOTICED_AT_MOST = 100;

export function createLoader(store: Store): Loader {
  const known = new Map<string, Loaded>();
  /** Events of the known runs that were read or recorded here, in version order. */
  const trails = new Map<string, readonly Mark[]>();
  const looks = new Map<string, Promise<Loaded>>();
  const listeners = new Set<(rewound: Rewound) => void>();
  let noticed: Rewound[] = [];
  let unrecorded: Rewound[] = [];

  /** A process that serves many runs remembers those used last. */
  function remember(run: string, loaded: Loaded): void {
    known.delete(run);
    known.set(run, loaded);
    trails.set(run, withMark(trails.get(run) ?? [], loaded));
    if (known.size <= REMEMBERED_RUNS) return;
    const oldest = known.keys().next().value as string;
    known.delete(oldest);
    trails.delete(oldest);
  }

  /** Reads that are asked for at the same moment share one look at the store. */
  function refresh(run: string): Promise<Loaded> {
    const shared = looks.get(run) ?? refreshNow(run);
    if (looks.has(run)) return shared;
    looks.set(run, shared);
    // Not `queueMicrotask`, which compiles a dozen functions of Node.
    Promise.resolve().then(() => looks.delete(run));
    return shared;
  }

  async function refreshNow(run: string): Promise<Loaded> {
    const before = known.get(run);
    let loaded = before ? await catchUp(store, run, before) : null;
    if (before && !loaded) await forget(run);
    loaded ??= (await catchUp(store, run, await firstLoad(store, run))) ?? (await catchUp(store, run, nothing()));
    remember(run, loaded as Loaded);
    return loaded as Loaded;
  }

  /** The store went back or was replaced: nothing that was read from it before counts any more. */
  async function forget(run: string): Promise<void> {
    const trail = trails.get(run) ?? [];
    const rewound = trail.length > 0 ? await findRewound(store.journal, run, trail) : null;
    // Another read of this process may have noticed it meanwhile.
    if (trails.get(run) !== trail) return;
    known.delete(run);
    trails.delete(run);
    if (!rewound) return;
    noticed = [...noticed, rewound].slice(-NOTICED_AT_MOST);
    unrecorded = [...unrecorded, rewound].slice(-NOTICED_AT_MOST);
    for (const listener of listeners) listener(rewound);
  }

  async function load(run: string, at?: number): Promise<State> {
    if (at === undefined) return mustExist(run, (await refresh(run)).state);
    const state = emptyState();
    for await (const page of eventPages(store.journal, run, { upTo: at })) {
      for (const event of page) evolve(state, event);
    }
    return mustExist(run, state);
  }

  async function mustExist(run: string, state: State): Promise<State> {
    if (state.run) return state;
    const lost = noticed.filter((one) => one.run === run);
    const [last] = lost.slice(-1);
    if (last) throw rewoundFault(lost, `${describeRewound(last)} Nothing of the run is there.`);
    const { missingRun } = await import('./drop.ts');
    throw await missingRun(store.journal, run, store.place);
  }

  return {
    remembered: (run) => known.get(run),
    remember,
    refresh,
    load,
    mustExist,
    unrecorded: (run) => unrecorded.filter((one) => one.run === run),
    settle(rewound) {
      unrecorded = unrecorded.filter((one) => !rewound.includes(one));
    },
    rewound: (run) => noticed.filter((one) => run === undefined || one.run === run),
    onRewound: (listener) => void listeners.add(listener),
  };
}

async function firstLoad(store: Store, run: string): Promise<Loaded> {
  const cached = (await store.projection.cached(run, STATE_FORMAT)) ?? (await rebuildOnce(store, run));
  if (!cached) return nothing();
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

const nothing = (): Loaded => ({
  state: emptyState(),
  hash: GENESIS,
  savedVersion: 0,
  savedBytes: 0,
  pending: [],
});

/** Folds what was recorded since; null if the event it continues is not in the store (any more). */
async function catchUp(store: Store, run: string, before: Loaded): Promise<Loaded | null> {
  const { version } = before.state;
  let loaded = before;
  let isThere = version === 0;
  for await (const page of eventPages(store.journal, run, { after: Math.max(0, version - 1) })) {
    const news = isThere ? page : page.slice(1);
    if (!isThere && (page[0]?.version !== version || page[0].hash !== before.hash)) return null;
    isThere = true;
    if (news.length > 0) loaded = await foldPage(store, run, loaded, news);
  }
  return isThere ? loaded : null;
}

function withMark(trail: readonly Mark[], { state, hash }: Loaded): readonly Mark[] {
  const { version, run } = state;
  if (version <= (trail.at(-1)?.version ?? 0)) return trail;
  return [...trail.slice(1 - MARKS_PER_RUN), { version, hash, at: run?.updatedAt ?? '' }];
}

async function foldPage(store: Store, run: string, loaded: Loaded, events: readonly Event[]): Promise<Loaded> {
  const rows = openRows(store, run, loaded.pending);
  await rows.fetch(referencesIn(events, loaded.state));
  const state = forkState(loaded.state);
  for (const event of events) rows.fold(state, event);
  return { ...loaded, state, hash: (events.at(-1) as Event).hash, pending: rows.pending() };
}
