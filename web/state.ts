import { computed, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { call, type Input, type OperationName, type Output, Refused, type Who, whoAmI } from './api.ts';
import { followFeed, type LiveEvent } from './feed.ts';

/** All that the pages share. What the server knows is read anew when its feed says that something happened. */

export const who = signal<Who | null>(null);
/** Unknown until the server has said who the reader is. */
export const access = signal<'unknown' | 'in' | 'out'>('unknown');
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
/** The clock of the page, for ages. */
export const now = signal(Date.now());
/** Said to a screen reader, and shown for a moment. */
export const notice = signal<{ text: string; tone: 'good' | 'bad' | 'plain' } | null>(null);

export const mayWrite = computed(() => who.value !== null && who.value.scope !== 'read');
export const mayMaintain = computed(() => who.value?.scope === 'maintain' && who.value.actor.kind === 'person');

export interface Loaded<Data> {
  data: Data | null;
  fault: Refused | null;
  loading: boolean;
}

interface Entry {
  run: string | null;
  loaded: Signal<Loaded<unknown>>;
  users: number;
  busy: boolean;
  /** Something happened since it was asked for last. */
  stale: boolean;
  askedAt: number;
  fetch(): Promise<unknown>;
}

const entries = new Map<string, Entry>();
/** What many events change at once is read once. */
const SOONEST_MS = 120;
const AGAIN_AFTER_MS = 800;

/** What an operation answers, kept fresh while the component that asks is on the page. */
export function useAnswer<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  run: string | null = null,
): Loaded<Output<Name>> {
  const key = JSON.stringify([name, input, run]);
  const entry = useMemo(() => entryOf(key, run, () => call(name, input, run)), [key]);
  useEffect(() => {
    entry.users += 1;
    if (entry.stale) void refresh(entry);
    return () => {
      entry.users -= 1;
      if (entry.users === 0) entries.delete(key);
    };
  }, [entry, key]);
  // While another moment of the same run is on its way the last one stays: nothing flickers.
  const last = useRef<{ of: string; data: Output<Name> } | null>(null);
  const of = `${name} ${run}`;
  const loaded = entry.loaded.value as Loaded<Output<Name>>;
  if (loaded.data !== null) last.current = { of, data: loaded.data };
  const isSame = last.current?.of === of;
  return loaded.data === null && loaded.loading && isSame ? { ...loaded, data: last.current?.data ?? null } : loaded;
}

function entryOf(key: string, run: string | null, fetch: () => Promise<unknown>): Entry {
  const known = entries.get(key);
  if (known) return known;
  const loaded = signal<Loaded<unknown>>({ data: null, fault: null, loading: true });
  const entry: Entry = { run, loaded, users: 0, busy: false, stale: true, askedAt: 0, fetch };
  entries.set(key, entry);
  return entry;
}

async function refresh(entry: Entry): Promise<void> {
  if (entry.busy) return;
  entry.busy = true;
  entry.stale = false;
  entry.askedAt = Date.now();
  try {
    entry.loaded.value = { data: await entry.fetch(), fault: null, loading: false };
  } catch (thrown) {
    const fault = asRefused(thrown);
    if (fault.status === 401) access.value = 'out';
    if (fault.status === 0) lookForServer();
    entry.loaded.value = { data: entry.loaded.value.data, fault, loading: false };
  }
  entry.busy = false;
  if (entry.stale) later(entry);
}

function later(entry: Entry): void {
  const wait = Math.max(SOONEST_MS, AGAIN_AFTER_MS - (Date.now() - entry.askedAt));
  setTimeout(() => {
    if (entry.stale && entry.users > 0) void refresh(entry);
  }, wait);
}

/** Reads again what the page shows of some runs, or all of it. */
export function invalidate(runs: ReadonlySet<string> | null = null): void {
  for (const entry of entries.values()) {
    if (runs !== null && entry.run !== null && !runs.has(entry.run)) continue;
    const isWaiting = entry.stale;
    entry.stale = true;
    if (!entry.busy && !isWaiting) later(entry);
  }
}

/** Does something on a run; what the server says to it is told. */
export async function perform<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  run: string,
  done: string,
): Promise<Output<Name>> {
  const answer = await call(name, input, run).catch((thrown: unknown) => {
    if (asRefused(thrown).status === 0) lookForServer();
    throw thrown;
  });
  notice.value = { text: done, tone: 'good' };
  invalidate(new Set([run]));
  return answer;
}

export const asRefused = (thrown: unknown): Refused =>
  thrown instanceof Refused
    ? thrown
    : new Refused(0, { code: 'internal', message: String((thrown as Error)?.message ?? thrown), hints: [] });

const LOOK_EVERY_MS = 1500;
let isLooking = false;
/** Whether the feed is open, as far as the browser knows. */
let isFollowing = false;

/** Requests may fail while the feed still seems open: the page says so, asks until somebody answers, and reads all anew. */
function lookForServer(): void {
  if (isLooking) return;
  isLooking = true;
  connection.value = 'lost';
  const look = async (): Promise<void> => {
    const fault = await whoAmI().then(() => null, asRefused);
    if (fault?.status === 0) {
      setTimeout(() => void look(), LOOK_EVERY_MS);
      return;
    }
    isLooking = false;
    if (fault?.status === 401) access.value = 'out';
    if (isFollowing) connection.value = 'live';
    invalidate();
  };
  setTimeout(() => void look(), LOOK_EVERY_MS);
}

/** Begins to live: learns who the reader is and follows the feed for as long as the page is open. */
export async function begin(): Promise<void> {
  try {
    who.value = await whoAmI();
    access.value = 'in';
    connection.value = 'connecting';
    invalidate();
  } catch (thrown) {
    if (asRefused(thrown).status === 401) {
      access.value = 'out';
      return;
    }
    access.value = access.value === 'unknown' ? 'in' : access.value;
    connection.value = 'lost';
    setTimeout(() => void begin(), 1500);
    return;
  }
  followFeed({
    ready: () => {
      // Whatever was missed while it was away is read now.
      if (connection.value === 'lost') invalidate();
      isFollowing = true;
      connection.value = 'live';
    },
    events: (events: readonly LiveEvent[]) => invalidate(new Set(events.map((event) => event.run))),
    lost: () => {
      isFollowing = false;
      connection.value = 'lost';
    },
    refused: () => {
      access.value = 'out';
    },
  });
}

setInterval(() => {
  now.value = Date.now();
}, 10_000);
