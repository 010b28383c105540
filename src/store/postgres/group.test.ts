import postgres from 'postgres';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { batchOf, chainProblems, follow, headOf, note, put, row, withWords } from '../suite/fixture.ts';
import { openPostgresStore } from './store.ts';

const url = inject('postgresUrl');
const sql = postgres(url, { max: 4, onnotice: () => {}, fetch_types: false });
afterAll(() => sql.end());

let schemas = 0;
/** The names need quoting. */
function newSchema(): string {
  schemas += 1;
  return `group "test" ${process.pid} ${schemas}`;
}

describe('appends of different runs at once', () => {
  const names = Array.from({ length: 24 }, (_, index) => `r-${index}`);

  /** Runs with one event each, and a batch for each. */
  async function openRuns() {
    const schema = newSchema();
    const store = await openPostgresStore({ url, schema, connections: 4 });
    await Promise.all(names.map((run) => put(store, run, [note('a')])));
    const next = async (run: string, text: string, more: Parameters<typeof batchOf>[3] = {}) =>
      batchOf(run, [note(text), note(`${text} again`)], await headOf(store, run), more);
    const lengths = async () => Promise.all(names.map(async (run) => (await store.journal.read(run, 0, 99)).length));
    return { schema, store, next, lengths };
  }

  it('are written in few transactions, each with all its parts', async () => {
    const { schema, store, next } = await openRuns();
    const batches = await Promise.all(
      names.map((run, index) =>
        next(run, 'b', {
          rows: [row(run, 'N-1', { text: `words of ${run}`, doc: { run } })],
          cache: { format: 1, state: `state of ${run}` },
          head: { ...batchOf(run, [], null).head, title: `Title ${index}` },
        }),
      ),
    );
    const appended = await Promise.all(batches.map((batch) => store.journal.append([batch])));
    expect(new Set(appended.map(({ outcome }) => outcome))).toEqual(new Set(['appended']));
    const [count] = await sql`SELECT count(DISTINCT tx)::integer AS tx FROM ${sql(schema)}.events WHERE version > 1`;
    expect(count?.['tx']).toBeLessThanOrEqual(4);
    for (const [index, batch] of batches.entries()) {
      const { run, events } = batch;
      const recorded = await store.journal.read(run, 0, 9);
      expect(recorded.slice(1)).toEqual(events);
      expect(chainProblems(recorded)).toEqual([]);
      expect(await store.projection.cached(run, 1)).toMatchObject({ version: 3, state: `state of ${run}` });
      expect(await withWords(store, [run], ['words'], 9)).toMatchObject([{ run, id: 'N-1', doc: { run } }]);
      expect(await headOf(store, run)).toMatchObject({ version: 3, title: `Title ${index}` });
    }
    const { events } = await follow(store, null, 100, (all) => all.length === names.length * 3);
    for (const run of names) {
      const versions = events.filter((event) => event.run === run).map(({ version }) => version);
      expect(versions).toEqual([1, 2, 3]);
    }
    await store.close();
  });

  it('are refused one by one', async () => {
    const { store, next, lengths } = await openRuns();
    const batches = await Promise.all(names.map((run) => next(run, 'b', { key: `key of ${run}` })));
    const [stale, known] = [batches[3] ?? expect.fail(), batches[5] ?? expect.fail()];
    const theirs = await next(stale.run, 'theirs');
    await store.journal.append([theirs]);
    await store.journal.append([known]);
    // Decided after the first use of its key, and all the same refused.
    batches[9] = await next(names[9] ?? '', 'c', { key: 'used' });
    await store.journal.append([batches[9]]);
    const before = batches[9].events;
    batches[9] = await next(names[9] ?? '', 'd', { key: 'used' });
    const appended = await Promise.all(batches.map((batch) => store.journal.append([batch])));
    expect(appended[9]).toEqual({ outcome: 'replayed', run: names[9], events: before });
    expect(appended[3]).toEqual({ outcome: 'conflict', run: stale.run, version: 3, reason: 'moved_on' });
    expect(appended[5]).toEqual({ outcome: 'replayed', run: known.run, events: known.events });
    expect(appended.filter(({ outcome }) => outcome === 'appended')).toHaveLength(21);
    expect(await lengths()).toEqual(names.map(() => 3));
    await store.close();
  });

  it('are recorded although the server cannot write one of them', async () => {
    const { store, next, lengths } = await openRuns();
    const batches = await Promise.all(names.map((run) => next(run, 'b')));
    const wrong = batches[7] ?? expect.fail();
    const [first] = wrong.events;
    const twice = { ...wrong, events: [first ?? expect.fail(), first ?? expect.fail()] };
    const appended = await Promise.allSettled(
      batches.map((batch, index) => store.journal.append([index === 7 ? twice : batch])),
    );
    expect(appended.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(appended[7]?.status).toBe('rejected');
    expect(await lengths()).toEqual(names.map((_, index) => (index === 7 ? 1 : 3)));
    await store.close();
  });

  it('survive lost connections and are recorded once', async () => {
    const { schema, store, next, lengths } = await openRuns();
    for (let count = 0; count < 6; count++) {
      const batches = await Promise.all(names.map((run) => next(run, `${count}`)));
      const appending = Promise.all(batches.map((batch) => store.journal.append([batch])));
      const quoted = `%${schema.replaceAll('"', '""')}%`;
      const killing = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast' AND query LIKE ${quoted} AND pid <> pg_backend_pid()`;
      const [appended] = await Promise.all([appending, killing]);
      expect(new Set(appended.map(({ outcome }) => outcome))).toEqual(new Set(['appended']));
    }
    expect(await lengths()).toEqual(names.map(() => 13));
    await store.close();
  });
});
