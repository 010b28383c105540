import type { State } from '../core/fold/state.ts';
import type { Liveness } from '../core/views/liveness.ts';
import type { Presence, Tokens } from '../store/presence.ts';
import type { Store } from '../store/store.ts';
import { createExecutor, type Executor, type ExecutorOptions } from './execute.ts';
import { readLiveness } from './liveness.ts';
import { createLoader, type Loader } from './loader.ts';
import type { Maintenance } from './maintenance.ts';
import { createJournalReader, type JournalReader } from './read-journal.ts';
import { createRowReader, type RowReader } from './read-rows.ts';

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
  now(): string;
  /** What is known about the sessions of a run beside the journal. */
  liveness(state: State): Promise<Liveness>;
  /** Loaded on first use: it needs the schemas of all events. */
  maintenance(): Promise<Maintenance>;
}

export interface EngineOptions extends Omit<ExecutorOptions, 'loader'> {
  store: Store;
}

export function createEngine(options: EngineOptions): Engine {
  const { store, now, probe } = options;
  const loader = createLoader(store);
  return {
    place: store.place,
    tokens: store.presence,
    now,
    ...createExecutor({ ...options, loader }),
    ...createRowReader(store, loader),
    ...createJournalReader(store),
    load: loader.load,
    rewound: loader.rewound,
    onRewound: loader.onRewound,
    liveness: (state) => readLiveness(store.presence, probe, state, now(), true),
    beat: (run, session, at) => store.presence.beat(run, session, at),
    maintenance: async () => (await import('./maintenance.ts')).openMaintenance(store),
  };
}
