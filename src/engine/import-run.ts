import { Fault, quoted } from '../core/fault.ts';
import { evolve } from '../core/fold/evolve.ts';
import { emptyState, STATE_FORMAT } from '../core/fold/state-tables.ts';
import { GENESIS } from '../core/journal/chain.ts';
import type { Event } from '../core/journal/event.ts';
import type { Batch } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { rebuildRun } from './audit.ts';
import { headOf } from './head-columns.ts';

/** Imports the events of a run that was recorded in another store. They were verified before. */
export interface ImportRun {
  /** First called with every event in order: refuses a history that differs from the one here. */
  compare(event: Event): Promise<void>;
  /** Then called with every event in order: records those that are not here yet. */
  add(event: Event): Promise<void>;
  finish(): Promise<{ added: number; version: number; workspace: string }>;
}

const PAGE = 500;

export async function openImport(store: Store, run: string): Promise<ImportRun> {
  const { journal, projection } = store;
  const [head] = await journal.heads({ run });
  const before = head?.version ?? 0;
  const state = emptyState();
  let here: Event[] = [];
  let batch: Event[] = [];
  let added = 0;
  let last = head?.hash ?? GENESIS;
  /** Events that are here with text that was erased where they come from. */
  const erasable = new Map<number, unknown>();
  const erased: NonNullable<Batch['erase']>[number][] = [];

  async function append(): Promise<void> {
    if (batch.length === 0) return;
    const named = batch.flatMap((event) => (event.type === 'text.erased' ? event.body.versions : []));
    const erase = named.flatMap((version) => (erasable.has(version) ? [{ version, body: erasable.get(version) }] : []));
    erased.push(...erase);
    // Rows are derived when all events are there.
    const next: Batch = { run, expected: before + added, events: batch, head: headOf(state), rows: [], erase };
    const { outcome } = await journal.append([next]);
    if (outcome !== 'appended') throw diverged(run, before + added + 1, added);
    added += batch.length;
    last = batch.at(-1)?.hash ?? last;
    batch = [];
  }

  return {
    async compare(event) {
      if (event.version > before) return;
      if (here.at(-1)?.version === event.version - 1 || here.length === 0) {
        here = await journal.read(run, event.version - 1, PAGE);
      }
      const mine = here.find((one) => one.version === event.version);
      if (mine?.hash !== event.hash) throw diverged(run, event.version, 0);
      if (JSON.stringify(mine.body) !== JSON.stringify(event.body)) erasable.set(event.version, event.body);
    },
    async add(event) {
      evolve(state, event);
      if (event.version <= before) return;
      batch.push(event);
      if (batch.length >= PAGE) await append();
    },
    async finish() {
      await append();
      // Also if an earlier try was interrupted before this.
      if (added > 0 || (await projection.cached(run, STATE_FORMAT)) === null) await rebuildRun(store, run);
      // Derived data had the text too and was only now replaced: an erasure without events removes its bytes.
      if (erased.length > 0)
        await journal.append([{ run, expected: before + added, after: last, events: [], rows: [], erase: erased }]);
      const [now] = await journal.heads({ run });
      return { added, version: now?.version ?? 0, workspace: now?.workspace ?? '' };
    },
  };
}

function diverged(run: string, version: number, added: number): Fault {
  const done = added === 0 ? 'Nothing of it was added.' : `${added} events before it were added.`;
  return new Fault('illegal', `The history of ${quoted(run)} here is different from event ${version} on.`, {
    hints: [`${done} Two histories of one run are not joined: look at both with \`holdfast log\`.`],
    data: { run, version, recorded: added === 0 ? 'no' : 'yes' },
  });
}
