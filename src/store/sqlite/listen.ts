import type { Connection } from './connection.ts';

export interface Ears {
  listen(wake: () => void): () => void;
  /** This process recorded something: the database tells a connection only of what others did. */
  heard(): void;
  close(): void;
}

/** Asking costs some microseconds; what it finds is seen within this time. */
const LOOK_EVERY_MS = 50;

/**
 * SQLite tells nobody that a file was written. `data_version` changes with every commit of another connection, and
 * looking at it reads nothing but the head of the log.
 */
export function openEars({ statement }: Connection): Ears {
  const listeners = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let seen: unknown;

  function look(): unknown {
    try {
      return (statement('PRAGMA data_version').get() as { data_version: number }).data_version;
    } catch {
      // Busy or closed: this is a hint, and whoever reads the feed is told what is wrong.
      return seen;
    }
  }

  function heard(): void {
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
          heard();
        }, LOOK_EVERY_MS);
        timer.unref();
      }
      return () => stop(listener);
    },
    heard,
    close() {
      for (const listener of listeners) stop(listener);
    },
  };
}
