import type { Engine } from '../engine/engine.ts';
import { logLine } from '../operations/history/log.ts';
import type { FeedPage, Within } from '../store/journal.ts';

export interface FeedOptions {
  engine: Engine;
  /** The reader's last cursor; null for the beginning, 'now' for new events only. */
  cursor: string | null;
  /** Only these events. */
  within: Within;
  /** Aborted when the server stops. */
  stopped: AbortSignal;
  ended(): void;
}

const PAGE_EVENTS = 500;
/** Events within this time are sent together, to save one write per event and reader. */
const GATHER_MS = 25;
/** After a hint the events may not be readable yet: look again soon, then less and less often. */
const SOONEST_LOOK_MS = 20;
const LATEST_LOOK_MS = 1000;
/** The longest silence, so that proxies keep the connection. */
const SILENCE_MS = 15_000;
const STILL_HERE = ': still here\n\n';

/**
 * All runs' events as Server-Sent Events. A message holds one page of events, and its id is the cursor after them. It
 * arrives whole or not at all, so a reader that reconnects with its last id misses nothing and sees nothing twice. Pages are
 * read on demand: a slow reader delays no other and fills no memory.
 */
export async function openFeed(options: FeedOptions): Promise<ReadableStream<Uint8Array>> {
  const { engine, within, stopped } = options;
  const bytes = new TextEncoder();
  // Before the response starts, so that an invalid cursor is refused and not cut off.
  const first = options.cursor === 'now' ? await engine.feed('now', 1) : await readPage(engine, options.cursor, within);
  let cursor = options.cursor === 'now' || options.cursor === null ? first.cursor : options.cursor;
  let waiting: FeedPage | null = first;
  // No id yet for a reader from the beginning: if it is cut off before the first events, it starts there again.
  const idLine = options.cursor === null && first.events.length > 0 ? '' : `id: ${cursor}\n`;
  let isOpen = true;
  let sentMs = performance.now();

  /** The next message; null at the end. */
  async function next(): Promise<string | null> {
    await pause(GATHER_MS - (performance.now() - sentMs));
    let lookMs = SOONEST_LOOK_MS;
    for (let seen: number | undefined; isOpen; ) {
      // Events recorded before the server stops are still sent.
      const isLast = stopped.aborted;
      const page = waiting ?? (await readPage(engine, cursor, within));
      waiting = null;
      if (page.cursor !== cursor || page.events.length > 0) {
        cursor = page.cursor;
        if (page.events.length > 0) return `id: ${cursor}\nevent: events\ndata: ${textOf(page)}\n\n`;
        if (performance.now() - sentMs >= SILENCE_MS) return STILL_HERE;
        continue;
      }
      if (isLast) return null;
      if (performance.now() - sentMs >= SILENCE_MS) return STILL_HERE;
      const count = await engine.waitForEvents(lookMs, seen);
      lookMs = count === seen ? Math.min(LATEST_LOOK_MS, lookMs * 3) : SOONEST_LOOK_MS;
      seen = count;
    }
    return null;
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.encode(`retry: 1000\n${idLine}event: ready\ndata: {}\n\n`));
    },
    async pull(controller) {
      const text = await next().catch(() => null);
      sentMs = performance.now();
      if (!isOpen) return;
      if (text === null) {
        controller.close();
        options.ended();
      } else controller.enqueue(bytes.encode(text));
    },
    cancel() {
      isOpen = false;
      options.ended();
    },
  });
}

/** Readers of the same events at the same cursor share a page: it is read and serialized once. */
const pages = new WeakMap<Engine, Map<string, Promise<FeedPage>>>();
const texts = new WeakMap<FeedPage, string>();
/** Long enough for all readers woken by one hint; erased text must not stay here longer. */
const PAGE_KEPT_MS = 200;

function readPage(engine: Engine, cursor: string | null, within: Within): Promise<FeedPage> {
  const known = pages.get(engine) ?? new Map<string, Promise<FeedPage>>();
  const key = JSON.stringify([cursor, within.workspaces, within.runs]);
  pages.set(engine, known);
  const shared = known.get(key);
  if (shared) return shared;
  const page = engine.feed(cursor, PAGE_EVENTS, within);
  known.set(key, page);
  const forget = (): boolean => known.delete(key);
  page.then(({ events }) => {
    if (events.length === 0) forget();
    else setTimeout(forget, PAGE_KEPT_MS).unref();
  }, forget);
  return page;
}

function textOf(page: FeedPage): string {
  const known = texts.get(page);
  if (known !== undefined) return known;
  const text = JSON.stringify({ events: page.events.map((event) => ({ run: event.run, ...logLine(event) })) });
  texts.set(page, text);
  return text;
}

function pause(ms: number): Promise<void> | void {
  if (ms > 0) return new Promise((resolve) => setTimeout(resolve, ms));
}
