import { newId } from '../../workspace/state/machine.ts';
import type { Store } from '../store.ts';
import type { Data } from './data.ts';
import { openJournal } from './journal.ts';
import { openPresence } from './presence.ts';
import { openProjection } from './projection.ts';

/** A journal that ends with the process, for tests and for trying things out. */
export function openMemoryStore(): Store {
  let identity = { id: newId('s'), epoch: newId('e') };
  const data: Data = {
    runs: new Map(),
    order: [],
    tombstones: [],
    beats: new Map(),
    tokens: new Map(),
    listeners: new Set(),
  };
  return {
    place: 'memory',
    aheadMs: 0,
    journal: openJournal(data),
    projection: openProjection(data),
    presence: openPresence(data),
    identity: async () => ({ ...identity }),
    async identify(given) {
      identity = { ...given };
    },
    inspect: async () => [],
    close: async () => data.listeners.clear(),
  };
}
