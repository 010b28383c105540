import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openHoldfast } from '../src/holdfast.ts';
import { startPostgres } from '../test/postgres-server.ts';
import { followFeed } from '../test/sse.ts';
import type { Row } from './measure.ts';

const FEEDS = 50;
const WRITES_PER_SECOND = 200;
const CLIENTS = 64;
const RUNS = ['bench-1', 'bench-2', 'bench-3', 'bench-4'];

/** A served journal under load: every write must be acknowledged, and every feed must send each event once, in order. */
export async function measureServe(folder: string, seconds: number, say: (sentence: string) => void): Promise<Row[]> {
  const rows = await measureStore('SQLite', join(folder, 'sqlite'), undefined, seconds, say);
  const postgres = await startPostgres(join(folder, 'postgres-data'), true);
  try {
    return [...rows, ...(await measureStore('PostgreSQL', join(folder, 'postgres'), postgres.url, seconds, say))];
  } finally {
    await postgres.stop();
  }
}

async function measureStore(
  name: string,
  folder: string,
  store: string | undefined,
  seconds: number,
  say: (sentence: string) => void,
): Promise<Row[]> {
  mkdirSync(folder, { recursive: true });
  const holdfast = await openHoldfast({ dir: folder, person: 'bench', ...(store === undefined ? {} : { store }) });
  for (const id of RUNS) await holdfast.init({ id, title: id });
  await holdfast.close();
  const { child, url, token } = await startServer(folder, store);
  try {
    const readers: string[] = [];
    for (let index = 0; index * FEEDS_PER_TOKEN < FEEDS; index++) readers.push(await makeReader(url, token, index));
    const feeds = await Promise.all(
      Array.from({ length: FEEDS }, (_, index) => openFeed(url, readers[index % readers.length] ?? '')),
    );
    say(`${name}: ${FEEDS} feeds are open; writing ${WRITES_PER_SECOND} times a second for ${seconds} s …`);
    const wrote = await write(url, token, seconds);
    // Each run is one event longer than the notes in it.
    await Promise.all(feeds.map((feed) => feed.until(wrote.acknowledged)));
    const missed = feeds.reduce((sum, feed) => sum + Math.max(0, wrote.acknowledged - feed.seen()), 0);
    const wrong = feeds.reduce((sum, feed) => sum + feed.wrong(), 0);
    const what = `${name}: ${FEEDS} feeds, ${WRITES_PER_SECOND} writes a second for ${seconds} s`;
    const all = wrote.acknowledged * FEEDS;
    return [
      countRow(`${what}: writes that failed`, wrote.failed, wrote.sent, wrote.reasons),
      countRow(`${what}: events missed`, missed, all),
      countRow(`${what}: events sent twice or out of order`, wrong, all),
      {
        what: `${what}: time taken, relative to the pace`,
        measured: `${wrote.pace.toFixed(2)}×`,
        spread: `${wrote.sent} writes`,
        target: 'at most 1.05×',
        met: wrote.pace <= 1.05,
      },
    ];
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

function countRow(what: string, count: number, of: number, reasons: ReadonlyMap<string, number> = new Map()): Row {
  const spread = Array.from(reasons, ([reason, times]) => `${reason}: ${times}`).join(', ');
  return { what, measured: `${count} of ${of}`, spread, target: '0', met: count === 0 };
}

async function startServer(folder: string, store: string | undefined) {
  const program = resolve('dist/bin/holdfast.cjs');
  const words = ['serve', '--port', '0', '--json', ...(store === undefined ? [] : ['--store', store])];
  const { HOLDFAST_AGENT: _, ...env } = process.env;
  const child: ChildProcess = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  for await (const text of child.stdout ?? []) {
    out += text;
    if (out.includes('\n')) break;
  }
  const { url, link } = (JSON.parse(out) as { data: { url: string; link: string } }).data;
  return { child, url, token: new URL(link).searchParams.get('token') ?? '' };
}

/** As many as one token may have open. */
const FEEDS_PER_TOKEN = 8;

async function makeReader(url: string, token: string, index: number): Promise<string> {
  const response = await fetch(`${url}/api/token.add`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `reader-${index}`, scope: 'read' }),
  });
  return ((await response.json()) as { data: { secret: string } }).data.secret;
}

const PATIENCE_MS = 30_000;

/** A reader that counts the events of each run, and those that do not follow the previous one. */
async function openFeed(url: string, token: string) {
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/feed`, { headers, signal: leaving.signal });
  const messages = followFeed(response);
  await messages.next();
  const last = new Map<string, number>();
  let seen = 0;
  let wrong = 0;
  let wake = () => {};
  const reading = (async () => {
    for await (const { event, data } of messages) {
      if (event !== 'events') continue;
      for (const { run, version } of (JSON.parse(data) as { events: { run: string; version: number }[] }).events) {
        const before = last.get(run);
        if (before !== undefined && version !== before + 1) wrong += 1;
        last.set(run, version);
        seen += 1;
      }
      wake();
    }
  })().catch(() => undefined);
  return {
    seen: () => seen,
    wrong: () => wrong,
    /** Waits until so many events were seen, or until the time limit. */
    async until(count: number): Promise<void> {
      const deadline = performance.now() + PATIENCE_MS;
      while (seen < count && performance.now() < deadline) {
        await Promise.race([
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
          new Promise((done) => setTimeout(done, 100)),
        ]);
      }
      // Waits a moment more: duplicates arrive late.
      await new Promise((done) => setTimeout(done, 200));
      leaving.abort();
      await reading;
    },
  };
}

async function write(url: string, token: string, seconds: number) {
  const sent = seconds * WRITES_PER_SECOND;
  const began = performance.now();
  let acknowledged = 0;
  const reasons = new Map<string, number>();
  const blame = (reason: string): void => {
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  };
  const writes = new Set<Promise<void>>();
  for (let count = 0; count < sent; count++) {
    const dueMs = (count / WRITES_PER_SECOND) * 1000 - (performance.now() - began);
    if (dueMs > 1) await new Promise((done) => setTimeout(done, dueMs));
    const one: Promise<void> = fetch(`${url}/api/note`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'holdfast-run': RUNS[count % RUNS.length] ?? '',
      },
      body: JSON.stringify({ text: `Note ${count} of a team that is busy.` }),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        if (response.status === 200) acknowledged += 1;
        else blame(String(response.status));
      },
      (thrown: Error) => blame((thrown.cause as { code?: string } | undefined)?.code ?? thrown.message),
    );
    writes.add(one);
    void one.then(() => writes.delete(one));
    // As many clients as a team has: with more, the limit would be the sockets of this process.
    while (writes.size >= CLIENTS) await Promise.race(writes);
  }
  await Promise.all(writes);
  return {
    sent,
    acknowledged,
    failed: sent - acknowledged,
    reasons,
    pace: (performance.now() - began) / (seconds * 1000),
  };
}
