import { expect } from 'vitest';
import { GENESIS, seal } from '../../core/journal/chain.ts';
import type { Draft, Event } from '../../core/journal/event.ts';
import { type ChainProblem, chainVerifier } from '../../core/journal/verify.ts';
import type { Batch, Head } from '../journal.ts';
import type { HeadColumns, StoredRow } from '../projection.ts';
import type { Store } from '../store.ts';

export type Get = () => Store;

let runs = 0;

/** Every test has a run of its own: they share one database, as real ones do. */
export function newRun(): string {
  runs += 1;
  return `run-${runs}`;
}

export function note(text: string): Draft {
  return { type: 'note.added', basis: 'declared', body: { id: 'N-1', text, kind: 'worklog' } };
}

export function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
}

export function batchOf(
  run: string,
  drafts: readonly Draft[],
  after: { version: number; hash: string } | null,
  extra: Partial<Batch & { head: HeadColumns }> & { key?: string | null; session?: string } = {},
): Batch & { head: HeadColumns } {
  const { key = null, session = null, ...rest } = extra;
  const head = after ?? { version: 0, hash: GENESIS };
  const stamp = { run, at: at(head.version + 1), actor: { kind: 'agent', name: 'tester' } as const, session, key };
  const position = { phase: 1, plan: null, task: 'Build it', wave: null, status: 'in_progress', progress: { done: 1 } };
  return {
    run,
    expected: head.version,
    events: seal(drafts, stamp, head),
    head: { workspace: 'w', title: 'Some work', status: 'active', position },
    rows: [],
    ...rest,
  };
}

export function chainProblems(events: readonly Event[]): ChainProblem[] {
  const verifier = chainVerifier();
  for (const event of events) verifier.push(event);
  return verifier.finish();
}

export function row(run: string, id: string, rest: Partial<StoredRow> = {}): StoredRow {
  return {
    run,
    kind: 'note',
    id,
    alias: null,
    status: 'open',
    version: 1,
    at: at(1),
    tags: [],
    text: null,
    doc: { id },
    ...rest,
  };
}

export async function headOf(store: Store, run: string): Promise<Head | null> {
  return (await store.journal.heads({ run }))[0] ?? null;
}

/** Appends to where the run stands, whatever is there. */
export async function put(
  store: Store,
  run: string,
  drafts: readonly Draft[],
  extra: Parameters<typeof batchOf>[3] = {},
): Promise<void> {
  const appended = await store.journal.append([batchOf(run, drafts, await headOf(store, run), extra)]);
  expect(appended).toEqual({ outcome: 'appended' });
}

/** Reads on until `enough`: what was recorded may reach the feed a moment later. */
export async function follow(store: Store, cursor: string | null, limit: number, enough: (events: Event[]) => boolean) {
  const events: Event[] = [];
  let from = cursor;
  while (!enough(events)) {
    const page = await store.journal.feed(from, limit);
    expect(page.events.length).toBeLessThanOrEqual(limit);
    if (page.events.length === 0) {
      expect(from === null || page.cursor === from).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    events.push(...page.events);
    from = page.cursor;
  }
  return { events, cursor: from as string };
}

export function ofRun(run: string) {
  return (event: Event) => event.run === run;
}
