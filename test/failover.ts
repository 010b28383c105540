import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { chained, GENESIS } from '../src/core/journal/chain.ts';
import type { Event } from '../src/core/journal/event.ts';
import { sha256 } from '../src/core/sha256.ts';
import { createEngine } from '../src/engine/engine.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { type PostgresServer, startPostgres, startStandby } from './postgres-server.ts';

/** What writers were told, and what is in the journal after the standby took over. */
export interface Failover {
  acknowledged: number;
  failed: string[];
  /** Acknowledged and not in the journal. */
  lost: number[];
  /** Versions that a process named as gone. */
  named: number[];
  isChainValid: boolean;
  /** Acknowledged after the standby took over. */
  after: number;
}

export interface FailoverOptions {
  isSynchronous: boolean;
  /** Events that each writer has recorded before the primary is killed, and after it. */
  before: number;
  after: number;
  writers: number;
}

/** Two servers, of which the standby takes over again and again; each time a new standby follows. */
export async function openPair() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-failover-'));
  // The server's user must be able to enter it.
  chmodSync(folder, 0o755);
  let made = 0;
  const next = (): string => join(folder, String(made++));
  let primary = await startPostgres(next(), false);
  let standby: PostgresServer | null = null;

  async function failOver(options: FailoverOptions): Promise<Failover> {
    const old = primary;
    const heir = await startStandby(old, next());
    standby = heir;
    await replicate(old, options.isSynchronous);
    // The standby is named first: a server that can only be read is not to be used.
    const address = `postgres://postgres:postgres@127.0.0.1:${heir.port},127.0.0.1:${old.port}/postgres`;
    const run = `failover-${made}`;
    const writers = await Promise.all(
      Array.from({ length: options.writers }, async (_, index) => openWriter(address, `${run}-${index}`)),
    );
    try {
      if (!options.isSynchronous) {
        await Promise.all(writers.map((writer) => writer.write(Math.ceil(options.before / 2))));
        // From here on the standby receives nothing.
        await heir.kill();
      }
      const working = writers.map((writer) => writer.write(options.before + options.after));
      await Promise.race([...working, ...writers.map((writer) => writer.reached(options.before))]);
      await old.kill();
      if (!options.isSynchronous) await heir.startAgain();
      await promote(heir);
      await Promise.all(working);
      const found = await Promise.all(writers.map((writer) => writer.compare(heir.url)));
      return {
        acknowledged: found.reduce((sum, one) => sum + one.acknowledged, 0),
        failed: found.flatMap((one) => one.failed),
        lost: found.flatMap((one) => one.lost),
        named: found.flatMap((one) => one.named),
        isChainValid: found.every((one) => one.isChainValid),
        after: Math.min(...found.map((one) => one.acknowledged)) - options.before,
      };
    } finally {
      await Promise.all(writers.map((writer) => writer.close()));
      primary = heir;
      standby = null;
    }
  }

  return {
    failOver,
    async close() {
      for (const server of [standby, primary]) await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Records notes one after the other, as a server does: it waits 20 s for a database that is away. */
async function openWriter(address: string, run: string) {
  const store = await openPostgresStore({ url: address, patienceMs: 20_000 });
  const engine = createEngine({
    store,
    now: () => new Date().toISOString(),
    probe: () => undefined,
    random: Math.random,
  });
  const identity = { actor: { kind: 'agent' as const, name: 'writer' }, evidence: 'none' as const, session: null };
  await engine.execute(run, { type: 'run.open', title: run, workspace: 'w-0' }, { ...identity, key: null });
  const acknowledged = new Map<string, number>();
  const named: number[] = [];
  const failed: string[] = [];
  let wake: (() => void) | undefined;
  let goal = Number.POSITIVE_INFINITY;
  let written = 0;
  return {
    async write(count: number): Promise<void> {
      for (let index = 0; index < count; index++) {
        const text = `note ${++written}`;
        try {
          const done = await engine.execute(
            run,
            { type: 'note.add', kind: 'worklog', text },
            { ...identity, key: `${run}-${written}` },
          );
          for (const { first, last } of done.rewound) for (let at = first; at <= last; at++) named.push(at);
          acknowledged.set(text, done.events.find(({ type }) => type === 'note.added')?.version ?? 0);
        } catch (thrown) {
          failed.push(String(thrown));
        }
        if (acknowledged.size >= goal) wake?.();
      }
    },
    /** Resolves once so many more were acknowledged. */
    reached(more: number): Promise<void> {
      goal = acknowledged.size + more;
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    /** What is left of what was acknowledged. */
    async compare(url: string) {
      const heir = await openPostgresStore({ url });
      try {
        const events: Event[] = [];
        for (let page = await heir.journal.read(run, 0, 5000); page.length > 0; ) {
          events.push(...page);
          page = await heir.journal.read(run, events.at(-1)?.version ?? 0, 5000);
        }
        const kept = new Map(
          events.flatMap((event) => (event.type === 'note.added' ? [[event.body.text, event.version] as const] : [])),
        );
        const lost = [...acknowledged].flatMap(([text, version]) => (kept.get(text) === version ? [] : [version]));
        const isChainValid = events.every((event, index) => isNext(events[index - 1], event));
        return { acknowledged: acknowledged.size, failed, named, lost, isChainValid };
      } finally {
        await heir.close();
      }
    },
    close: () => store.close(),
  };
}

const isNext = (before: Event | undefined, event: Event): boolean =>
  event.version === (before?.version ?? 0) + 1 &&
  event.previous === (before?.hash ?? GENESIS) &&
  event.hash === sha256(chained(event));

/** A primary that waits for its standby acknowledges nothing that a failure could lose. */
async function replicate(primary: PostgresServer, isSynchronous: boolean): Promise<void> {
  await ask(primary, async (sql) => {
    await sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${isSynchronous ? '*' : ''}'`);
    await sql`SELECT pg_reload_conf()`;
    for (;;) {
      const [found] = await sql`SELECT FROM pg_stat_replication WHERE state = 'streaming'`;
      if (found) return;
      await moment();
    }
  });
}

async function promote(standby: PostgresServer): Promise<void> {
  await ask(standby, (sql) => sql`SELECT pg_promote(true, 60)`);
}

async function ask(server: PostgresServer, work: (sql: Sql) => Promise<unknown>): Promise<void> {
  const { default: postgres } = await import('postgres');
  const sql = postgres(server.url, { max: 1, onnotice: () => undefined });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}

const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
