import { notFound } from '../core/fault.ts';
import type { State } from '../core/fold/state.ts';
import { STATE_FORMAT, serializeState } from '../core/fold/state-tables.ts';
import { withoutWords } from '../core/journal/erase.ts';
import type { Event } from '../core/journal/event.ts';
import type { Batch } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import { foldRun } from './fold-run.ts';
import { headOf } from './head-columns.ts';
import { storedRows } from './pending-rows.ts';
import { namedValues } from './values.ts';

/** The versions of the events with the text of a row (by id or alias), or of one event (by version). */
export async function versionsAbout(store: Store, run: string, target: string): Promise<number[]> {
  const version = /^\d+$/.test(target) ? Number(target) : null;
  const [aliased] = version === null ? await store.projection.recall(run, [target]) : [];
  const ids = new Set(version === null ? [aliased?.id ?? target] : []);
  const found: number[] = [];
  await foldRun(store.journal, run, {
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
 * A snapshot repeats, shortened, the text of what it names, and may repeat any text of the session it closes. The message
 * that came with an offer repeats the text of the offer, and a question about it is a reply.
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
 * What an erasure writes with its event, in the same transaction: the bodies without their text, every row that differs
 * without it, the rows that still wait to be saved, and the state folded from the new bodies.
 */
export async function erasedBatch(
  store: Store,
  run: string,
  batch: Batch,
  waiting: Iterable<string>,
): Promise<{ batch: Batch; state: State }> {
  const versions = new Set(batch.events.flatMap((event) => (event.type === 'text.erased' ? event.body.versions : [])));
  const erase: { version: number; body: unknown }[] = [];
  const before = await foldRun(store.journal, run, { upTo: batch.expected });
  const { state, rows, fold } = await foldRun(store.journal, run, {
    upTo: batch.expected,
    rewrite: (event) => {
      if (!versions.has(event.version)) return event;
      const body = withoutWords(event.type, event.body, (text) => before.state.steps.has(text));
      erase.push({ version: event.version, body });
      return { ...event, body } as Event;
    },
  });
  for (const event of batch.events) fold(event);
  const unsaved = new Set(waiting);
  const written = [...rows].filter(
    ([key, row]) => unsaved.has(key) || JSON.stringify(row) !== JSON.stringify(before.rows.get(key)),
  );
  const stored = storedRows(
    run,
    written.map(([, row]) => row),
  );
  // Bytes of an erased value go, unless another value has the same content.
  const named = namedValues(rows.values());
  const drop = [...namedValues(before.rows.values()).keys()].filter((sha256) => !named.has(sha256));
  const cache = { format: STATE_FORMAT, state: serializeState(state) };
  return { batch: { ...batch, head: headOf(state), rows: stored, erase, cache, values: { put: [], drop } }, state };
}
