import { describe, expect, it } from 'vitest';
import { countOf } from './json-value.ts';
import {
  createRecovery,
  outcomeOf,
  type Reconstruction,
  statedDecisions,
  type TranscriptEntry,
} from './reconstruction.ts';
import { type ToolResult, toolCallOf } from './tool-call.ts';

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
const spent = (input: number) => ({ input, output: 1, cached: 7 });

describe('a reconstruction', () => {
  it('has the first request as its goal and keeps the last one', () => {
    const found = fold({ kind: 'request', text: 'Build it' }, { kind: 'request', text: 'Continue' });
    expect(found).toMatchObject({ goal: 'Build it', lastRequest: 'Continue', requests: 2, isMidTurn: true });
  });

  it('separates what was running from what ended', () => {
    const found = fold(run('a', 'make'), end('a', 2), run('b', 'sleep 9'));
    expect(found.commands.map(outcomeOf)).toEqual(['failed', 'running']);
    expect(found.running.map(({ call }) => call)).toEqual(['b']);
  });

  it('does not call a command without an exit code succeeded', () => {
    expect(fold(run('a', 'make'), end('a', null)).commands.map(outcomeOf)).toEqual(['unknown']);
  });

  it('limits counts to what can be recorded', () => {
    const most = [1, 2].map(
      (): TranscriptEntry => ({ kind: 'usage', id: null, spent: spent(Number.MAX_SAFE_INTEGER) }),
    );
    expect(fold(...most).spent).toEqual({ input: Number.MAX_SAFE_INTEGER, output: 2, cached: 14 });
    expect(countOf(1e308)).toBeNull();
  });

  it('counts a message once however often it is reported, and takes the larger sum', () => {
    const twice = [1, 2].map((): TranscriptEntry => ({ kind: 'usage', id: 'm', spent: spent(10) }));
    expect(fold(...twice).spent).toEqual(spent(10));
    expect(fold(...twice, { kind: 'usage', id: null, spent: spent(99), isTotal: true }).spent).toEqual(spent(99));
    expect(fold(...twice, { kind: 'usage', id: null, spent: spent(3), isTotal: true }).spent).toEqual(spent(10));
  });

  it('keeps a file as created when it is changed or read later', () => {
    const files = (change: 'created' | 'modified'): TranscriptEntry => ({
      kind: 'files',
      files: [{ path: 'a', read: false, change }],
    });
    const found = fold(files('created'), files('modified'), { kind: 'files', files: [{ path: 'a', read: true }] });
    expect(found.files.get('a')).toEqual({ path: 'a', read: false, change: 'created' });
  });

  it.each([
    ['failed', { isFailure: true, isCancelled: false }],
    ['was cancelled', { isFailure: false, isCancelled: true }],
  ])('does not count the files and to-dos of a call that %s', (_, outcome) => {
    const toolCall = {
      ...toolCallOf('Write', { file_path: 'a' }, null),
      todos: { kind: 'list' as const, entries: [{ text: 'Build', status: 'pending' as const }] },
    };
    const files = [{ path: 'b', read: false, change: 'created' as const }];
    const ended = (result: ToolResult) =>
      fold({ kind: 'tool-began', call: 'a', toolCall }, { kind: 'tool-ended', call: 'a', files, result });
    const found = ended({ ...outcome, exitCode: null });
    expect([found.files.size, found.todos, found.running]).toEqual([0, null, []]);
    expect([...ended({ isFailure: false, isCancelled: false, exitCode: null }).files.keys()]).toEqual(['a', 'b']);
  });

  it('follows a list that is written entry by entry', () => {
    const { todos } = fold(
      { kind: 'todos', change: { kind: 'entries', entries: [{ id: '1', text: 'Build', status: 'pending' }] } },
      { kind: 'todos', change: { kind: 'entries', entries: [{ id: '1', text: null, status: 'completed' }] } },
    );
    expect(todos?.entries).toEqual([{ id: '1', text: 'Build', status: 'completed' }]);
  });

  it('ignores times that are not times', () => {
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
