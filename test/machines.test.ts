import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Folder, newFolder } from './command-line.ts';

/** Two clones of one repository with state folders of their own, as on two machines, and one journal for both. */
let bee: Folder;
let ant: Folder;

function git({ path }: Folder, ...words: string[]): void {
  const named = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
  const ran = spawnSync('git', [...named, ...words], { cwd: path, encoding: 'utf8' });
  expect(ran.status, ran.stderr).toBe(0);
}

beforeEach(() => {
  bee = newFolder();
  git(bee, 'commit', '--quiet', '--allow-empty', '-m', 'Begin');
  ant = newFolder();
  git(ant, 'fetch', '--quiet', bee.path, 'main');
  git(ant, 'reset', '--quiet', '--hard', 'FETCH_HEAD');
  for (const folder of [bee, ant]) folder.env['HOLDFAST_STORE'] = bee.state('team.db');
  bee.data('init', '--title', 'Mailer', '--id', 'mailer');
  bee.data('plan', 'add', 't1', 'Write the mailer');
  bee.data('plan', 'add', 't2', 'Write the docs');
  bee.data('session', 'start', '--agent', 'claude');
  bee.data('start', 't1', '--session', 'S-1');
});

describe('work in another clone', () => {
  beforeEach(() => {
    mkdirSync(join(bee.path, 'src'));
    writeFileSync(join(bee.path, 'src/mailer.ts'), 'export const mailer = 1;\n');
    git(bee, 'add', '.');
    git(bee, 'commit', '--quiet', '-m', 'Mailer');
    const files = ['--artifact', 'src/mailer.ts', '--built', 'src/mailer.ts sends'];
    bee.data('checkpoint', 'half', '--session', 'S-1', '--next', 'Send one mail', ...files);
  });

  it('is not compared with the files and commits of this one', () => {
    ant.data('note', 'Here too');
    const { conflicts, evidence } = ant.data('resume');
    expect([conflicts, evidence['drifted'], evidence['files']]).toEqual([[], 0, []]);
    const brief = ant.run('resume').out;
    expect(brief).toContain('The work is in another clone; files named below are there and were not checked.');
    expect(brief).not.toMatch(/gone|not in this repository|branch/);
    writeFileSync(join(bee.path, 'src/mailer.ts'), 'export const mailer = 2;\n');
    expect(bee.data('resume')['evidence']['drifted']).toBe(1);
  });

  it('is elsewhere also for a clone that nothing was recorded in', () => {
    expect(ant.run('resume').out).toContain('The work is in another clone;');
    expect(ant.data('resume')['conflicts']).toEqual([]);
  });

  it('leaves what comes next to the session that does it', () => {
    ant.data('session', 'start', '--agent', 'codex');
    expect(ant.run('resume', '--session', 'S-2').out).toContain('Next: "Write the docs" is ready (step "t2").');
    expect(bee.run('resume', '--session', 'S-1').out).toMatch(/Next, as claude wrote \(\d\d:\d\d\): "Send one mail"/);
  });
});

describe('a session whose process has ended', () => {
  it('is cut off on its own machine, and alive until its lease ends on another one of the same name', async () => {
    const client = spawn('sleep', ['300']);
    await once(client, 'spawn');
    const input = { session_id: 'killed', cwd: bee.path, hook_event_name: 'SessionStart', source: 'startup' };
    bee.env['HOLDFAST_PID'] = String(client.pid);
    expect(bee.pipe(JSON.stringify(input), 'hook', 'claude', 'SessionStart').code).toBe(0);
    const prompt = { ...input, hook_event_name: 'UserPromptSubmit', prompt: 'Rename the mailer to postman' };
    expect(bee.pipe(JSON.stringify(prompt), 'hook', 'claude', 'UserPromptSubmit').code).toBe(0);
    client.kill('SIGKILL');
    await once(client, 'close');
    const livesOn = (folder: Folder): unknown =>
      folder.data('resume')['others'].find(({ session }: { session: string }) => session === 'S-2')?.alive;
    expect(livesOn(ant)).toBe(true);
    expect(livesOn(bee)).not.toBe(true);
  });
});
