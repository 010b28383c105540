import { expect } from 'vitest';
import { Fault } from '../../core/fault.ts';
import { GENESIS, seal } from '../../core/journal/chain.ts';
import type { Draft, Event } from '../../core/journal/event.ts';
import { type ChainProblem, chainVerifier } from '../../core/journal/verify.ts';
import { parseAllWords } from '../../core/search/query.ts';
import type { Batch, Head } from '../journal.ts';
import type { HeadColumns, StoredRow } from '../projection.ts';
import type { Store } from '../store.ts';

export type Get = () => Store;

let runs = 0;

/** Every test has its own run: all share one database, as in real use. */
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
  const stamp = {
    run,
    at: at(head.version + 1),
    actor: { kind: 'agent', name: 'tester' } as const,
    evidence: 'hook' as const,
    session,
    key,
  };
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

/** Appends at the current version of the run. */
export async function put(
  store: Store,
  run: string,
  drafts: readonly Draft[],
  extra: Parameters<typeof batchOf>[3] = {},
): Promise<void> {
  const appended = await store.journal.append([batchOf(run, drafts, await headOf(store, run), extra)]);
  expect(appended).toEqual({ outcome: 'appended' });
}

/** Reads the feed until `enough`: an event may reach it a moment after it was recorded. */
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

export async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const thrown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(thrown).toBeInstanceOf(Fault);
  return thrown as Fault;
}

/** One row for each Codewalk view, and one that no view shows. */
export function codewalkRows(run: string, context: string): StoredRow[] {
  const decision = { decision: 'd', status: 'active', reason: 'r', alternatives: ['x'], irreversible: true, at: at(2) };
  const blocker = { text: 'stuck', status: 'resolved', affects: ['p1'], resolution: 'done', settledAt: at(4) };
  const question = { id: 'Q-1', kind: 'question', text: 'why', status: 'open', raisedAt: at(3) };
  const session = { id: 'S-1', agent: 'worker', startedAt: at(5), contextUsage: 45, completed: ['p1'] };
  return [
    row(run, 'D-1', { kind: 'decision', doc: { id: 'D-1', context, ...decision } }),
    row(run, 'B-1', { kind: 'item', doc: { id: 'B-1', kind: 'blocker', raisedAt: at(3), ...blocker } }),
    row(run, 'Q-1', { kind: 'item', doc: question }),
    row(run, 'S-1', { kind: 'session', doc: session }),
  ];
}

/** What the Codewalk views show of these rows. The databases differ in how they write a time, JSON and a boolean. */
export function codewalkViews(
  run: string,
  shown: { context: string; time(seconds: number): unknown; progress: string; no: unknown },
): Record<string, object> {
  const { context, time, progress, no } = shown;
  return {
    initiative_state: {
      initiative_id: run,
      current_phase: 1,
      current_plan: null,
      current_task: 'Build it',
      current_wave: null,
      status: 'in_progress',
      progress_json: progress,
      updated_at: time(1767225601),
    },
    initiative_decisions: {
      id: `${run}/D-1`,
      initiative_id: run,
      date: time(1767225602),
      context,
      decision: 'd',
      reason: 'r',
      alternatives_json: '["x"]',
      reversible: no,
    },
    initiative_blockers: {
      id: `${run}/block-001`,
      initiative_id: run,
      status: 'resolved',
      description: 'stuck',
      identified_at: time(1767225603),
      affects_json: '["p1"]',
      workaround: null,
      resolution: 'done',
      resolved_at: time(1767225604),
    },
    session_history: {
      id: `${run}/session-001`,
      initiative_id: run,
      agent_id: 'worker',
      started_at: time(1767225605),
      ended_at: null,
      context_usage: 45,
      completed_json: '["p1"]',
      issues_json: null,
      handoff_reason: null,
    },
  };
}

/** Rows whose text has all the words, last changed first. */
export async function withWords(
  { projection }: Pick<Store, 'projection'>,
  runs: readonly string[],
  words: readonly string[],
  limit: number,
): Promise<StoredRow[]> {
  const query = parseAllWords(words.join(' '));
  return query === null ? [] : (await projection.search(runs, query, { offset: 0, limit })).rows;
}

/** Answers of `append` to a batch that does not continue the head. */
export const movedOn = (run: string, version: number) => ({ outcome: 'conflict', run, version, reason: 'moved_on' });
export const otherHistory = (run: string, version: number) => ({
  outcome: 'conflict',
  run,
  version,
  reason: 'other_history',
});
