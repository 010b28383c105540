import { notFound } from '../core/fault.ts';
import { evolve } from '../core/fold/evolve.ts';
import { rowsOf } from '../core/fold/row.ts';
import type { State } from '../core/fold/state.ts';
import { STATE_FORMAT, serializeState } from '../core/fold/state-tables.ts';
import type { RowKind, Rows } from '../core/fold/touch.ts';
import { withoutWords } from '../core/journal/erase.ts';
import type { Event } from '../core/journal/event.ts';
import type { Batch, Store } from '../store/store.ts';
import { refold } from './fold-run.ts';
import { headOf, storedRows } from './head.ts';

/** The versions of the events that hold the words of a record (by id or alias), or of one event (by version). */
export async function versionsAbout(store: Store, run: string, target: string): Promise<number[]> {
  const version = /^\d+$/.test(target) ? Number(target) : null;
  const [aliased] = version === null ? await store.recall(run, [target]) : [];
  const ids = new Set(version === null ? [aliased?.id ?? target] : []);
  const found: number[] = [];
  await refold(store, run, {
    visit: (event, touches) => {
      const isMeant = version === null ? touches.some((touch) => ids.has(touch.id)) : event.version === version;
      if (isMeant && version !== null) for (const touch of touches) ids.add(touch.id);
      if (isMeant || repeats(event, ids)) found.push(event.version);
    },
  });
  if (found.length > 0) return found;
  throw notFound(
    version === null ? 'record' : 'event',
    target,
    [],
    'Ids and versions are in `holdfast log` and `holdfast search WORDS`.',
  );
}

/**
 * A snapshot repeats the words of what it names, shortened; of the session it closes it may repeat any. The message that
 * came with an offer repeats those of the offer, and what was asked about it is a reply.
 */
function repeats(event: Event, ids: Set<string>): boolean {
  if (event.type === 'message.sent' && event.body.about !== undefined && ids.has(event.body.about)) {
    ids.add(event.body.id);
    return true;
  }
  if (event.type !== 'snapshot.taken' || ids.size === 0) return false;
  const { session, text = '' } = event.body;
  if (ids.has(session)) return true;
  const names = new Set(text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}._/-]*/gu));
  return [...ids].some((id) => names.has(id));
}

/**
 * What an erasure writes with its event, in the same transaction: the bodies without their words, every row that reads
 * differently without them, the rows that still wait to be saved, and state folded anew.
 */
export async function erasedBatch(
  store: Store,
  run: string,
  batch: Batch,
  waiting: Iterable<string>,
): Promise<{ batch: Batch; state: State }> {
  const versions = new Set(batch.events.flatMap((event) => (event.type === 'text.erased' ? event.body.versions : [])));
  const erase: { version: number; body: unknown }[] = [];
  const before = await refold(store, run, { upTo: batch.expected });
  const { state, rows } = await refold(store, run, {
    upTo: batch.expected,
    rewrite: (event) => {
      if (!versions.has(event.version)) return event;
      const body = withoutWords(event.type, event.body, (text) => before.state.steps.has(text));
      erase.push({ version: event.version, body });
      return { ...event, body } as Event;
    },
  });
  const recall = <K extends RowKind>(kind: K, id: string): Rows[K] | null =>
    (rows.get(`${kind}:${id}`)?.doc as Rows[K] | undefined) ?? null;
  for (const event of batch.events) {
    for (const row of rowsOf([{ event, touches: evolve(state, event, recall) }]))
      rows.set(`${row.kind}:${row.id}`, row);
  }
  const unsaved = new Set(waiting);
  const written = [...rows].filter(
    ([key, row]) => unsaved.has(key) || JSON.stringify(row) !== JSON.stringify(before.rows.get(key)),
  );
  const records = storedRows(
    run,
    written.map(([, row]) => row),
  );
  const cache = { format: STATE_FORMAT, state: serializeState(state) };
  return { batch: { ...batch, head: headOf(state), rows: records, erase, cache }, state };
}
