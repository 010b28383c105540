import { describe, expect, it } from 'vitest';
import { newFolder, newWorkspace } from './command-line.ts';

const ids = (list: unknown): string[] => (list as { id: string }[]).map((one) => one.id);

describe('looking', () => {
  it('shows any part of the log', () => {
    const folder = newWorkspace();
    const versions = (...flags: string[]): number[] =>
      (folder.data('log', ...flags)['events'] as { version: number }[]).map((event) => event.version);
    expect(versions()).toEqual([1, 2, 3, 4, 5]);
    expect(versions('--limit', '2')).toEqual([4, 5]);
    expect(versions('--at', '3')).toEqual([1, 2, 3]);
    expect(versions('--at', '3', '--limit', '1')).toEqual([3]);
    expect(versions('--after', '3')).toEqual([4, 5]);
    expect(versions('--after', '1', '--limit', '2')).toEqual([2, 3]);
    expect(versions('--after', '1', '--at', '2')).toEqual([2]);
    expect(versions('--after', '99')).toEqual([]);
    expect(versions('--at', '0')).toEqual([]);
    expect(versions('--limit', '1000000')).toHaveLength(5);
    expect(folder.fault('log', '--limit', '0')).toMatchObject({ code: 'invalid' });
  });

  it('finds rows of every kind by the beginnings of their words, in any script', () => {
    const folder = newWorkspace();
    folder.data('decide', '--context', 'Storage', '--decision', 'Zebra cookie', '--reason', 'XSS');
    folder.data('raise', 'question', 'Zebra rotation?');
    folder.data('note', 'The zebra is 認証トークンの更新');
    folder.data('session', 'start', '--agent', 'ada');
    folder.data('session', 'end', '--reason', 'completed', '--note', 'Zebras sleep', '--agent', 'ada');
    folder.data('effect', 'begin', 'zebra deploy');
    folder.data('plan', 'add', 'z', 'Zebra task');
    const found = (...words: string[]): string[] => ids(folder.data('search', ...words)['results']).sort();
    expect(found('zebra')).toEqual(['D-1', 'N-1', 'Q-1', 'S-1', 'X-1', 'z']);
    expect(found('ZEB')).toHaveLength(6);
    expect(found('zebra', 'cook', '--all')).toEqual(['D-1']);
    expect(ids(folder.data('search', 'zebra cook')['results'])).toHaveLength(6);
    expect(ids(folder.data('search', 'Did we cook a zebra?')['results'])[0]).toBe('D-1');
    expect(found('"zebra cook"')).toEqual([]);
    expect(found('zebra', '--kind', 'decision', '--kind', 'note')).toEqual(['D-1', 'N-1']);
    expect(found('zebra', '--since', '2999-01-01T00:00:00Z')).toEqual([]);
    expect(found('トークン')).toEqual(['N-1']);
    expect(found('ebra')).toEqual([]);
    const pages = ['0-0', '0-2', '0-4'].map((cursor) =>
      folder.data('search', 'zebra', '--limit', '2', '--cursor', cursor),
    );
    expect(pages.map(({ cursor }) => cursor)).toEqual(['0-2', '0-4', null]);
    expect(new Set(pages.flatMap(({ results }) => ids(results))).size).toBe(6);
    expect(folder.fault('search', ' ')).toMatchObject({ code: 'usage' });
    expect(folder.run('search', 'nowhere').out).toBe('Nothing was found.\n');
  });

  it('lists decisions by what they affect, and counts them', () => {
    const folder = newWorkspace();
    const decide = (decision: string, ...flags: string[]): unknown =>
      folder.data('decide', '--context', 'c', '--decision', decision, '--reason', 'r', ...flags)['id'];
    decide('one', '--key', 'storage');
    decide('two', '--affects', 't1', '--irreversible');
    decide('three', '--key', 'storage', '--affects', 't1');
    decide('four', '--supersedes', 'D-2');
    decide('five');
    folder.data('retract', 'D-5', '--reason', 'wrong');
    expect(ids(folder.data('decisions')['decisions']).sort()).toEqual(['D-3', 'D-4']);
    expect(ids(folder.data('decisions', '--all')['decisions'])).toHaveLength(5);
    expect(folder.data('decisions', '--key', 'storage', '--all')).toMatchObject({ total: 2 });
    expect(folder.data('decisions', '--affects', 't1')).toMatchObject({ decisions: [{ id: 'D-3' }], total: 1 });
    expect(folder.data('decisions', '--affects', 't1', '--key', 'storage')).toMatchObject({ total: 1 });
    expect(folder.run('decisions', '--key', 'storage').out).not.toContain('more');
    expect(folder.run('decisions', '--limit', '1').out).toContain('1 more');
    const all = folder.data('decisions', '--all')['decisions'] as { id: string; status: string }[];
    expect(Object.fromEntries(all.map(({ id, status }) => [id, status]))).toEqual({
      // A key has one value.
      'D-1': 'superseded',
      'D-2': 'superseded',
      'D-3': 'active',
      'D-4': 'active',
      'D-5': 'retracted',
    });
    expect(folder.fault('retract', 'D-9', '--reason', 'r')).toMatchObject({ code: 'not_found' });
  });

  it('lists open items, sessions and tokens', () => {
    const folder = newWorkspace();
    folder.data('raise', 'blocker', 'b', '--affects', 't3');
    folder.data('raise', 'finding', 'f', '--severity', 'must_fix');
    folder.data('raise', 'question', 'q');
    folder.data('settle', 'Q-1', '--as', 'resolved');
    expect(ids(folder.data('items')['items'])).toEqual(['B-1', 'F-1']);
    expect(ids(folder.data('items', '--all')['items']).sort()).toEqual(['B-1', 'F-1', 'Q-1']);
    expect(ids(folder.data('items', '--kind', 'finding')['items'])).toEqual(['F-1']);
    folder.data('start', 't1', '--agent', 'ada');
    folder.data('session', 'end', '--reason', 'context-exhausted', '--agent', 'ada');
    folder.data('session', 'start', '--agent', 'ada');
    expect(folder.data('sessions')['sessions']).toMatchObject([
      { id: 'S-1', status: 'context-exhausted', continuedBy: 'S-2' },
      { id: 'S-2', status: 'active', continues: 'S-1' },
    ]);
    expect(ids(folder.data('sessions', '--active')['sessions'])).toEqual(['S-2']);
    expect(folder.run('sessions').out).toContain('continues S-1');
    folder.data('usage', 'add', '--input', '10', '--output', '2', '--cached', '5', '--agent', 'ada');
    folder.data('usage', 'add', '--input', '1', '--output', '1', '--of', 'bob');
    expect(folder.data('usage')).toMatchObject({
      total: { input: 11, output: 3, cached: 5 },
      agents: [{ agent: 'ada', input: 10 }, { agent: 'bob' }],
    });
    expect(folder.data('status')).toMatchObject({
      steps: [{}, { key: 't1', interrupted: true }, {}, { key: 't3', blocked: true }],
    });
    expect(folder.run('plan', 'show').out).toContain('blocked by B-1');
  });

  it('names the run it is about when there are several, and uses the session’s', () => {
    const folder = newWorkspace();
    folder.data('session', 'start', '--agent', 'ada');
    folder.data('init', '--title', 'Second', '--id', 'second');
    // The one that was opened last is the chosen one.
    const shown = folder.run('status', '--json').json;
    expect(shown).toMatchObject({ data: { run: { id: 'second' } } });
    expect(shown).toMatchObject({ warnings: [expect.stringContaining('Using run second, one of 2')] });
    folder.data('use', 'auth');
    expect(folder.data('note', 'x')).toMatchObject({ run: 'auth' });
    folder.data('use', '--clear');
    expect(folder.data('status')).toMatchObject({ run: { id: 'auth' } });
    expect(folder.fault('use', 'nothing')).toMatchObject({ code: 'not_found' });
    expect(folder.data('status', '--run', 'second')).toMatchObject({ run: { id: 'second' } });
    expect(folder.data('note', 'x', '--session', 'S-1')).toMatchObject({ run: 'auth' });
    expect(folder.fault('status', '--run', 'secnd').hints.join(' ')).toContain('`second`');
    folder.person.data('abort', '--run', 'second', '--reason', 'r');
    expect(folder.data('status')).toMatchObject({ run: { id: 'auth' } });
    expect(newFolder().fault('runs')).toMatchObject({ code: 'not_found' });
  });
});

describe('waiting', () => {
  it('ends at once when it has already happened, and in time when it never does', () => {
    const folder = newWorkspace();
    folder.data('raise', 'blocker', 'b', '--affects', 't3');
    expect(folder.data('wait', '--for', 't1')).toMatchObject({ state: 'ready' });
    for (const target of ['B-1', 't2', 't3', 'mail']) {
      expect(folder.fault('wait', '--for', target, '--timeout', '0.1')).toMatchObject({ code: 'unavailable', exit: 3 });
    }
    folder.data('settle', 'B-1', '--as', 'bypassed');
    expect(folder.data('wait', '--for', 'B-1')).toMatchObject({ state: 'bypassed' });
    expect(folder.fault('wait', '--for', 'B-2')).toMatchObject({ code: 'not_found' });
  });

  it('ends when another process makes it happen', async () => {
    const folder = newWorkspace();
    folder.data('raise', 'question', 'q');
    folder.data('start', 't1', '--agent', 'ada');
    folder.data('claim', 'file', '--agent', 'ada');
    const targets = ['Q-1', 't1', 't2', 'S-1', 'L-2'];
    const waits = targets.map((target) => folder.start('wait', '--for', target, '--timeout', '20', '--json'));
    folder.data('settle', 'Q-1', '--as', 'resolved');
    folder.data('complete', '--agent', 'ada');
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'ada');
    const ended = await Promise.all(waits);
    expect(ended.map((ran) => (ran.json.data as Record<string, unknown>)['state'])).toEqual([
      'resolved',
      'completed',
      'ready',
      'completed',
      'released',
    ]);
  });
});
