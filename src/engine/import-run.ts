import { Fault, quoted } from '../core/fault.ts';
import { evolve } from '../core/fold/evolve.ts';
import { emptyState, STATE_FORMAT } from '../core/fold/state-tables.ts';
import { GENESIS, type Stamp, seal } from '../core/journal/chain.ts';
import type { Draft, Event, ImportedRange } from '../core/journal/event.ts';
import type { StoredValue } from '../core/journal/value.ts';
import type { Batch, ChangedValues, Tombstone } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { newId } from '../workspace/state/machine.ts';
import { rebuildRun } from './audit.ts';
import { wasDropped } from './drop.ts';
import { foldRun } from './fold-run.ts';
import { headOf } from './head-columns.ts';
import { namedValues } from './values.ts';

/** Imports the events of a run that was recorded in another store. They were verified before. */
export interface ImportRun {
  /** First called with every event in order: refuses a history that differs from the one here. */
  compare(event: Event): Promise<void>;
  /** Then called with every event in order: records those that are not here yet. */
  add(event: Event): Promise<void>;
  /** Called with bytes that the last event names: records them with it. */
  addValue(value: StoredValue): Promise<void>;
  finish(): Promise<{ added: number; values: number; version: number; workspace: string }>;
}

const PAGE = 500;
/** Bytes of values that are written at once, beside one that may be larger. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Who imports a file, and when. */
export interface Importer extends Pick<Stamp, 'at' | 'actor' | 'evidence'> {
  /** SHA-256 of the file. */
  file: string;
}

export interface ImportOptions {
  /** With an importer the events are marked as imported; without one they are those of this journal, as in a repair. */
  importer?: Importer | undefined;
  /** The run may have been dropped here. */
  again?: boolean | undefined;
}

export async function openImport(
  store: Store,
  run: string,
  { importer, again = false }: ImportOptions = {},
): Promise<ImportRun> {
  const { journal, projection } = store;
  const [head] = await journal.heads({ run });
  const [dropped] = head ? [] : await journal.dropped({ runs: [run] });
  if (dropped && !again) throw droppedBefore(dropped);
  const before = head?.version ?? 0;
  // An import that was cut off left events without a mark.
  const since = head?.position.importing ?? before;
  const state = emptyState();
  let here: Event[] = [];
  let batch: Event[] = [];
  /** Bytes that events of the batch name, and those of events that are here already. */
  let values: StoredValue[] = [];
  const known: StoredValue[] = [];
  let stored = 0;
  /** Hashes that erased bodies of values named. */
  const forgotten = new Set<string>();
  let added = 0;
  let marked = 0;
  let last = head?.hash ?? GENESIS;
  /** Events that are here with text that was erased where they come from. */
  const erasable = new Map<number, unknown>();
  const erased: NonNullable<Batch['erase']>[number][] = [];

  /** What was imported here before, from the events that are here. */
  let ranges: readonly ImportedRange[] = [];

  function mark(): Event[] {
    const last = batch.at(-1);
    if (!importer || !last) return [];
    const { file, ...by } = importer;
    const range = { from: since + 1, upTo: last.version };
    const body = { upTo: last.version, head: last.hash, file, ranges: [...ranges, range] };
    const draft: Draft = { type: 'run.imported', body, basis: 'verified' };
    return seal([draft], { run, ...by, session: null, key: null }, last);
  }

  async function append(isLast: boolean): Promise<void> {
    const marks = isLast ? mark() : [];
    for (const event of marks) evolve(state, event);
    batch.push(...marks);
    marked += marks.length;
    if (batch.length === 0) return;
    const named = batch.flatMap((event) => (event.type === 'text.erased' ? event.body.versions : []));
    const erase = named.flatMap((version) => (erasable.has(version) ? [{ version, body: erasable.get(version) }] : []));
    erased.push(...erase);
    // Rows are derived when all events are there.
    const columns = headOf(state);
    const position = isLast || !importer ? columns.position : { ...columns.position, importing: since };
    const next: Batch = {
      run,
      expected: before + added,
      events: batch,
      head: { ...columns, position },
      rows: [],
      erase,
      ...(dropped ? { revives: true } : {}),
      ...(values.length > 0 ? { values: { put: values, drop: [] } } : {}),
    };
    const { outcome } = await journal.append([next]);
    if (outcome !== 'appended') throw diverged(run, before + added + 1, added);
    added += batch.length;
    stored += values.length;
    values = [];
    last = batch.at(-1)?.hash ?? last;
    batch = [];
  }

  /** Bytes that were missing and that a row names, and bytes that only erased bodies named. */
  async function changedBytes(): Promise<ChangedValues> {
    const { rows } = await foldRun(journal, run);
    const named = namedValues(rows.values());
    return {
      put: known.filter(({ sha256 }) => named.has(sha256)),
      drop: [...forgotten].filter((sha256) => !named.has(sha256)),
    };
  }

  return {
    async compare(event) {
      if (event.version > before) return;
      if (here.at(-1)?.version === event.version - 1 || here.length === 0) {
        here = await journal.read(run, event.version - 1, PAGE);
      }
      const mine = here.find((one) => one.version === event.version);
      if (mine?.hash !== event.hash) throw diverged(run, event.version, 0);
      if (JSON.stringify(mine.body) === JSON.stringify(event.body)) return;
      erasable.set(event.version, event.body);
      if (mine.type === 'value.put') for (const { sha256 } of mine.body.entries) forgotten.add(sha256);
    },
    async add(event) {
      evolve(state, event);
      if (event.version <= since) ranges = state.run?.imported ?? [];
      if (event.version <= before) return;
      // A full page is written when the next event comes: the last one takes the mark with it.
      if (batch.length >= PAGE || values.reduce((sum, { data }) => sum + data.length, 0) >= PAGE_BYTES)
        await append(false);
      batch.push(event);
    },
    async addValue(value) {
      if (state.version > before) values.push(value);
      else if ((await journal.value(run, value.sha256)) === null) known.push(value);
    },
    async finish() {
      await append(true);
      // Also if an earlier try was interrupted before this.
      if (added > 0 || (await projection.cached(run, STATE_FORMAT)) === null) await rebuildRun(store, run);
      const values = known.length + forgotten.size > 0 ? await changedBytes() : { put: [], drop: [] };
      // Derived data had the text too and was only now replaced: an erasure without events removes its bytes.
      if (erased.length + values.put.length + values.drop.length > 0) {
        const rest = { expected: before + added, after: last, events: [], rows: [], values };
        await journal.append([{ run, ...rest, ...(erased.length > 0 ? { erase: erased } : {}) }]);
      }
      if (added > 0) await store.identify({ ...(await store.identity()), epoch: newId('e') });
      const [now] = await journal.heads({ run });
      return {
        added: added - marked,
        values: stored + values.put.length,
        version: now?.version ?? 0,
        workspace: now?.workspace ?? '',
      };
    },
  };
}

function droppedBefore(tombstone: Tombstone): Fault {
  return new Fault('illegal', `${wasDropped(tombstone)} Nothing was imported.`, {
    hints: ['`holdfast journal import FILE --again` brings it back.'],
    data: { run: tombstone.run, dropped: tombstone, recorded: 'no' },
  });
}

function diverged(run: string, version: number, added: number): Fault {
  const done = added === 0 ? 'Nothing of it was added.' : `${added} events before it were added.`;
  return new Fault('illegal', `The history of ${quoted(run)} here is different from event ${version} on.`, {
    hints: [`${done} Two histories of one run are not joined: look at both with \`holdfast log\`.`],
    data: { run, version, recorded: added === 0 ? 'no' : 'yes' },
  });
}
