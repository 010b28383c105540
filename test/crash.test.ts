import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { newWorkspace } from './command-line.ts';

describe('an agent that is gone', () => {
  it('is noticed by its dead process: the next one takes over its step, and its late writes are fenced', async () => {
    const folder = newWorkspace();
    const owner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    folder.env['HOLDFAST_PID'] = String(owner.pid);
    folder.data('session', 'start', '--agent', 'claude');
    folder.data('start', 't1', '--agent', 'claude');
    folder.data('checkpoint', 'drafted', '--agent', 'claude', '--next', 'wire the router');
    folder.data(
      'decide',
      '--context',
      'storage',
      '--decision',
      'cookie',
      '--reason',
      'XSS',
      '--affects',
      't1',
      '--agent',
      'claude',
    );
    delete folder.env['HOLDFAST_PID'];
    expect(folder.fault('start', 't1', '--agent', 'codex')).toMatchObject({ code: 'held' });

    const dead = new Promise((resolve) => owner.on('exit', resolve));
    owner.kill('SIGKILL');
    await dead;
    const brief = folder.data('resume', '--agent', 'codex');
    expect(brief).toMatchObject({
      headline: 'Resuming from Phase 1, Task: "Issue tokens" (checkpoint: "drafted", next: "tested")',
      position: { step: 't1', checkpoint: 'drafted', interrupted: ['t1'] },
      nextAction: { text: 'wire the router', basis: 'declared', session: 'S-1' },
      freshness: { previous: { id: 'S-1', status: 'crashed' } },
      decisions: [{ id: 'D-1', decision: 'cookie' }],
    });
    expect(folder.data('start', 't1', '--agent', 'codex')).toMatchObject({
      step: { status: 'in_progress', retries: 0, checkpoint: { name: 'drafted' } },
      session: 'S-2',
    });
    const late = folder.fault('checkpoint', 'tested', '--session', 'S-1');
    expect(late).toMatchObject({ code: 'fenced', exit: 1, data: { holder: { agent: 'codex', session: 'S-2' } } });
    expect(folder.data('note', 'the router needs a restart', '--session', 'S-1')['id']).toBe('N-1');
    expect(folder.run('doctor').code).toBe(0);
  });

  it('comes back as the same session when no one took its step', async () => {
    const folder = newWorkspace();
    const owner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    folder.env['HOLDFAST_PID'] = String(owner.pid);
    folder.data('start', 't1', '--agent', 'claude');
    delete folder.env['HOLDFAST_PID'];
    const dead = new Promise((resolve) => owner.on('exit', resolve));
    owner.kill('SIGKILL');
    await dead;
    expect(folder.data('supervise', '--once')['crashed']).toMatchObject([
      { session: 'S-1', agent: 'claude', evidence: ['Its process is gone.', 'Step t1 reached no checkpoint.'] },
    ]);
    expect(folder.data('checkpoint', 'drafted', '--session', 'S-1')).toMatchObject({
      session: 'S-2',
      step: { holder: { session: 'S-2' } },
    });
    expect(folder.data('checkpoint', 'tested', '--session', 'S-1')).toMatchObject({ session: 'S-2' });
  });
});
