import type { Token } from '../store/presence.ts';

/** Passes a stream on until the token it was opened with is revoked. */
export type BindToToken = (stream: ReadableStream<Uint8Array>, token: Token) => ReadableStream<Uint8Array>;

const CHECK_EVERY_MS = 500;

/**
 * A token is checked when a request arrives, but a stream may stay open for days. So the token of each open stream is
 * checked again periodically, once for all its streams; a revoked token ends them, idle streams included.
 */
export function createTokenStreams(isValid: (token: Token) => Promise<boolean>): BindToToken {
  const open = new Map<string, { token: Token; ends: Set<() => void> }>();
  let timer: NodeJS.Timeout | undefined;

  async function check(): Promise<void> {
    for (const { token, ends } of [...open.values()]) {
      // A check that fails proves nothing; the next one may succeed.
      if (await isValid(token).catch(() => true)) continue;
      for (const end of [...ends]) end();
    }
  }

  function register(token: Token, end: () => void): () => void {
    const entry = open.get(token.hash) ?? { token, ends: new Set() };
    entry.ends.add(end);
    open.set(token.hash, entry);
    timer ??= setInterval(() => void check(), CHECK_EVERY_MS).unref();
    return () => {
      entry.ends.delete(end);
      if (entry.ends.size === 0 && open.get(token.hash) === entry) open.delete(token.hash);
      if (open.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }

  return (stream, token) => {
    const reader = stream.getReader();
    let isOver = false;
    let unregister = (): void => undefined;
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          unregister = register(token, () => {
            isOver = true;
            unregister();
            controller.close();
            void reader.cancel().catch(() => undefined);
          });
        },
        async pull(controller) {
          const { done, value } = await reader.read().catch((error: unknown) => {
            unregister();
            throw error;
          });
          if (isOver) return;
          if (!done) return controller.enqueue(value);
          unregister();
          controller.close();
        },
        cancel(reason) {
          unregister();
          return reader.cancel(reason);
        },
      },
      // Nothing is read ahead of the client: a slow one delays no other and fills no memory.
      { highWaterMark: 0 },
    );
  };
}
