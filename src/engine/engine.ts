import type { State } from '../core/fold/state.ts';
import type { Liveness } from '../core/views/liveness.ts';
import type { Presence, Tokens } from '../store/presence.ts';
import type { Store, StoreIdentity } from '../store/store.ts';
import { createExecutor, type Executor, type ExecutorOptions } from './execute.ts';
import { readLiveness, type Watched, watchedIn } from './liveness.ts';
import { createLoader, type Loader } from './loader.ts';
import type { Maintenance } from './maintenance.ts';
import { createJournalReader, type JournalReader } from './read-journal.ts';
import { createRowReader, type RowReader } from './read-rows.ts';
import { type Compared, compareKnown, type KnownEvent } from './rewound.ts';
import type { DescribeSnapshot, SnapshotMoment } from './snapshots.ts';

/** The journal as operations and interfaces use it: run commands, read what they gave, keep it in order. */
export interface Engine
  extends Executor,
    RowReader,
    JournalReader,
    Pick<Loader, 'load' | 'rewound' | 'onRewound'>,
    Pick<Presence, 'beat'> {
  /** Where the journal is, without secrets, for messages. */
  readonly place: string;
  readonly tokens: Tokens;
  /** Which database the journal is in. */
  identity(): Promise<StoreIdentity>;
  /** Which of the known events are not in the journal, and the present heads of their runs. */
  compareKnown(known: readonly KnownEvent[]): Promise<Compared>;
  now(): string;
  /** What is known about the sessions of a run beside the journal. */
  liveness(state: State): Promise<Liveness>;
  /**
   * Runs commands whose events are appended together, in one transaction, when `work` is done: all of them or none. `work`
   * gets an engine that shows what it recorded so far. A command that the rules refuse throws there as it would alone; if
   * `work` catches that, it is left out and the others stay. A key that was used before, or earlier in the same work, is
   * replayed. If another process records in one of the runs meanwhile, all of `work` is done again, so it must have no
   * effect of its own. Fault `conflict`: that happened too often; nothing was recorded, and smaller portions may succeed.
   * Text cannot be erased this way.
   */
  together<T>(work: (engine: Engine) => Promise<T>, options?: TogetherOptions): Promise<T>;
  /** The same for sessions that are known from the head of a run. */
  watch(run: string, sessions: readonly Watched[]): Promise<Liveness>;
  /** Loaded on first use: it needs the schemas of all events. */
  maintenance(): Promise<Maintenance>;
}

export interface EngineOptions extends Omit<ExecutorOptions, 'loader' | 'describe'> {
  store: Store;
  /** Writes the text of a snapshot from what this engine shows. */
  describe?: ((moment: SnapshotMoment, engine: Engine) => ReturnType<DescribeSnapshot>) | undefined;
}

/** What differs while commands are run together: reports of the past have their own time, at which nobody was asked. */
export type TogetherOptions = Partial<Pick<EngineOptions, 'now' | 'probe'>>;

export function createEngine(options: EngineOptions): Engine {
  const { store, now, probe, describe } = options;
  const loader = createLoader(store);
  const engine: Engine = {
    place: store.place,
    tokens: store.presence,
    now,
    ...createExecutor({ ...options, loader, describe: describe && ((moment) => describe(moment, engine)) }),
    ...createRowReader(store, loader),
    ...createJournalReader(store),
    identity: () => store.identity(),
    compareKnown: (known) => compareKnown(store.journal, known),
    load: loader.load,
    rewound: loader.rewound,
    onRewound: loader.onRewound,
    liveness: (state) => readLiveness(store.presence, probe, watchedIn(state), now(), true),
    watch: (run, sessions) => readLiveness(store.presence, probe, { run, sessions }, now(), true),
    beat: (run, session, at) => store.presence.beat(run, session, at),
    async together(work, overrides = {}) {
      const { appendTogether } = await import('./together.ts');
      const portion = { ...options, ...overrides };
      return appendTogether(options, (held) => work(createEngine({ ...portion, store: held })));
    },
    maintenance: async () => (await import('./maintenance.ts')).openMaintenance(store),
  };
  return engine;
}
