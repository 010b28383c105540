import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newWorkspace } from './command-line.ts';

describe('working on steps by the command line', () => {
  it('takes a step from start to completion and reports what changed', () => {
    const folder = newWorkspace();
    const session = folder.data('session', 'start', '--agent', 'claude');
    expect(session).toMatchObject({ session: { id: 'S-1', agent: 'claude' }, run: { id: 'auth' } });
    expect(session['brief']).toContain('Resuming from Phase 1, Task: "Issue tokens" (not started)');
    const started = folder.data('start', 't1', '--agent', 'claude');
    expect(started).toMatchObject({ step: { key: 't1', status: 'in_progress' }, session: 'S-1' });
    expect(started.changed).toContainEqual({ path: 'step.t1.status', before: 'pending', after: 'in_progress' });
    expect(folder.data('start', 't1', '--agent', 'claude').changed).toEqual([]);

    writeFileSync(join(folder.path, 'tokens.ts'), 'export {};\n');
    const words = [
      'checkpoint',
      'drafted',
      '--agent',
      'claude',
      '--artifact',
      'tokens.ts',
      '--next',
      'wire the router',
    ];
    const reached = folder.data(...words);
    expect(reached).toMatchObject({ step: { key: 't1', checkpoint: { name: 'drafted' } } });
    const [artifact] = (reached['step'] as { artifacts: { path: string; sha256: string; bytes: number }[] }).artifacts;
    expect(artifact).toMatchObject({ path: 'tokens.ts', bytes: 11 });
    expect(artifact?.sha256).toMatch(/^[0-9a-f]{64}$/);

    const done = folder.data(
      'complete',
      '--agent',
      'claude',
      '--summary',
      'Tokens are issued',
      '--built',
      'the issuer',
    );
    expect(done).toMatchObject({ step: { key: 't1', status: 'completed', checkpoint: null } });
    expect(folder.data('status')).toMatchObject({ progress: { percent: 25, done: 1, total: 3 } });
  });

  it('refuses what the rules do not allow, with the reason and what helps', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    expect(folder.fault('start', 't1', '--agent', 'codex')).toMatchObject({
      code: 'held',
      exit: 1,
      data: { session: 'S-1', agent: 'claude' },
    });
    expect(folder.fault('start', 't2', '--agent', 'codex')).toMatchObject({ code: 'blocked', exit: 1 });
    expect(folder.fault('start', 'p1', '--agent', 'codex')).toMatchObject({ code: 'illegal', exit: 1 });
    expect(folder.fault('start', 't11', '--agent', 'codex')).toMatchObject({
      code: 'not_found',
      exit: 1,
      data: { near: ['t1'] },
    });
    expect(folder.fault('complete', '--agent', 'codex')).toMatchObject({ code: 'not_found', exit: 1 });
    expect(folder.fault('complete', 't3', '--agent', 'codex')).toMatchObject({ code: 'illegal', exit: 1 });
    const skip = folder.fault('skip', 't3', '--reason', 'no time', '--agent', 'codex');
    expect(skip).toMatchObject({ code: 'not_allowed', exit: 1 });
    expect(skip.hints.join(' ')).toContain('Ask the person');
    expect(folder.person.data('skip', 't3', '--reason', 'no time')).toMatchObject({ step: { status: 'skipped' } });
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'claude');
    expect(folder.fault('note', 'late', '--session', 'S-1')).toMatchObject({ code: 'illegal', exit: 1 });
  });

  it('reopens a failed step without taking it', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    folder.data('checkpoint', 'drafted', '--agent', 'claude');
    folder.data('fail', '--message', 'no disk', '--agent', 'claude');
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'claude');
    const ran = folder.run('retry', 't1', '--open', '--note', 'the disk is free');
    expect(ran.out).toContain('retry 1, open for the next agent: `holdfast start t1`');
    expect(folder.data('sessions', '--active')['sessions']).toEqual([]);
    expect(folder.data('resume', '--agent', 'codex')['text']).toContain('Next: "Issue tokens" was in progress.');
    expect(folder.data('start', 't1', '--agent', 'codex')).toMatchObject({
      step: { retries: 1, holder: { agent: 'codex' } },
    });
    expect(folder.fault('retry', 't1', '--open').code).toBe('illegal');
  });

  it('fails, retries twice and then leaves it to a person', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    for (const attempt of [1, 2]) {
      expect(folder.data('fail', '--type', 'timeout', '--message', 'too slow', '--agent', 'claude')).toMatchObject({
        step: { status: 'failed' },
        error: `E-${attempt}`,
      });
      expect(folder.fault('start', 't1', '--agent', 'claude')).toMatchObject({ code: 'illegal' });
      expect(folder.data('retry', 't1', '--agent', 'claude', '--note', 'again')).toMatchObject({
        step: { retries: attempt },
      });
    }
    folder.data('fail', '--message', 'still', '--agent', 'claude');
    expect(folder.fault('retry', 't1', '--agent', 'claude')).toMatchObject({ code: 'not_allowed' });
    expect(folder.fault('retry', 't1')).toMatchObject({ code: 'not_allowed', data: { evidence: 'none' } });
    expect(folder.person.data('retry', 't1')).toMatchObject({ step: { status: 'in_progress', retries: 3 } });
    const errors = () =>
      (folder.data('items', '--kind', 'error', '--all')['items'] as { status: string; resolution: string }[]).map(
        ({ status, resolution }) => [status, resolution],
      );
    expect(errors().map(([status]) => status)).toEqual(['open', 'open', 'open']);
    folder.data('start', 't1', '--agent', 'claude');
    folder.data('complete', '--agent', 'claude');
    expect(errors()).toEqual(Array(3).fill(['resolved', 'completed at retry 3']));
  });

  it('unblocks a step when its blocker is settled, and says so', () => {
    const folder = newWorkspace();
    const { id } = folder.data('raise', 'blocker', 'No credentials', '--affects', 'p1');
    expect(folder.fault('start', 't1', '--agent', 'claude')).toMatchObject({ code: 'blocked' });
    expect(folder.data('settle', id, '--as', 'resolved', '--note', 'they came')).toMatchObject({ freed: ['t1'] });
    folder.data('start', 't1', '--agent', 'claude');
  });

  it('runs a probe and keeps its outcome as verified', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    expect(folder.data('verify', 't1', '--probe', 'exit 0')).toMatchObject({
      result: 'pass',
      basis: 'verified',
      exitCode: 0,
    });
    expect(folder.data('verify', 't1', '--probe', 'exit 3')).toMatchObject({
      result: 'fail',
      basis: 'verified',
      exitCode: 3,
    });
    expect(folder.data('verify', 't1', '--result', 'pass')).toMatchObject({ basis: 'declared', exitCode: null });
    expect(folder.data('items')['items']).toMatchObject([{ kind: 'finding', severity: 'must_fix', basis: 'verified' }]);
    expect(folder.fault('verify', 't1')).toMatchObject({ code: 'usage', exit: 2 });
  });

  it('keeps RESUME.md for a reader without the tool', () => {
    const folder = newWorkspace();
    const file = folder.own('RESUME.md');
    folder.data('start', 't1', '--agent', 'claude');
    folder.data('checkpoint', 'drafted', '--agent', 'claude', '--next', 'wire the router');
    expect(readFileSync(file, 'utf8')).toContain(
      'Resuming from Phase 1, Task: "Issue tokens" (checkpoint: "drafted", next: "tested")',
    );
    expect(readFileSync(file, 'utf8')).toContain('wire the router');
    folder.data('complete', '--agent', 'claude');
    expect(readFileSync(file, 'utf8')).toContain('Task: "Rotate tokens"');
    expect(readFileSync(file, 'utf8')).not.toContain('wire the router');
  });

  it('records the same command once under an idempotency key', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    const words = ['checkpoint', 'drafted', '--agent', 'claude', '--idempotency', 'k1'];
    const first = folder.data(...words);
    const again = folder.data(...words);
    expect(again['version']).toBe(first['version']);
    expect(again.changed).toEqual([]);
    folder.data('complete', '--agent', 'claude', '--idempotency', 'k2');
    expect(folder.data('complete', '--agent', 'claude', '--idempotency', 'k2')).toMatchObject({
      step: { status: 'completed' },
    });
    const decide = ['decide', '--context', 'c', '--decision', 'd', '--reason', 'r', '--idempotency', 'k3'];
    expect(folder.data(...decide)['id']).toBe('D-1');
    expect(folder.data(...decide)['id']).toBe('D-1');
  });
});
