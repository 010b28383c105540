import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBrowser } from '../demo/browser.ts';
import { type Folder, newFolder, program } from './command-line.ts';
import { input, launch, run } from './installed-hooks.ts';

/** A person at a terminal with so many commands, each written from what earlier output showed. */
function person(folder: Folder, allowed: number): (...words: string[]) => string {
  let used = 0;
  return (...words) => {
    used += 1;
    expect(used).toBeLessThanOrEqual(allowed);
    const ran = folder.person.run(...words);
    expect([words, ran.code, ran.code === 0 ? '' : ran.err]).toEqual([words, 0, '']);
    return ran.out;
  };
}

/** The part of an output that a person would copy. */
const copied = (output: string, form: RegExp): string => form.exec(output)?.[1] ?? `nothing like ${form} in: ${output}`;

/** A client as it reports: through the hooks that `install` set up. */
function client(folder: Folder, name: 'claude' | 'codex', pid = process.pid) {
  const env = { HOLDFAST_PID: String(pid) };
  const line = ['sh', folder.state('holdfast-hook.sh'), name];
  return {
    reports: (event: string, more: object): string => {
      const text = input(folder, event, { ...more, session_id: `${name}-1` });
      return run(folder, [...line, event], text, folder.path, env).stdout;
    },
    bash(command: string, id: string, exit: number | null): void {
      const call = { tool_name: 'Bash', tool_use_id: id, tool_input: { command } };
      this.reports('PreToolUse', call);
      if (exit === null) return;
      if (exit === 0) this.reports('PostToolUse', { ...call, tool_response: { stdout: '', exit_code: 0 } });
      else this.reports('PostToolUseFailure', { ...call, error: `Exit code ${exit}` });
    },
  };
}

/** Claude worked, a test failed, a deploy ran, and its process was killed. */
async function killed(): Promise<Folder> {
  const folder = newFolder();
  folder.data('install', 'claude');
  folder.data('install', 'codex');
  const process = spawn('sleep', ['600'], { stdio: 'ignore' });
  const claude = client(folder, 'claude', process.pid);
  claude.reports('SessionStart', { source: 'startup' });
  claude.reports('UserPromptSubmit', { prompt: 'Fix the 500 on login and deploy it' });
  mkdirSync(join(folder.path, 'src'), { recursive: true });
  writeFileSync(join(folder.path, 'src/login.ts'), 'export const login = 1;\n');
  const file = { file_path: join(folder.path, 'src/login.ts') };
  claude.reports('PostToolUse', { tool_name: 'Write', tool_use_id: 'w1', tool_input: file });
  claude.bash('npm test', 'b1', 1);
  claude.bash('./deploy.sh production', 'b2', null);
  const gone = once(process, 'exit');
  process.kill('SIGKILL');
  await gone;
  return folder;
}

describe('someone who reads only what the program prints', () => {
  it('tries it without an agent, in one command', () => {
    const type = person(newFolder(), 1);
    expect(type('demo', '--fast')).toMatch(/✓ what was asked[\s\S]*✓ nothing was done twice/);
  });

  it('records Claude from now on, in two', () => {
    const folder = newFolder();
    const type = person(folder, 2);
    const intro = type();
    const words = copied(intro, /(holdfast install claude)/).split(' ');
    type(...words.slice(1));
    const claude = client(folder, 'claude');
    claude.reports('SessionStart', { source: 'startup' });
    claude.reports('UserPromptSubmit', { prompt: 'Fix the 500 on login' });
    expect(folder.run('log').out).toContain('you asked "Fix the 500 on login"');
  });

  it('sees after a killed session what was asked, which files changed and which command failed, in one', async () => {
    const log = person(await killed(), 1)('log');
    expect(log).toContain('you asked "Fix the 500 on login and deploy it"');
    expect(log).toContain('claude changed src/login.ts');
    expect(log).toMatch(/claude ran npm test: exit 1/);
    expect(log).toMatch(/claude ran \.\/deploy\.sh production \(X-\d+\): no end recorded/);
  });

  it('continues in another client with no command at all', async () => {
    const folder = await killed();
    const codex = client(folder, 'codex');
    const brief = codex.reports('SessionStart', { source: 'startup' });
    expect(brief).toContain('Fix the 500 on login and deploy it');
    expect(brief).toContain('./deploy.sh production');
    codex.reports('UserPromptSubmit', { prompt: 'continue' });
    expect(folder.data('runs')['runs']).toHaveLength(1);
    const { sessions } = folder.data('sessions');
    expect(sessions.map(({ agent }: { agent: string }) => agent)).toEqual(['codex', 'claude']);
  });

  it('gets from a plan file to the first step, in two', () => {
    const folder = newFolder();
    writeFileSync(join(folder.path, 'plan.md'), '# Login\n## Tokens\n- [x] Table\n- [ ] Rotate\n');
    const type = person(folder, 2);
    const opened = type('init', '--title', 'Login', '--plan', 'plan.md');
    expect(type('start', copied(opened, /holdfast start (\S+)/))).toContain('in progress');
  });

  it('adds a step and finishes it, in two', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Launch');
    const type = person(folder, 2);
    const added = type('add', 'Buy a domain');
    expect(type('done', copied(added, /Added (\S+)/))).toContain('completed');
  });

  it('records a decision and finds it again, in two', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Launch');
    const type = person(folder, 2);
    type('decide', 'Use PostgreSQL', '--why', 'we know it');
    expect(type('search', 'PostgreSQL')).toContain('we know it');
  });

  it("answers an agent's question, in two", () => {
    const folder = newFolder();
    folder.data('init', '--title', 'Launch');
    folder.data('ask', 'Which port?', '--agent', 'claude');
    const type = person(folder, 2);
    const shown = type();
    expect(shown).toContain('Which port?');
    expect(type('answer', copied(shown, /holdfast answer (\S+)/), 'Port 80')).toContain('resolved');
  });

  it('records the outcome of a deploy that was cut off, in two', async () => {
    const type = person(await killed(), 2);
    const shown = type();
    expect(shown).toContain('./deploy.sh production');
    expect(type('settle', copied(shown, /holdfast settle (X-\d+)/), 'succeeded')).toContain('recorded as succeeded');
  });

  it('switches to another unfinished run, in two', () => {
    const folder = newFolder();
    folder.data('init', '--title', 'First thing');
    folder.data('add', 'One');
    folder.data('init', '--title', 'Second thing');
    folder.data('add', 'Two');
    const type = person(folder, 2);
    const listed = type('runs');
    const id = copied(listed, /(\d{4}-\d\d-\d\d-first-thing)/);
    expect(type('use', id)).toContain('First thing');
    expect(folder.data('status')['run']).toMatchObject({ id });
  });

  it('stops recording, in one', () => {
    const folder = newFolder();
    folder.data('install', 'claude');
    person(folder, 1)('capture', 'off');
    launch(folder, 'UserPromptSubmit', input(folder, 'UserPromptSubmit', { prompt: 'Fix the login' }));
    expect(folder.data('runs', '--all')['runs']).toEqual([]);
  });

  it('finds out in the dashboard who works on a step, in one command and two clicks', {
    timeout: 120_000,
  }, async () => {
    const folder = newFolder();
    const agent = spawn('sleep', ['600'], { stdio: 'ignore' });
    folder.data('init', '--title', 'Tide alarm');
    folder.data('add', 'Send alarms');
    folder.env['HOLDFAST_PID'] = String(agent.pid);
    folder.data('start', 't1', '--agent', 'claude');
    const server = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      cwd: folder.path,
      env: folder.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const browser = await openBrowser();
    try {
      const [output] = (await once(server.stdout, 'data')) as [Buffer];
      const page = await browser.newPage();
      await page.goto(copied(output.toString(), /^ +(http:\S+)$/m));
      await page.getByRole('link', { name: /Tide alarm/ }).click();
      await page.getByRole('link', { name: 'Send alarms' }).click();
      const step = page.getByRole('dialog', { name: /t1/ });
      await step.getByText('claude').first().waitFor();
      await step.getByText('in progress').first().waitFor();
    } finally {
      await browser.close();
      const stopped = once(server, 'exit');
      server.kill('SIGTERM');
      agent.kill('SIGKILL');
      await stopped;
    }
  });
});
