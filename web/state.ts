import { computed, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { call, type Input, type OperationName, type Output, Refused, type Who, whoAmI } from './api.ts';
import { followFeed, type LiveEvent } from './feed.ts';

/** The state that pages share. Data of the server is read again when its feed reports events. */

export const who = signal<Who | null>(null);
/** Unknown until the server has identified the reader. */
export const access = signal<'unknown' | 'in' | 'out'>('unknown');
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
/** The clock of the page, for ages. */
export const now = signal(Date.now());
/** Announced to screen readers, and shown for a few seconds. */
export const notice = signal<{ text: string; tone: 'good' | 'bad' | 'plain' } | null>(null);

/** Whether the list of what needs a person is open beside a run. */
export const isNeedsOpen = signal(false);

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
  /** Events arrived since the last request. */
  stale: boolean;
  askedAt: number;
  fetch(): Promise<unknown>;
}

const entries = new Map<string, Entry>();
/** Many events at once cause one request. */
const SOONEST_MS = 120;
const AGAIN_AFTER_MS = 800;

/** The output of an operation, kept up to date while the component is on the page. */
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
  // While another version of the same run loads, the last one stays: nothing flickers.
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
    if (fault.status === 0) waitForServer();
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

/** Calls an operation that changes a run, and shows `done` as a notice. */
export async function perform<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  run: string,
  done: string,
): Promise<Output<Name>> {
  const answer = await call(name, input, run).catch((thrown: unknown) => {
    if (asRefused(thrown).status === 0) waitForServer();
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
/** Whether the browser considers the feed open. */
let isFollowing = false;

/** Requests may fail while the feed still seems open: the page says so, retries until the server answers, and reloads its data. */
function waitForServer(): void {
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

/** Identifies the reader, then follows the feed while the page is open. */
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
      // Read what was missed while the connection was lost.
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
