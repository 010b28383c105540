import { Fault, type FaultCode } from './core/fault.ts';
import type { Event } from './core/journal/event.ts';
import { type Holdfast, type HoldfastOptions, openWith } from './holdfast.ts';
import { openMemoryStore } from './store/memory/store.ts';
import type { Store } from './store/store.ts';

/** The public entry `holdfast/testing`: a journal in memory with a clock that stands still until it is moved. */

export interface TestOptions extends Pick<HoldfastOptions, 'agent' | 'person' | 'evidence' | 'run'> {
  /** The time at the beginning. */
  at?: string;
}

export interface TestHoldfast {
  hf: Holdfast;
  clock: {
    now(): string;
    advance(ms: number): void;
  };
  /** The process of a session counts as dead from now on. A session with a lease of its own is gone when the clock passes it. */
  crash(session: string): void;
  /** The next write is refused with this fault; nothing of it is recorded. */
  failNext(code: FaultCode): void;
  /** All events so far, in the order in which they were recorded. */
  events(): Promise<Event[]>;
  close(): Promise<void>;
}

export async function testHoldfast({
  at = '2026-01-01T00:00:00.000Z',
  ...named
}: TestOptions = {}): Promise<TestHoldfast> {
  let nowMs = Date.parse(at);
  if (Number.isNaN(nowMs)) throw new Fault('invalid', '`at` must be a time such as 2026-01-01T00:00:00Z.');
  const crashed = new Set<string>();
  let failure: FaultCode | null = null;
  const memory = openMemoryStore();
  const store: Store = {
    ...memory,
    journal: {
      ...memory.journal,
      async append(batches) {
        const code = failure;
        failure = null;
        if (code) throw new Fault(code, 'The test asked for this.', { data: { recorded: 'no' } });
        return memory.journal.append(batches);
      },
    },
  };
  const now = (): string => new Date(nowMs).toISOString();
  const hf = await openWith(
    { store, ...named, now },
    { probe: (_, session) => (crashed.has(session) ? 'dead' : 'alive'), random: () => 0.5 },
  );
  return {
    hf,
    clock: {
      now,
      advance(ms) {
        nowMs += ms;
      },
    },
    crash: (session) => void crashed.add(session),
    failNext(code) {
      failure = code;
    },
    async events() {
      const events: Event[] = [];
      for (let cursor: string | null = null; ; ) {
        const page = await memory.journal.feed(cursor, 500);
        events.push(...page.events);
        if (page.cursor === cursor) return events;
        cursor = page.cursor;
      }
    },
    close: () => hf.close(),
  };
}
