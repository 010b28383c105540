import { describe, expect, it } from 'vitest';
import { countOf } from './json-value.ts';
import {
  createRecovery,
  outcomeOf,
  type Reconstruction,
  statedDecisions,
  type TranscriptEntry,
} from './reconstruction.ts';
import { toolCallOf } from './tool-call.ts';

function fold(...entries: TranscriptEntry[]): Reconstruction {
  const recovery = createRecovery();
  for (const entry of entries) recovery.add(entry);
  return recovery.result();
}

const run = (call: string, command: string): TranscriptEntry => ({
  kind: 'tool-began',
  call,
  toolCall: toolCallOf('bash', { command }, null),
});
const end = (call: string, exitCode: number | null): TranscriptEntry => ({
  kind: 'tool-ended',
  call,
  result: { isFailure: (exitCode ?? 0) !== 0, isCancelled: false, exitCode },
});
const spent = (input: number) => ({ input, output: 1, cached: 0 });

describe('a reconstruction', () => {
  it('has the first request as its goal and keeps the last one', () => {
    const found = fold({ kind: 'request', text: 'Build it' }, { kind: 'request', text: 'Go on' });
    expect(found).toMatchObject({ goal: 'Build it', lastRequest: 'Go on', requests: 2, isMidTurn: true });
  });

  it('tells what was running from what ended', () => {
    const found = fold(run('a', 'make'), end('a', 2), run('b', 'sleep 9'));
    expect(found.commands.map(outcomeOf)).toEqual(['failed', 'running']);
    expect(found.running.map(({ call }) => call)).toEqual(['b']);
  });

  it('does not say that a command succeeded whose code was not told', () => {
    expect(fold(run('a', 'make'), end('a', null)).commands.map(outcomeOf)).toEqual(['unknown']);
  });

  it('gives a count that can be recorded though a transcript tells of more', () => {
    const most = [1, 2].map(
      (): TranscriptEntry => ({ kind: 'usage', id: null, spent: spent(Number.MAX_SAFE_INTEGER) }),
    );
    expect(fold(...most).spent).toEqual({ input: Number.MAX_SAFE_INTEGER, output: 2, cached: 0 });
    expect(countOf(1e308)).toBeNull();
  });

  it('counts a message once however often it is told, and believes the larger sum', () => {
    const twice = [1, 2].map((): TranscriptEntry => ({ kind: 'usage', id: 'm', spent: spent(10) }));
    expect(fold(...twice).spent).toEqual(spent(10));
    expect(fold(...twice, { kind: 'usage', id: null, spent: spent(99), isTotal: true }).spent).toEqual(spent(99));
    expect(fold(...twice, { kind: 'usage', id: null, spent: spent(3), isTotal: true }).spent).toEqual(spent(10));
  });

  it('keeps a file that was made here as made when it is changed later, and does not count one that was only read', () => {
    const files = (change: 'created' | 'modified'): TranscriptEntry => ({
      kind: 'files',
      files: [{ path: 'a', read: false, change }],
    });
    const found = fold(files('created'), files('modified'), { kind: 'files', files: [{ path: 'a', read: true }] });
    expect(found.files.get('a')).toEqual({ path: 'a', read: false, change: 'created' });
  });

  it('does not count the files of a call that failed', () => {
    const call = toolCallOf('Write', { file_path: 'a' }, null);
    expect(fold({ kind: 'tool-began', call: 'a', toolCall: call }, end('a', 1)).files.size).toBe(0);
  });

  it('follows a list that is written entry by entry', () => {
    const { todos } = fold(
      { kind: 'todos', change: { kind: 'entries', entries: [{ id: '1', text: 'Build', status: 'pending' }] } },
      { kind: 'todos', change: { kind: 'entries', entries: [{ id: '1', text: null, status: 'completed' }] } },
    );
    expect(todos?.entries).toEqual([{ id: '1', text: 'Build', status: 'completed' }]);
  });

  it('goes by no time that is none', () => {
    const found = fold(
      { kind: 'message', text: 'Hi', at: 'yesterday' },
      { kind: 'turn-ended', at: '2026-01-02T03:04:05Z' },
    );
    expect(found).toMatchObject({ startedAt: '2026-01-02T03:04:05Z', endedAt: '2026-01-02T03:04:05Z' });
  });
});

it.each([
  ['## Key decisions\n- Use SQLite\n- No daemon\n## Next\n- Write docs', ['Use SQLite', 'No daemon']],
  ['3. Decisions:\n   - Use SQLite\n4. Pending Tasks:\n   - Write docs', ['Use SQLite']],
  ['Some prose.\nDecision: Use SQLite because it is there', ['Use SQLite because it is there']],
  ['We talked about decisions.\n- Write docs', []],
])('takes the decisions out of the summary %j', (summary, decisions) => {
  expect(statedDecisions(summary)).toEqual(decisions);
});
