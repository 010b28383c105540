import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { program } from './command-line.ts';
import { bash, began, closed, command, events, input, launch, newInstalled, run } from './installed-hooks.ts';

const shells: Record<string, string[]> = {
  dash: ['dash'],
  'bash --posix': ['bash', '--posix'],
  'busybox ash': ['busybox', 'ash'],
};
const isHere = ([name = '']: readonly string[]): boolean => spawnSync(name, ['-c', ':']).error === undefined;
const missing = Object.keys(shells).filter((name) => !isHere(shells[name] ?? []));

it.skipIf(missing.length > 0)(`every shell is on this machine${missing.map((name) => `, not ${name}`)}`, () => {
  expect(missing).toEqual([]);
});

describe.each(Object.entries(shells).filter(([name]) => !missing.includes(name)))(
  'the hook launcher in %s',
  (_name, shell) => {
    it('writes a report that the next command records, in order and once', () => {
      const folder = newInstalled();
      for (const words of ['npm test', 'npm run build', 'git push']) command(folder, words, { shell });
      expect(folder.reports()).toHaveLength(6);
      for (const name of folder.reports()) expect(statSync(folder.inbox(name)).mode & 0o777).toBe(0o600);
      const types = events(folder).map(({ type, body }) => [type, body['name'] ?? body['outcome']]);
      expect(types.slice(-6)).toEqual([
        ['effect.began', 'npm test'],
        ['effect.ended', 'succeeded'],
        ['effect.began', 'npm run build'],
        ['effect.ended', 'succeeded'],
        ['effect.began', 'git push'],
        ['effect.ended', 'succeeded'],
      ]);
      expect(folder.reports()).toEqual([]);
      expect(began(folder)).toHaveLength(3);
      expect(
        new Set(
          events(folder)
            .slice(-6)
            .map(({ session }) => session),
        ),
      ).toEqual(new Set(['S-1']));
    });

    it('finds the inbox from a folder below and from a linked worktree', () => {
      const folder = newInstalled();
      const below = join(folder.path, 'a b', 'c');
      mkdirSync(below, { recursive: true });
      command(folder, 'in a folder', { shell, cwd: below });
      const tree = `${folder.path}-tree`;
      const git = (...words: string[]) =>
        spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: folder.path });
      git('commit', '--allow-empty', '-q', '-m', 'x');
      expect(git('worktree', 'add', '-q', tree).status).toBe(0);
      try {
        command(folder, 'in a worktree', { shell, cwd: tree });
        expect(folder.reports()).toHaveLength(4);
        expect(began(folder)).toEqual(['in a folder', 'in a worktree']);
      } finally {
        rmSync(tree, { recursive: true, force: true });
      }
    });

    it('keeps words of any kind in their place', () => {
      const folder = newInstalled();
      const odd = join(folder.path, "odd \\n $(touch x) 'name'");
      mkdirSync(odd);
      command(folder, 'echo \\"quoted\\" \\n', { shell, cwd: odd, env: { HOLDFAST_AGENT: 'ada' } });
      expect(folder.reports()).toHaveLength(2);
      expect(readFileSync(folder.inbox(folder.reports()[0] ?? ''), 'utf8').split('\n')[1]).toBe(odd);
      // The program is run where they would not stay on their line; it records earlier reports first.
      command(folder, 'in two lines', { shell, env: { HOLDFAST_AGENT: 'a\nb' } });
      expect(folder.reports()).toEqual([]);
      expect(began(folder)).toEqual(['echo \\"quoted\\" \\n', 'in two lines']);
      expect(readdirSync(odd)).toEqual([]);
    });
  },
);

describe('the hook launcher', () => {
  it('writes nothing where there is no repository, or capture is off', () => {
    const folder = newInstalled();
    const outside = `${folder.path}-outside`;
    mkdirSync(outside);
    try {
      expect(launch(folder, 'PreToolUse', bash(folder, 'PreToolUse', 'x', 'o1', outside), { cwd: outside })).toBe('');
      expect(readdirSync(outside)).toEqual([]);
    } finally {
      rmSync(outside, { recursive: true });
    }
    folder.person.data('capture', 'off');
    command(folder, 'while it is off');
    expect(folder.reports()).toEqual([]);
    folder.person.data('capture', 'on');
    command(folder, 'while it is on');
    expect(began(folder)).toEqual(['while it is on']);
  });

  it('writes through no link, and believes no pointer that nothing leads back to', () => {
    const folder = newInstalled();
    const other = newInstalled();
    const planted = join(folder.path, 'planted');
    mkdirSync(planted);
    writeFileSync(join(planted, '.git'), `gitdir: ${other.path}/.git/worktrees/x\n`);
    const gitDir = join(other.path, '.git/worktrees/x');
    mkdirSync(gitDir, { recursive: true });
    writeFileSync(join(gitDir, 'commondir'), '../..\n');
    writeFileSync(join(gitDir, 'gitdir'), '/elsewhere/.git\n');
    launch(folder, 'PreToolUse', bash(folder, 'PreToolUse', 'planted', 'p1', planted), { cwd: planted });
    expect(other.reports()).toEqual([]);
    const aside = `${folder.own('inbox')}-real`;
    renameSync(folder.own('inbox'), aside);
    symlinkSync(aside, folder.own('inbox'));
    launch(folder, 'PreToolUse', bash(folder, 'PreToolUse', 'linked', 'p2'));
    expect(readdirSync(aside).filter((name) => name.endsWith('.in'))).toEqual([]);
  });

  it('ends well without the program, and what it wrote is recorded later', () => {
    const folder = newInstalled();
    const file = folder.state('holdfast-hook.sh');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/ P=\S+/, ' P=/nowhere/holdfast.cjs'));
    command(folder, 'npm test');
    expect(launch(folder, 'SessionStart', input(folder, 'SessionStart', { source: 'resume' }))).toBe('');
    renameSync(folder.inbox(), `${folder.inbox()}-kept`);
    expect(launch(folder, 'PreToolUse', bash(folder, 'PreToolUse', 'x', 'gone'))).toBe('');
    renameSync(`${folder.inbox()}-kept`, folder.inbox());
    writeFileSync(file, text);
    command(folder, 'npm run lint');
    expect(began(folder)).toEqual(['npm test', 'npm run lint']);
  });

  it('lets 60 hooks write at once, whole', async () => {
    const folder = newInstalled();
    const long = 'x'.repeat(300_000);
    const script = folder.state('holdfast-hook.sh');
    const ended = Array.from({ length: 60 }, (_, index) => {
      const child = spawn('sh', [script, 'claude', 'PreToolUse'], {
        cwd: folder.path,
        env: folder.env,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      child.stdin.end(bash(folder, 'PreToolUse', `echo ${index} # ${long}`, `many-${index}`));
      return closed(child);
    });
    expect(new Set(await Promise.all(ended))).toEqual(new Set([0]));
    const names = began(folder).map((name) => Number(name.split(' ')[1]));
    expect(names.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => index));
  });

  it('starts a drain in the background when a report is late', async () => {
    const folder = newInstalled();
    command(folder, 'first');
    folder.data('status');
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(folder.inbox('drained'), past, past);
    launch(folder, 'PreToolUse', bash(folder, 'PreToolUse', 'second', 'late-1'));
    while (folder.reports().length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(statSync(folder.inbox('drained')).mtimeMs).toBeGreaterThan(Date.now());
    expect(began(folder)).toEqual(['first', 'second']);
  });

  it('runs the program while an answer is due', () => {
    const folder = newInstalled();
    writeFileSync(folder.inbox('ask'), '');
    launch(folder, 'PreToolUse', bash(folder, 'PreToolUse', 'one', 'ask-1'));
    expect(folder.reports()).toEqual([]);
    launch(folder, 'PostToolUse', bash(folder, 'PostToolUse', 'one', 'ask-1'));
    expect(existsSync(folder.inbox('ask'))).toBe(false);
    command(folder, 'two');
    expect(folder.reports()).toHaveLength(2);
    expect(began(folder)).toEqual(['one', 'two']);
  });
});

describe('waiting reports', () => {
  it('are recorded before the next prompt and the end of the turn', () => {
    const folder = newInstalled();
    command(folder, 'npm test');
    const node = [process.execPath, program, 'hook', 'claude'];
    run(folder, [...node, 'UserPromptSubmit'], input(folder, 'UserPromptSubmit', { prompt: 'Go on with the tokens' }));
    command(folder, 'npm run build');
    run(folder, [...node, 'Stop'], input(folder, 'Stop', {}));
    expect(folder.reports()).toEqual([]);
    const types = events(folder).map(({ type, body }) => body['name'] ?? type);
    const shown = types.filter((type) => /^(turn\.|npm )/.test(type));
    expect(shown).toEqual(['turn.began', 'npm test', 'turn.ended', 'turn.began', 'npm run build', 'turn.ended']);
  });

  it('are recorded once by several commands at once, and again by none after a kill before they were removed', async () => {
    const folder = newInstalled();
    for (let count = 0; count < 12; count++) command(folder, `npm run ${count}`);
    const kept = folder.reports().map((name) => [name, readFileSync(folder.inbox(name), 'utf8')] as const);
    const ran = await Promise.all([1, 2, 3].map(() => folder.start('status', '--json')));
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0]);
    const before = events(folder);
    expect(began(folder)).toHaveLength(12);
    // As a process leaves them that is killed between the commit and the removal.
    for (const [name, text] of kept) writeFileSync(folder.inbox(name), text, { mode: 0o600 });
    expect(events(folder)).toEqual(before);
    expect(folder.reports()).toEqual([]);
  });

  it('have the time they were written at', () => {
    const folder = newInstalled();
    command(folder, 'npm test');
    const [first = '', second = ''] = folder.reports().sort();
    const soon = Date.now() + 3_600_000;
    utimesSync(folder.inbox(first), new Date(soon), new Date(soon));
    const then = statSync(folder.inbox(second)).mtime;
    const recorded = events(folder).slice(-2);
    expect(recorded.map(({ at }) => at <= new Date().toISOString())).toEqual([true, true]);
    expect(recorded.map(({ at }) => at)).toContain(
      new Date(Math.max(then.getTime(), Date.parse(recorded[0]?.at ?? ''))).toISOString(),
    );
  });

  it('of an edit have the hash of the file, unless it was changed since', () => {
    const folder = newInstalled();
    const edit = (name: string, id: string) => {
      writeFileSync(join(folder.path, name), `of the agent, ${name}\n`);
      const file = { tool_name: 'Write', tool_input: { file_path: join(folder.path, name) }, tool_use_id: id };
      launch(folder, 'PostToolUse', input(folder, 'PostToolUse', file));
    };
    edit('kept.ts', 'e1');
    edit('edited.ts', 'e2');
    appendFileSync(join(folder.path, 'edited.ts'), 'of the user\n');
    // A change within the same step of the clock cannot be told apart; here it was later.
    const report = folder.reports().sort().at(-1) ?? '';
    const earlier = new Date(statSync(folder.inbox(report)).mtimeMs - 2000);
    for (const name of folder.reports())
      if (readFileSync(folder.inbox(name), 'utf8').includes('edited')) utimesSync(folder.inbox(name), earlier, earlier);
    const seen = events(folder).flatMap(({ type, body }) =>
      type === 'files.seen' ? (body['artifacts'] as { path: string; sha256: string | null }[]) : [],
    );
    const hashOf = (name: string) => seen.find(({ path }) => path === name)?.sha256;
    expect(hashOf('kept.ts')).toMatch(/^[0-9a-f]{64}$/);
    expect(hashOf('edited.ts')).toBeNull();
  });

  it('that are not whole are left while they may grow, and put aside after that', () => {
    const folder = newInstalled();
    const machine = JSON.parse(readFileSync(folder.state('machine.json'), 'utf8')).machine as string;
    const put = (name: string, text: string, secondsAgo = 0) => {
      writeFileSync(folder.inbox(name), text, { mode: 0o600 });
      const then = new Date(Date.now() - secondsAgo * 1000);
      utimesSync(folder.inbox(name), then, then);
    };
    const header = `holdfast-inbox 1 claude PreToolUse 1 1 - -\n${folder.path}\n\n\n`;
    const cut = `${header}{"session_id":"conversation-1","tool`;
    put(`${machine}-${process.pid}-1.in`, cut);
    put(`${machine}-${process.pid}-2.in`, cut, 60);
    put(`${machine}-999999999-3.in`, cut);
    put('m-ffffffffffff-5-4.in', cut);
    put('m-ffffffffffff-5-5.in', cut, 3600);
    put(`${machine}-999999999-6.in`, header);
    put('nonsense.in', 'nonsense', 3600);
    folder.data('status');
    expect(folder.reports().sort()).toEqual([`${machine}-${process.pid}-1.in`, 'm-ffffffffffff-5-4.in'].sort());
    expect(readdirSync(folder.inbox('bad')).sort()).toEqual(
      [`${machine}-${process.pid}-2.in`, `${machine}-999999999-3.in`, 'm-ffffffffffff-5-5.in', 'nonsense.in'].sort(),
    );
    expect(readFileSync(folder.state('log/hook.log'), 'utf8').match(/cannot be read and was put aside/g)).toHaveLength(
      4,
    );
    expect(events(folder).map(({ type }) => type)).not.toContain('effect.began');
  });

  it('of a session whose work was handed to another are put aside', () => {
    const folder = newInstalled();
    command(folder, 'before');
    folder.env['CLAUDE_CODE_SESSION_ID'] = 'conversation-1';
    folder.env['CLAUDECODE'] = '1';
    const { id } = folder.data('handoff', '--to', 'codex', '--session', 'S-1');
    delete folder.env['CLAUDE_CODE_SESSION_ID'];
    delete folder.env['CLAUDECODE'];
    folder.data('handoff', 'accept', id, '--agent', 'codex');
    launch(folder, 'PreToolUse', bash(folder, 'PreToolUse', 'after', 'after-1'));
    const waiting = folder.reports();
    expect(began(folder)).toEqual(['before']);
    expect(readdirSync(folder.inbox('refused'))).toEqual(waiting);
    expect(readFileSync(folder.state('log/hook.log'), 'utf8')).toContain('was refused: Its work was handed to another');
  });

  it('of another workspace go to its inbox', () => {
    const folder = newInstalled();
    const other = newInstalled();
    launch(folder, 'PreToolUse', bash(other, 'PreToolUse', 'over there', 'there-1'));
    expect(folder.reports()).toHaveLength(1);
    folder.data('status');
    expect([folder.reports().length, other.reports().length]).toEqual([0, 1]);
    expect(began(folder)).toEqual([]);
    expect(began(other)).toEqual(['over there']);
  });

  it('of a conversation that was never reported open its session, with its process', () => {
    const folder = newInstalled();
    const text = bash(folder, 'PreToolUse', 'npm test', 'first-1').replace('conversation-1', 'conversation-2');
    launch(folder, 'PreToolUse', text, { env: { CLAUDE_PID: String(process.pid) } });
    const runs = folder.data('runs')['runs'] as { id: string }[];
    const owners = runs.flatMap(({ id }) => {
      const sessions = folder.data('sessions', '--run', id)['sessions'] as { owner?: { pid: number } | null }[];
      return sessions.map(({ owner }) => owner?.pid);
    });
    expect(owners).toContain(process.pid);
  });

  it('wait while the journal cannot be written', () => {
    const folder = newInstalled();
    command(folder, 'npm test');
    const journal = folder.own('journal.db');
    const whole = readFileSync(journal);
    writeFileSync(journal, 'not a database');
    expect(folder.run('status').code).toBe(4);
    expect(folder.reports()).toHaveLength(2);
    writeFileSync(journal, whole);
    expect(began(folder)).toEqual(['npm test']);
  });

  it.skipIf(process.getuid?.() === 0)('are not written into a folder that cannot be written', () => {
    const folder = newInstalled();
    chmodSync(folder.inbox(), 0o500);
    command(folder, 'npm test');
    chmodSync(folder.inbox(), 0o700);
    expect(folder.reports()).toEqual([]);
  });
});
