import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newWorkspace } from './command-line.ts';

const claude = ['--agent', 'claude'];
const codex = ['--agent', 'codex'];

function git(folder: Folder, ...words: string[]): void {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  const ran = spawnSync('git', [...identity, ...words], { cwd: folder.path, encoding: 'utf8' });
  expect([words, ran.status, ran.stderr]).toEqual([words, 0, '']);
}

function atWork(): Folder {
  const folder = newWorkspace();
  writeFileSync(join(folder.path, 'token.ts'), 'export {};\n');
  git(folder, 'init', '-q');
  git(folder, 'add', 'token.ts');
  git(folder, 'commit', '-q', '-m', 'First');
  folder.data('start', 't1', ...claude);
  folder.data('checkpoint', 'drafted', '--artifact', 'token.ts', '--next', 'wire the router', ...claude);
  return folder;
}

describe('a handoff', () => {
  it('leaves a snapshot and a message, and moves the right to write when it is accepted', () => {
    const folder = atWork();
    const offered = folder.data('handoff', '--to', 'codex', '--message', 'the router is next', ...claude);
    expect(offered).toMatchObject({
      id: 'H-1',
      from: 'S-1',
      to: 'codex',
      steps: ['t1'],
      snapshot: { id: 'P-1', path: '.git/holdfast/snapshots/claude-1.md' },
      message: 'M-1',
      launch: null,
    });
    expect(folder.data('check')).toMatchObject({ failed: 0 });
    // Until then the sender continues.
    folder.data('checkpoint', 'tested', ...claude);

    const brief = folder.data('resume', ...codex);
    expect(brief['offers']).toMatchObject([{ id: 'H-1', by: 'claude', steps: ['t1'], message: 'the router is next' }]);
    expect(brief['text'].split('\n').slice(3, 7).join('\n')).toContain('holdfast handoff accept H-1');
    expect(brief['mail'].unread).toMatchObject([{ id: 'M-1', type: 'handoff-ready' }]);
    expect(folder.data('resume', ...claude)['offers']).toEqual([]);

    expect(folder.data('handoff', 'accept', 'H-1', ...codex)).toMatchObject({
      id: 'H-1',
      session: 'S-2',
      steps: ['t1'],
      path: '.git/holdfast/snapshots/claude-1.md',
      stale: { events: 1, commits: 0 },
      conflicts: [],
    });
    const late = folder.fault('checkpoint', 'more', '--session', 'S-1');
    expect(late).toMatchObject({ code: 'fenced', exit: 1, data: { holder: { agent: 'codex', session: 'S-2' } } });
    expect(folder.data('note', 'one more thing', '--session', 'S-1')['id']).toBe('N-1');

    folder.data('complete', ...codex);
    folder.data('session', 'end', '--reason', 'completed', ...codex);
    expect(folder.data('handoff', 'list')['handoffs']).toMatchObject([
      { id: 'H-1', status: 'finished', open: false, outcome: 'S-2 ended: completed. t1 completed.' },
    ]);
    expect(folder.data('check', '--all')).toMatchObject({ failed: 0 });
    expect(folder.data('doctor')['findings']).toEqual([]);
  });

  it('re-checks the evidence and says how stale the offer is', () => {
    const folder = atWork();
    folder.data('handoff', '--to', 'codex', ...claude);
    for (let index = 0; index < 11; index++) folder.data('note', `note ${index}`);
    writeFileSync(join(folder.path, 'token.ts'), 'changed from outside\n');
    writeFileSync(join(folder.path, 'other.ts'), 'x\n');
    git(folder, 'add', 'other.ts');
    git(folder, 'commit', '-q', '-m', 'Second');
    const ran = folder.run('handoff', 'accept', 'H-1', '--json', ...codex);
    expect(ran.json.data).toMatchObject({
      stale: { events: 11, commits: 1 },
      conflicts: [{ id: expect.stringMatching(/^K-/), path: 'token.ts' }],
    });
    expect(ran.out).toContain('H-1 is stale: 11 events and 1 commit since it was offered.');
  });

  it('goes to one of two receivers that accept at once', async () => {
    const folder = atWork();
    folder.data('handoff', '--to', 'codex', ...claude);
    const sessions = [1, 2].map(() => folder.data('session', 'start', ...codex)['session'].id as string);
    const ran = await Promise.all(
      sessions.map((id) => folder.start('handoff', 'accept', 'H-1', '--session', id, '--json')),
    );
    expect(ran.map((one) => one.code).sort()).toEqual([0, 1]);
    const winner = ran.find((one) => one.code === 0)?.json.data as unknown as { session: string };
    const loser = ran.find((one) => one.code === 1)?.json.fault;
    expect(loser).toMatchObject({
      code: 'illegal',
      hints: [`It was accepted by codex (${winner.session}).`, expect.any(String)],
    });
    expect(folder.fault('handoff', 'accept', 'H-1', '--agent', 'gemini')).toMatchObject({ code: 'illegal' });
  });

  it('can be accepted again when its receiver was gone before any progress', async () => {
    const folder = atWork();
    folder.data('handoff', '--to', 'codex', ...claude);
    const owner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    folder.env['HOLDFAST_PID'] = String(owner.pid);
    folder.data('handoff', 'accept', 'H-1', ...codex);
    delete folder.env['HOLDFAST_PID'];
    const dead = new Promise((resolve) => owner.on('exit', resolve));
    owner.kill('SIGKILL');
    await dead;
    expect(folder.data('resume', ...codex)['offers']).toMatchObject([{ id: 'H-1' }]);
    expect(folder.data('handoff', 'accept', 'H-1', ...codex)).toMatchObject({ session: 'S-3', steps: ['t1'] });
    folder.data('checkpoint', 'tested', ...codex);
    folder.data('session', 'end', '--reason', 'timeout', ...codex);
    expect(folder.fault('handoff', 'accept', 'H-1', ...codex)).toMatchObject({ code: 'illegal' });
  });

  it('of a session that is gone is offered by a person, with the snapshot it left', () => {
    const folder = atWork();
    folder.data('session', 'end', '--reason', 'context-exhausted', ...claude);
    expect(folder.fault('handoff', '--to', 'codex', '--from', 'S-1', ...codex)).toMatchObject({ code: 'not_allowed' });
    const offered = folder.person.data('handoff', '--to', 'codex', '--from', 'S-1');
    expect(offered).toMatchObject({
      steps: ['t1'],
      snapshot: { id: 'P-1', path: '.git/holdfast/snapshots/claude-1.md' },
    });
    expect(folder.data('handoff', 'accept', 'H-1', ...codex)).toMatchObject({ steps: ['t1'], snapshot: 'P-1' });
  });

  it('of a session that crashed shows how many commits and events it is behind, also before it is accepted', async () => {
    const folder = atWork();
    const owner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    folder.env['HOLDFAST_PID'] = String(owner.pid);
    folder.data('session', 'end', '--reason', 'timeout', ...claude);
    folder.data('start', 't1', ...claude);
    delete folder.env['HOLDFAST_PID'];
    const dead = new Promise((resolve) => owner.on('exit', resolve));
    owner.kill('SIGKILL');
    await dead;
    folder.data('supervise');
    folder.person.data('handoff', '--to', 'codex', '--from', 'S-2');
    expect(folder.run('handoff', 'list').out).toContain('offered, 0 events ago');
    for (let index = 0; index < 11; index++) folder.data('note', `note ${index}`);
    writeFileSync(join(folder.path, 'other.ts'), 'x\n');
    git(folder, 'add', 'other.ts');
    git(folder, 'commit', '-q', '-m', 'Second');
    expect(folder.run('handoff', 'list').out).toContain('offered, stale, 11 events ago');
    expect(folder.data('resume', ...codex)).toMatchObject({
      offers: [{ id: 'H-1', steps: ['t1'], eventsSince: 11 }],
      text: expect.stringContaining('Open: H-1, handoff offered to you by'),
    });
    expect(folder.data('handoff', 'accept', 'H-1', ...codex)['stale']).toEqual({ events: 11, commits: 1 });
  });

  it('is asked about, declined and withdrawn', () => {
    const folder = atWork();
    folder.data('handoff', '--to', 'codex', ...claude);
    folder.data('handoff', 'clarify', 'H-1', '--question', 'which branch?', ...codex);
    expect(folder.data('resume', ...claude)['mail'].unanswered).toMatchObject([
      { id: 'M-1', replies: [{ from: 'codex', body: 'which branch?' }] },
    ]);
    expect(folder.run('handoff', 'list').out).toContain('asks: which branch?');
    folder.data('handoff', 'decline', 'H-1', '--reason', 'busy', ...codex);
    expect(folder.data('handoff', 'list', '--open')['handoffs']).toEqual([]);
    folder.data('handoff', '--to', 'gemini', ...claude);
    folder.data('handoff', 'withdraw', 'H-2', ...claude);
    expect(folder.fault('handoff', 'accept', 'H-2', '--agent', 'gemini')).toMatchObject({ code: 'illegal' });
    folder.data('checkpoint', 'tested', ...claude);
  });

  it('prints how the receiving client is started, and runs it only when asked', () => {
    const folder = atWork();
    const launch = (to: string) => {
      const offered = folder.data('handoff', '--to', to, '--launch', ...claude);
      folder.data('handoff', 'withdraw', offered['id'], ...claude);
      return offered['launch'];
    };
    expect(launch('codex')).toMatchObject({
      start: ['codex', expect.stringContaining('handoff accept H-1')],
      resume: null,
      exitCode: null,
    });
    expect(launch('gemini')).toMatchObject({ start: ['gemini', '-i', expect.any(String)] });
    expect(launch('claude-2')).toMatchObject({
      headless: ['claude', '-p', expect.any(String)],
      resume: ['claude', '--continue'],
    });
    expect(folder.fault('handoff', '--to', 'eliza', '--launch', ...claude)).toMatchObject({
      code: 'invalid',
      data: { known: expect.arrayContaining(['qwen']) },
    });
    expect(folder.data('handoff', 'list', '--open')['handoffs']).toEqual([]);

    // The one in the working tree comes first in the search path, and is not the one that is run.
    const bins = [join(folder.path, 'bin'), folder.state('bin')];
    for (const [index, bin] of bins.entries()) {
      mkdirSync(bin);
      writeFileSync(join(bin, 'codex'), `#!/bin/sh\nprintf '%s' "$*" > ran.txt\nexit ${index + 2}\n`);
      chmodSync(join(bin, 'codex'), 0o755);
    }
    folder.env['PATH'] = [...bins, folder.env['PATH']].join(delimiter);
    const offered = folder.data('handoff', '--to', 'codex', '--start', ...claude);
    expect(offered['launch']).toMatchObject({ exitCode: 3 });
    expect(existsSync(join(folder.path, 'ran.txt'))).toBe(true);
    expect(readFileSync(join(folder.path, 'ran.txt'), 'utf8')).toMatch(/^exec Work was handed over/);
  });
});
