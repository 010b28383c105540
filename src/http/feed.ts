import type { Event } from '../core/journal/event.ts';
import type { Engine } from '../engine/engine.ts';
import { logLine } from '../operations/history/log.ts';
import type { FeedPage } from '../store/journal.ts';

export interface FeedOptions {
  engine: Engine;
  /** Where the reader left off; null for the beginning, 'now' for what is to come. */
  cursor: string | null;
  /** Only events of this run. */
  run: string | undefined;
  /** Aborted when the server stops. */
  stopped: AbortSignal;
  ended(): void;
}

const PAGE_EVENTS = 500;
/** What comes within this time goes out together: many readers of many events would else cost one write for each. */
const GATHER_MS = 25;
/** After a hint it may take a moment until the feed shows what it was about; then it is looked at ever less often. */
const SOONEST_LOOK_MS = 20;
const LATEST_LOOK_MS = 1000;
/** Nothing is said for at most this long, so that whatever is in between keeps the connection. */
const SILENCE_MS = 15_000;

/**
 * All runs' events as Server-Sent Events. A message holds what was read at once and has the cursor after it as its id:
 * it arrives whole or not at all, so a reader that comes back with the last id it saw misses nothing and sees nothing
 * twice. Pages are read when the reader takes them: a slow one holds up nobody and fills no memory.
 */
export async function openFeed(options: FeedOptions): Promise<ReadableStream<Uint8Array>> {
  const { engine, run, stopped } = options;
  const bytes = new TextEncoder();
  // Before anything is answered: a cursor that is none is refused, not broken off.
  const first = options.cursor === 'now' ? await engine.feed('now', 1) : await readPage(engine, options.cursor);
  let cursor = options.cursor === 'now' || options.cursor === null ? first.cursor : options.cursor;
  let waiting: FeedPage | null = first;
  // A reader that starts at the beginning and is cut off before the first events starts there again.
  const place = options.cursor === null && first.events.length > 0 ? '' : `id: ${cursor}\n`;
  let isOpen = true;
  let saidAt = performance.now();

  /** What to say next; null when it is over. */
  async function next(): Promise<string | null> {
    await pause(GATHER_MS - (performance.now() - saidAt));
    let lookMs = SOONEST_LOOK_MS;
    for (let seen: number | undefined; isOpen; ) {
      // What was recorded before the server was told to stop is told before it stops.
      const isLast = stopped.aborted;
      const page = waiting ?? (await readPage(engine, cursor));
      waiting = null;
      if (page.events.length > 0) {
        cursor = page.cursor;
        const events = run === undefined ? page.events : page.events.filter((event) => event.run === run);
        if (events.length > 0) return `id: ${cursor}\nevent: events\ndata: ${textOf(page, events)}\n\n`;
        continue;
      }
      if (isLast) return null;
      if (performance.now() - saidAt >= SILENCE_MS) return ': still here\n\n';
      const heard = await engine.waitForEvents(lookMs, seen);
      lookMs = heard === seen ? Math.min(LATEST_LOOK_MS, lookMs * 3) : SOONEST_LOOK_MS;
      seen = heard;
    }
    return null;
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.encode(`retry: 1000\n${place}event: ready\ndata: {}\n\n`));
    },
    async pull(controller) {
      const text = await next().catch(() => null);
      saidAt = performance.now();
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

/** Readers that are at the same place are given the same page: it is read and written out once. */
const pages = new WeakMap<Engine, Map<string | null, Promise<FeedPage>>>();
const texts = new WeakMap<FeedPage, string>();
/** Long enough for all readers that one hint woke; words that are erased must not live on here. */
const PAGE_KEPT_MS = 200;

function readPage(engine: Engine, cursor: string | null): Promise<FeedPage> {
  const known = pages.get(engine) ?? new Map<string | null, Promise<FeedPage>>();
  pages.set(engine, known);
  const shared = known.get(cursor);
  if (shared) return shared;
  const page = engine.feed(cursor, PAGE_EVENTS);
  known.set(cursor, page);
  const forget = (): boolean => known.delete(cursor);
  page.then(({ events }) => {
    if (events.length === 0) forget();
    else setTimeout(forget, PAGE_KEPT_MS).unref();
  }, forget);
  return page;
}

function textOf(page: FeedPage, events: readonly Event[]): string {
  const whole = events.length === page.events.length;
  const known = whole ? texts.get(page) : undefined;
  if (known !== undefined) return known;
  const text = JSON.stringify({ events: events.map((event) => ({ run: event.run, ...logLine(event) })) });
  if (whole) texts.set(page, text);
  return text;
}

function pause(ms: number): Promise<void> | void {
  if (ms > 0) return new Promise((resolve) => setTimeout(resolve, ms));
}
