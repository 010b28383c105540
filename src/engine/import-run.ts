import { Fault, quoted } from '../core/fault.ts';
import { evolve } from '../core/fold/evolve.ts';
import { emptyState, STATE_FORMAT } from '../core/fold/state-tables.ts';
import type { Event } from '../core/journal/event.ts';
import type { Batch, Store } from '../store/store.ts';
import { rebuildRun } from './audit.ts';
import { headOf } from './head.ts';

/** Takes in the events of a run that was recorded in another store. They were verified before. */
export interface Intake {
  /** First with every event in order: refuses a history that parted from what is here. */
  compare(event: Event): Promise<void>;
  /** Then with every event in order: records what is not here yet. */
  take(event: Event): Promise<void>;
  finish(): Promise<{ taken: number; version: number; workspace: string }>;
}

const PAGE = 500;

export async function openIntake(store: Store, run: string): Promise<Intake> {
  const [head] = await store.heads({ run });
  const before = head?.version ?? 0;
  const state = emptyState();
  let here: Event[] = [];
  let batch: Event[] = [];
  let taken = 0;
  /** Events that are here with words that were erased where they come from. */
  const wordless = new Map<number, unknown>();
  const erased: NonNullable<Batch['erase']>[number][] = [];

  async function append(): Promise<void> {
    if (batch.length === 0) return;
    const named = batch.flatMap((event) => (event.type === 'text.erased' ? event.body.versions : []));
    const erase = named.flatMap((version) => (wordless.has(version) ? [{ version, body: wordless.get(version) }] : []));
    erased.push(...erase);
    const next: Batch = {
      run,
      expected: before + taken,
      events: batch,
      head: headOf(state),
      // What is derived is made from the events when all of them are there.
      rows: [],
      ...(erase.length > 0 ? { erase } : {}),
    };
    const { outcome } = await store.append(next);
    if (outcome !== 'appended') throw parted(run, before + taken + 1);
    taken += batch.length;
    batch = [];
  }

  return {
    async compare(event) {
      if (event.version > before) return;
      if (here.at(-1)?.version === event.version - 1 || here.length === 0) {
        here = await store.read(run, event.version - 1, PAGE);
      }
      const mine = here.find((one) => one.version === event.version);
      if (mine?.hash !== event.hash) throw parted(run, event.version);
      if (JSON.stringify(mine.body) !== JSON.stringify(event.body)) wordless.set(event.version, event.body);
    },
    async take(event) {
      evolve(state, event);
      if (event.version <= before) return;
      batch.push(event);
      if (batch.length >= PAGE) await append();
    },
    async finish() {
      await append();
      // Also where an earlier try was broken off before it came to this.
      if (taken > 0 || (await store.cached(run, STATE_FORMAT)) === null) await rebuildRun(store, run);
      // What was derived had the words too, and was only now replaced: its bytes go the same way.
      if (erased.length > 0) {
        await store.append({
          run,
          expected: before + taken,
          events: [],
          head: headOf(state),
          rows: [],
          erase: erased,
        });
      }
      const [now] = await store.heads({ run });
      return { taken, version: now?.version ?? 0, workspace: now?.workspace ?? '' };
    },
  };
}

function parted(run: string, version: number): Fault {
  return new Fault('illegal', `The ${quoted(run)} that is here went another way from event ${version} on.`, {
    hints: ['Nothing of it was taken in. Two histories of one run are not joined: look at both with `holdfast log`.'],
    data: { run, version },
  });
}
