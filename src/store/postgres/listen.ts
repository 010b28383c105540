import type { Sql } from 'postgres';
import { sha256 } from '../../core/sha256.ts';
import type { Connection } from './connection.ts';

export interface Listeners {
  listen(wake: () => void): () => void;
  /** Notifies every process that something was recorded. */
  announce(): void;
  close(): Promise<void>;
}

/** Many appends within this time share one notification. */
const ANNOUNCE_EVERY_MS = 10;
/** A connection that received nothing for so long is tested, and replaced if it does not receive the test. */
const SILENT_AFTER_MS = 15_000;

/**
 * NOTIFY runs outside of the transaction that appends: inside, every commit would wait for a lock that the whole database
 * shares. So a hint may be lost with its process, which the port allows.
 */
export function openListeners(connection: Connection): Listeners {
  const { once, name } = connection;
  const channel = `holdfast_${sha256(name).slice(0, 24)}`;
  const listeners = new Set<() => void>();
  const sender = openSender(() => once('SELECT pg_notify($1, $2)', [channel, '']));
  let receiver: { close(): void } | undefined;

  function stop(listener: () => void): void {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    receiver?.close();
    receiver = undefined;
  }

  return {
    listen(wake) {
      const listener = () => wake();
      listeners.add(listener);
      receiver ??= openReceiver(connection, channel, sender.announce, () => {
        for (const one of listeners) one();
      });
      return () => stop(listener);
    },
    announce: sender.announce,
    async close() {
      for (const listener of listeners) stop(listener);
      await sender.close();
    },
  };
}

/** Sends one notification at a time, and always one after the last call. */
function openSender(send: () => Promise<unknown>) {
  let busy: Promise<void> | undefined;
  let again = false;
  let isClosing = false;
  async function sendAll(): Promise<void> {
    do {
      again = false;
      // A lost hint does no harm: readers also look at intervals.
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
      busy ??= sendAll();
    },
    async close() {
      isClosing = true;
      await busy;
    },
  };
}

/** A connection of its own that only listens. The driver gives up after one failed try to reconnect; this does not. */
function openReceiver(connection: Connection, channel: string, test: () => void, wake: () => void) {
  let sql: Sql | undefined;
  let receivedAt = performance.now();
  let isClosed = false;

  async function open(): Promise<void> {
    const mine = await connection.another();
    if (isClosed) return void mine.end({ timeout: 0 });
    sql = mine;
    receivedAt = performance.now();
    const received = (): void => {
      receivedAt = performance.now();
      wake();
    };
    // Wakes once when it starts to listen: what was recorded before that was missed.
    await mine.listen(channel, received, received);
  }

  const timer = setInterval(() => {
    const silentMs = performance.now() - receivedAt;
    if (silentMs > SILENT_AFTER_MS * 2) {
      void sql?.end({ timeout: 0 }).catch(() => undefined);
      receivedAt = performance.now();
      open().catch(() => undefined);
    } else if (silentMs > SILENT_AFTER_MS) test();
  }, SILENT_AFTER_MS / 3);
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
