import postgres from 'postgres';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { startPostgres } from '../test/postgres-server.ts';
import { openWorker } from './appends.ts';
import { inTurns, type Row, ratioRow, ratios } from './measure.ts';

const RUNS = 16;
const APPENDS_PER_ROUND = 20;

/** Commands on as many runs as connections, compared with the server's own durable insert on as many connections. */
export async function measurePostgres(folder: string, rounds: number): Promise<Row[]> {
  const { url, stop } = await startPostgres(folder, true);
  const store = await openPostgresStore({ url, connections: RUNS });
  const sql = postgres(url, { max: RUNS, fetch_types: false, onnotice: () => undefined });
  try {
    const workers = await Promise.all(
      Array.from({ length: RUNS }, (_, index) => openWorker(store, `bench-${index + 1}`)),
    );
    const bodies = await Promise.all(workers.map((worker) => worker.checkpoint('first')));
    await sql`CREATE TABLE bodies (number bigserial PRIMARY KEY, body text NOT NULL)`;
    const insert = (text: string) => sql`INSERT INTO bodies (body) VALUES (${text})`;
    const times = await inTurns(rounds, {
      bare: async () => {
        await Promise.all(bodies.map((body) => repeat(() => insert(JSON.stringify(body)))));
      },
      holdfast: async () => {
        await Promise.all(workers.map((worker) => repeat((count) => worker.checkpoint(`point-${count}`))));
      },
    });
    const what = `PostgreSQL appends over ${RUNS} runs, against bare \`INSERT … COMMIT\` on as many connections`;
    // The first round opens connections and prepares statements.
    return [ratioRow(what, ratios(times.bare.slice(1), times.holdfast.slice(1)), { atLeast: 0.6 })];
  } finally {
    await sql.end({ timeout: 5 });
    await store.close();
    await stop();
  }
}

async function repeat(work: (count: number) => PromiseLike<unknown>): Promise<void> {
  for (let count = 0; count < APPENDS_PER_ROUND; count++) await work(count);
}
