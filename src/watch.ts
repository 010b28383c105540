import { Fault } from './core/fault.ts';
import type { Event } from './core/journal/event.ts';
import type { Context } from './operations/context.ts';
import type { Within } from './store/journal.ts';

export interface WatchOptions {
  /** Only this run; all runs of the workspace when left out. */
  run?: string;
  /** Only events of these types, such as `step.completed`. */
  types?: readonly string[];
  /** Where to begin: the cursor of the last event that was handled, the first event, or what comes from now on (the default). */
  after?: string | 'beginning' | 'now';
  signal?: AbortSignal;
}

export interface Watched {
  event: Event;
  /** To continue after this event. */
  cursor: string;
}

const PAGE = 200;
/** Reports of hooks wait in an inbox, which tells nobody. */
const LOOK_MS = 1000;

/**
 * The events as they are recorded, each once and in order. A page is read when the consumer asks for it. It ends with the
 * signal, and when `isClosed` says so.
 */
export async function* watchEvents(
  context: Context,
  { signal, ...options }: WatchOptions,
  isClosed: () => boolean,
): AsyncGenerator<Watched, void, undefined> {
  const isOver = (): boolean => isClosed() || signal?.aborted === true;
  try {
    yield* follow(context, options, isOver);
  } catch (thrown) {
    if (!isClosed()) throw thrown;
  }
}

async function* follow(
  context: Context,
  { run, types, after = 'now' }: WatchOptions,
  isOver: () => boolean,
): AsyncGenerator<Watched, void, undefined> {
  const engine = await context.engine();
  const workspaces = context.workspace()?.ids;
  const within: Within = run !== undefined ? { runs: [run] } : workspaces !== undefined ? { workspaces } : {};
  let [start, passed] = await place(after, async () => (await engine.feed('now', 1)).cursor);
  for (let seen: number | undefined; !isOver(); ) {
    const page = await engine.feed(start, PAGE, within);
    for (const event of page.events.slice(passed)) {
      passed++;
      if (isOver()) return;
      if (types === undefined || types.includes(event.type)) yield { event, cursor: `${passed}@${start ?? ''}` };
    }
    if (page.cursor !== start && page.events.length <= passed) [start, passed] = [page.cursor, 0];
    else seen = await context.news(LOOK_MS, seen);
  }
}

/** A cursor of ours is the feed's cursor before a page, and how many of its events were handled. */
async function place(after: string, end: () => Promise<string>): Promise<[start: string | null, passed: number]> {
  if (after === 'beginning') return [null, 0];
  if (after === 'now') return [await end(), 0];
  const [, passed, start = ''] = /^(\d{1,6})@(.*)$/s.exec(after) ?? [];
  if (passed === undefined) {
    throw new Fault('invalid', 'That is not a cursor of `watch`.', {
      hints: ['Pass the `cursor` of an event, `beginning` or `now`.'],
    });
  }
  return [start === '' ? null : start, Number(passed)];
}
