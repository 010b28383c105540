import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { newWorkspace, program } from './command-line.ts';

describe('status', () => {
  it('shows the plan with its glyphs, who holds what, what is ready and what needs a person', () => {
    const folder = newWorkspace();
    folder.data('plan', 'add', 't4', 'Release', '--gate', '--after', 't3');
    folder.data('start', 't1', '--agent', 'claude');
    folder.person.data('skip', 't3', '--reason', 'out of scope');
    folder.data('usage', 'add', '--input', '900000', '--cached', '100000', '--output', '50000', '--of', 'claude');
    const { out } = folder.run('status');
    expect(out).toMatch(/^User authentication {2}[█░]{16} 1 of 4 steps/);
    expect(out).toMatch(/○ t1 +Issue tokens +in progress, claude \(S-1\)/);
    expect(out).toMatch(/^ {2}claude \(S-1\) working, last seen /m);
    expect(out).toMatch(/□ t2 +Rotate tokens +after t1/);
    expect(out).toMatch(/– t3 +Write the docs +skipped by \S+ \(at a terminal\): out of scope/);
    expect(out).toContain('Needs you: gate "t4"');
    expect(out).toContain('Tokens: 900 k in (11 % cached), 50 k out · claude 100 %');
    folder.data('complete', '--agent', 'claude');
    expect(folder.run('status').out).toMatch(/□ t2 +Rotate tokens +ready$[\s\S]*Ready: t2/m);
  });

  it('calls sessions and runs what the dashboard calls them, with times that people read; --json keeps the instants', async () => {
    const folder = newWorkspace();
    const agent = spawn('sleep', ['600'], { stdio: 'ignore' });
    folder.env['HOLDFAST_PID'] = String(agent.pid);
    folder.data('start', 't1', '--agent', 'claude');
    expect(folder.run('sessions').out).toMatch(/^S-1 claude working, started (just now|\d+ s ago)$/m);
    expect(folder.run('runs').out).toMatch(/^auth working, (just now|\d+ s ago) User authentication$/m);
    agent.kill('SIGKILL');
    await once(agent, 'exit');
    expect(folder.run('status').out).toMatch(/○ t1 +Issue tokens +interrupted \(claude, S-1\)/);
    expect(folder.run('status').out).toMatch(/^ {2}claude \(S-1\) cut off, last seen /m);
    expect(folder.run('sessions').out).toMatch(/^S-1 claude cut off, started /m);
    expect(folder.data('sessions')).toMatchObject({
      sessions: [{ status: 'active', label: 'cut off', startedAt: expect.stringMatching(/^\d{4}-.*Z$/) }],
      now: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it('is shown again after every event, with --watch', async () => {
    const folder = newWorkspace();
    const child = spawn(process.execPath, [program, 'status', '--watch', '--json'], {
      cwd: folder.path,
      env: folder.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () =>
      JSON.parse((await lines.next()).value as string) as { data: { progress: { done: number } } };
    expect((await next()).data.progress.done).toBe(0);
    folder.person.data('skip', 't3', '--reason', 'out of scope');
    expect((await next()).data.progress.done).toBe(1);
    child.kill();
    await once(child, 'exit');
  });
});
