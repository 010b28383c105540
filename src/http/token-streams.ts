import type { Token } from '../store/presence.ts';

/** Passes a stream on for as long as the token it was opened with is good. */
export type Hold = (stream: ReadableStream<Uint8Array>, token: Token) => ReadableStream<Uint8Array>;

const LOOK_EVERY_MS = 500;

/**
 * A token is looked up when a request comes; what it opened may stay open for days. So tokens with open streams are looked
 * up again and again, each once for all its streams, and a revoked one ends them, also those on which nothing is said.
 */
export function createHold(holds: (token: Token) => Promise<boolean>): Hold {
  const open = new Map<string, { token: Token; ends: Set<() => void> }>();
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    for (const { token, ends } of [...open.values()]) {
      // A look that fails proves nothing; the next may not.
      if (await holds(token).catch(() => true)) continue;
      for (const end of [...ends]) end();
    }
  }

  function enter(token: Token, end: () => void): () => void {
    const held = open.get(token.hash) ?? { token, ends: new Set() };
    held.ends.add(end);
    open.set(token.hash, held);
    timer ??= setInterval(() => void look(), LOOK_EVERY_MS).unref();
    return () => {
      held.ends.delete(end);
      if (held.ends.size === 0 && open.get(token.hash) === held) open.delete(token.hash);
      if (open.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }

  return (stream, token) => {
    const reader = stream.getReader();
    let isOver = false;
    let leave = (): void => undefined;
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          leave = enter(token, () => {
            isOver = true;
            leave();
            controller.close();
            void reader.cancel().catch(() => undefined);
          });
        },
        async pull(controller) {
          const { done, value } = await reader.read().catch((error: unknown) => {
            leave();
            throw error;
          });
          if (isOver) return;
          if (!done) return controller.enqueue(value);
          leave();
          controller.close();
        },
        cancel(reason) {
          leave();
          return reader.cancel(reason);
        },
      },
      // Nothing is taken ahead of the reader: a slow one holds up nobody and fills no memory.
      { highWaterMark: 0 },
    );
  };
}
