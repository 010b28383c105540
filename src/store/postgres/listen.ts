import type { Sql } from 'postgres';
import { sha256 } from '../../core/sha256.ts';
import type { Connection } from './connection.ts';

export interface Ears {
  listen(wake: () => void): () => void;
  /** Tells every process that something was recorded. */
  announce(): void;
  close(): Promise<void>;
}

/** Of many appends one is announced in this time: all are seen by whoever looks then. */
const ANNOUNCE_EVERY_MS = 10;
/** An ear that heard nothing for so long is tested, and replaced if it does not hear the test. */
const DEAF_AFTER_MS = 15_000;

/**
 * NOTIFY outside of the transaction that appends: inside, every commit would wait for a lock that the whole database
 * shares. So a hint may be lost with its process, which is all the port promises.
 */
export function openEars(connection: Connection): Ears {
  const { once, name } = connection;
  const channel = `holdfast_${sha256(name).slice(0, 24)}`;
  const listeners = new Set<() => void>();
  const speaker = openSpeaker(() => once('SELECT pg_notify($1, $2)', [channel, '']));
  let ear: { close(): void } | undefined;

  function stop(listener: () => void): void {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    ear?.close();
    ear = undefined;
  }

  return {
    listen(wake) {
      const listener = () => wake();
      listeners.add(listener);
      ear ??= openEar(connection, channel, speaker.announce, () => {
        for (const one of listeners) one();
      });
      return () => stop(listener);
    },
    announce: speaker.announce,
    async close() {
      for (const listener of listeners) stop(listener);
      await speaker.close();
    },
  };
}

/** At most one announcement on its way at a time, and the last one is never swallowed. */
function openSpeaker(send: () => Promise<unknown>) {
  let busy: Promise<void> | undefined;
  let again = false;
  let isClosing = false;
  async function speak(): Promise<void> {
    do {
      again = false;
      // Nobody waits for it, and whoever misses it looks at intervals.
      await send().catch(() => undefined);
      if (again && !isClosing) {
        await new Promise<void>((resolve) => {
          setTimeout(resolve, ANNOUNCE_EVERY_MS);
        });
      }
    } while (again);
    busy = undefined;
  }
  return {
    announce() {
      again = true;
      busy ??= speak();
    },
    async close() {
      isClosing = true;
      await busy;
    },
  };
}

/** A connection of its own that only listens. The driver gives up after one failed try to listen again; this does not. */
function openEar(connection: Connection, channel: string, test: () => void, wake: () => void) {
  let sql: Sql | undefined;
  let heardAt = performance.now();
  let isClosed = false;

  async function open(): Promise<void> {
    const mine = await connection.another();
    if (isClosed) return void mine.end({ timeout: 0 });
    sql = mine;
    heardAt = performance.now();
    const heard = (): void => {
      heardAt = performance.now();
      wake();
    };
    // What came before it listened was not heard: the first sign is that it listens.
    await mine.listen(channel, heard, heard);
  }

  const timer = setInterval(() => {
    const silentMs = performance.now() - heardAt;
    if (silentMs > DEAF_AFTER_MS * 2) {
      void sql?.end({ timeout: 0 }).catch(() => undefined);
      heardAt = performance.now();
      open().catch(() => undefined);
    } else if (silentMs > DEAF_AFTER_MS) test();
  }, DEAF_AFTER_MS / 3);
  timer.unref();
  open().catch(() => undefined);
  return {
    close() {
      isClosed = true;
      clearInterval(timer);
      void sql?.end({ timeout: 0 }).catch(() => undefined);
    },
  };
}
