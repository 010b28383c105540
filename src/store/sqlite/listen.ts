import type { Connection } from './connection.ts';

export interface Listeners {
  listen(wake: () => void): () => void;
  /** Wakes all listeners. Called for what this connection recorded: `data_version` shows only what others did. */
  announce(): void;
  close(): void;
}

/** A look takes some microseconds; a change is seen within this time. */
const LOOK_EVERY_MS = 50;

/**
 * SQLite does not report that a file was written. `data_version` changes with every commit of another connection, and
 * looking at it reads only the head of the log.
 */
export function openListeners({ statement }: Connection): Listeners {
  const listeners = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let seen: unknown;

  function look(): unknown {
    try {
      return (statement('PRAGMA data_version').get() as { data_version: number }).data_version;
    } catch {
      // Busy or closed. This is only a hint: a reader of the feed gets the fault.
      return seen;
    }
  }

  function announce(): void {
    for (const wake of listeners) wake();
  }

  function stop(listener: () => void): void {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    listen(wake) {
      const listener = () => wake();
      listeners.add(listener);
      if (timer === undefined) {
        seen = look();
        timer = setInterval(() => {
          const now = look();
          if (now === seen) return;
          seen = now;
          announce();
        }, LOOK_EVERY_MS);
        timer.unref();
      }
      return () => stop(listener);
    },
    announce,
    close() {
      for (const listener of listeners) stop(listener);
    },
  };
}
