import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newFolder, newWorkspace, program } from './command-line.ts';
import { openTestServer } from './http-server.ts';
import { runAtTerminal } from './terminal.ts';

const { openHoldfast } = (await import('../dist/lib/index.js' as string)) as typeof import('../src/index.ts');

type Folder = ReturnType<typeof newWorkspace>;

/** Who the last event names, and on what evidence. */
function lastActor(folder: Folder) {
  const [event] = folder.data('log', '--limit', '1')['events'] as Record<string, string | null>[];
  return [event?.['agent'] ?? { person: event?.['person'] }, event?.['evidence']];
}

const skip = ['skip', 't3', '--reason', 'no time'];

describe('C1: a caller without evidence', () => {
  it('is the agent unknown and may do nothing that only a person may', () => {
    const folder = newWorkspace();
    folder.data('note', 'from a script');
    expect(lastActor(folder)).toEqual(['unknown', 'none']);
    const refused = folder.fault(...skip);
    expect(refused).toMatchObject({ code: 'not_allowed', exit: 1, data: { evidence: 'none', recorded: 'no' } });
    expect(refused.message).toBe('Only a person may skip a step, and nothing shows who calls.');
    for (const words of [
      'gate t3 close',
      'erase N-1 --reason r',
      'compact --approve',
      'abort --reason r',
      'capture off',
    ])
      expect([words, folder.fault(...words.split(' ')).code]).toEqual([words, 'not_allowed']);
    expect(folder.fault('token', 'add', 'x', '--scope', 'read').code).toBe('not_allowed');
  });

  it('is not a person because it says so', () => {
    const folder = newWorkspace();
    folder.env['HOLDFAST_PERSON'] = 'ada';
    folder.data('note', 'from a script of ada');
    expect(lastActor(folder)).toEqual([{ person: 'ada' }, 'stated']);
    expect(folder.fault(...skip)).toMatchObject({
      code: 'not_allowed',
      message: 'Only a person may skip a step, and nothing shows that ada calls.',
      data: { evidence: 'stated' },
    });
    // An agent that sets the variable is still an agent.
    folder.env['CLAUDECODE'] = '1';
    folder.data('note', 'from an agent');
    expect(lastActor(folder)).toEqual(['claude', 'agent-shell']);
  });
});

describe('a terminal', () => {
  it('is evidence of a person, who may be named by a variable', () => {
    const folder = newWorkspace();
    folder.person.data('note', 'typed');
    expect(lastActor(folder)).toEqual([{ person: expect.any(String) }, 'terminal']);
    folder.env['HOLDFAST_PERSON'] = 'ada';
    expect(folder.person.data(...skip)).toMatchObject({ step: { status: 'skipped' } });
    expect(lastActor(folder)).toEqual([{ person: 'ada' }, 'terminal']);
    delete folder.env['HOLDFAST_PERSON'];
    folder.env['HOLDFAST_AGENT'] = 'reviewer';
    folder.person.data('note', 'as an agent');
    expect(lastActor(folder)).toEqual(['reviewer', 'stated']);
  });

  it('that an agent’s client opened is none, even with its variables cleared', () => {
    const folder = newWorkspace();
    const bin = join(folder.path, 'bin');
    mkdirSync(bin);
    symlinkSync('/bin/sh', join(bin, 'codex'));
    const run = (...words: string[]) =>
      runAtTerminal([join(bin, 'codex'), '-c', '"$@"; exit $?', 'sh', process.execPath, program, ...words, '--json'], {
        cwd: folder.path,
        env: folder.env,
      });
    expect(run('note', 'from inside').code).toBe(0);
    expect(lastActor(folder)).toEqual(['codex', 'agent-shell']);
    const { code, out } = run(...skip);
    expect([code, JSON.parse(out).fault]).toMatchObject([
      1,
      { code: 'not_allowed', data: { evidence: 'agent-shell' } },
    ]);
  });
});

describe('C2: an imported run', () => {
  /** Another clone of the workspace, with a run in which ada skipped a step and opened a gate. */
  function exported() {
    const there = newWorkspace();
    there.env['HOLDFAST_PERSON'] = 'ada';
    there.env['HOLDFAST_RUN'] = 'second';
    there.data('init', '--title', 'Second', '--id', 'second');
    for (const key of ['a', 'b']) there.data('plan', 'add', key, `Step ${key}`);
    there.person.data('skip', 'a', '--reason', 'no need');
    there.person.data('gate', 'b', 'close');
    there.person.data('gate', 'b', 'open');
    const file = join(there.path, 'second.jsonl');
    const { version } = there.data('journal', 'export', '--out', file, '--run', 'second');
    return { there, file, version };
  }

  it('is imported by a person only, and marked', () => {
    const { file } = exported();
    const folder = newWorkspace();
    for (const env of [{}, { CLAUDECODE: '1' }, { HOLDFAST_PERSON: 'ada' }]) {
      Object.assign(folder.env, env);
      expect([env, folder.fault('journal', 'import', file).code]).toEqual([env, 'not_allowed']);
      for (const name of Object.keys(env)) delete folder.env[name];
    }
    expect(folder.data('runs')['runs']).toHaveLength(1);
    const { version, taken } = folder.person.data('journal', 'import', file);
    const [last] = folder.data('log', '--run', 'second', '--limit', '1')['events'];
    const head = JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '').hash;
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
    expect(last).toMatchObject({
      version,
      type: 'run.imported',
      evidence: 'terminal',
      imported: false,
      body: { upTo: taken, head, file: sha256, ranges: [{ from: 1, upTo: taken }] },
    });
    expect(folder.data('doctor')['findings']).toEqual([]);
  });

  it('has a person’s acts as claims, and its gates count after a person confirmed them here', () => {
    const { file } = exported();
    const folder = newWorkspace();
    folder.person.data('journal', 'import', file);
    folder.env['HOLDFAST_RUN'] = 'second';
    expect(folder.run('plan', 'show').out).toContain('skipped (imported claim by ada): no need');
    expect(folder.run('log', '--raw').out).toMatch(/step\.skipped ada \(person, imported claim\)/);
    expect(folder.fault('start', 'b', '--agent', 'codex')).toMatchObject({ code: 'blocked' });
    expect(folder.fault('confirm', 'b', '--agent', 'codex')).toMatchObject({ code: 'not_allowed' });
    expect(folder.fault('confirm', 'b')).toMatchObject({ code: 'not_allowed' });
    folder.person.data('confirm', 'b');
    expect(folder.data('start', 'b', '--agent', 'codex')).toMatchObject({ step: { gate: { state: 'open' } } });
    expect(folder.data('doctor', '--rebuild')['runs']).toMatchObject([{ unchanged: true }]);
  });

  it('is not chosen by default until it was named', () => {
    const { file } = exported();
    const folder = newWorkspace();
    folder.person.data('journal', 'import', file);
    expect(folder.data('note', 'in the only run of our own')).toMatchObject({ run: 'auth' });
    folder.person.data('abort', '--reason', 'over');
    const refused = folder.fault('note', 'in no run');
    expect([refused.code, refused.hints.join(' ')]).toEqual(['not_found', expect.stringContaining('--run ID')]);
    for (const event of ['SessionStart', 'UserPromptSubmit']) {
      const input = {
        session_id: 'c-1',
        cwd: folder.path,
        source: 'startup',
        prompt: 'Go on.',
        hook_event_name: event,
      };
      const { stdout } = spawnSync(process.execPath, [program, 'hook', 'claude', event], {
        cwd: folder.path,
        env: folder.env,
        input: JSON.stringify(input),
        encoding: 'utf8',
      });
      expect([event, stdout]).toEqual([event, expect.not.stringContaining('Step b')]);
    }
    const heads = folder.data('runs', '--all')['runs'] as { id: string }[];
    expect(heads.map(({ id }) => id)).toHaveLength(3);
    expect(folder.data('sessions', '--run', 'second')['sessions']).toEqual([]);
    expect(folder.data('note', 'named', '--run', 'second')).toMatchObject({ run: 'second' });
  });

  it('that comes back is imported only from where it left', () => {
    const { there, file } = exported();
    const folder = newWorkspace();
    folder.person.data('journal', 'import', file);
    folder.env['HOLDFAST_RUN'] = 'second';
    folder.data('plan', 'add', 'c', 'Step c');
    folder.person.data('skip', 'c', '--reason', 'there');
    const back = join(folder.path, 'back.jsonl');
    folder.data('journal', 'export', '--out', back);
    there.person.data('journal', 'import', back);
    const shown = there.run('plan', 'show').out;
    expect(shown).toContain('skipped by ada (at a terminal): no need');
    expect(shown).toMatch(/skipped \(imported claim by \S+\): there/);
    expect(there.data('start', 'b', '--agent', 'codex')).toMatchObject({ step: { gate: { state: 'open' } } });
  });
});

describe('C3: the session of a conversation', () => {
  /** A session that the client's hooks started. */
  function withConversation() {
    const folder = newWorkspace();
    folder.env['HOLDFAST_RUN'] = 'auth';
    const input = {
      session_id: 'c-1',
      cwd: folder.path,
      hook_event_name: 'UserPromptSubmit',
      prompt: 'Issue the tokens.',
    };
    const words = [program, 'hook', 'claude', 'UserPromptSubmit'];
    // A client that is not above the processes of this test.
    const client = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
    onTestFinished(() => void client.kill());
    const env = { ...folder.env, HOLDFAST_PID: String(client.pid) };
    spawnSync(process.execPath, words, { cwd: folder.path, env, input: JSON.stringify(input) });
    const [session] = folder.data('sessions', '--active')['sessions'] as { id: string }[];
    return { folder, id: session?.id ?? '' };
  }

  it('is not used by another agent, nor by one of the same name', () => {
    const { folder, id } = withConversation();
    for (const env of [{ HOLDFAST_AGENT: 'mallory' }, { HOLDFAST_AGENT: 'claude' }, {}, { CODEX_THREAD_ID: 'c-2' }]) {
      Object.assign(folder.env, env);
      const refused = folder.fault('note', 'not mine', '--session', id);
      expect([env, refused]).toMatchObject([env, { code: 'not_allowed', data: { session: id, recorded: 'no' } }]);
      expect(refused.hints.join(' ')).not.toContain('S-');
      expect(folder.fault('heartbeat', '--session', id).code).toBe('not_allowed');
      for (const name of Object.keys(env)) delete folder.env[name];
    }
    expect(folder.person.fault('session', 'end', '--reason', 'completed', '--session', id).code).toBe('not_allowed');
  });

  it('is used in the conversation, which also tells two sessions of one agent apart', () => {
    const { folder, id } = withConversation();
    Object.assign(folder.env, { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'c-1' });
    expect(folder.data('note', 'mine', '--session', id)).toMatchObject({ id: 'N-1' });
    expect(lastActor(folder)).toEqual(['claude', 'agent-shell']);
    folder.data('heartbeat', '--session', id);
    folder.data('start', 't1');
    folder.env['CLAUDE_CODE_SESSION_ID'] = 'c-2';
    expect(folder.fault('checkpoint', 'half')).toMatchObject({ code: 'not_found' });
    folder.env['CLAUDE_CODE_SESSION_ID'] = 'c-1';
    expect(folder.data('checkpoint', 'half')).toMatchObject({ session: id });
  });

  it('is used below its process', () => {
    const folder = newWorkspace();
    folder.env['HOLDFAST_RUN'] = 'auth';
    const input = { conversation_id: 'c-7', hook_event_name: 'beforeSubmitPrompt', prompt: 'Issue the tokens.' };
    // The process that owns the session runs a command of its own.
    const script = `
      const { spawnSync } = require('node:child_process');
      const run = (...words) => spawnSync(process.execPath, [${JSON.stringify(program)}, ...words, '--json'], { encoding: 'utf8' });
      spawnSync(process.execPath, [${JSON.stringify(program)}, 'hook', 'cursor', 'beforeSubmitPrompt'], {
        input: JSON.stringify({ ...${JSON.stringify(input)}, workspace_roots: [process.cwd()] }),
        env: { ...process.env, HOLDFAST_PID: String(process.pid) },
      });
      console.log(run('note', 'mine', '--session', 'S-1').stdout);`;
    const ran = spawnSync(process.execPath, ['-e', script], { cwd: folder.path, env: folder.env, encoding: 'utf8' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true });
    expect(lastActor(folder)).toEqual(['cursor', 'stated']);
    expect(folder.fault('note', 'not mine', '--session', 'S-1').code).toBe('not_allowed');
  });

  it('that was started on the command line is used by its id, but not as another agent', () => {
    const folder = newWorkspace();
    const { id } = folder.data('session', 'start', '--agent', 'ci')['session'];
    folder.data('note', 'mine', '--session', id);
    expect(lastActor(folder)).toEqual(['ci', 'stated']);
    folder.env['HOLDFAST_AGENT'] = 'mallory';
    expect(folder.fault('note', 'not mine', '--session', id).code).toBe('not_allowed');
  });
});

describe('C4: a name', () => {
  it('of a person is not taken by an agent', () => {
    const folder = newWorkspace();
    const git = (...words: string[]) => spawnSync('git', words, { cwd: folder.path, env: folder.env });
    git('init', '-q');
    git('config', 'user.name', 'Grace Hopper');
    git('config', 'user.email', 'grace@example.com');
    folder.person.data('token', 'add', 'lin', '--scope', 'read');
    folder.env['HOLDFAST_PERSON'] = 'ada';
    folder.person.data('session', 'start');
    delete folder.env['HOLDFAST_PERSON'];
    const names = ['maintainer', 'Root', 'GraceHopper', 'grace@example.com', 'Ada', 'l1n', userInfo().username];
    for (const name of names) {
      for (const words of [
        ['session', 'start'],
        ['start', 't1'],
        ['claim', 'src/**'],
      ])
        expect([name, folder.fault(...words, '--agent', name).code]).toEqual([name, 'invalid']);
    }
    expect(folder.person.fault('token', 'add', 'GraceHopper', '--scope', 'read', '--agent').code).toBe('invalid');
    expect(folder.data('session', 'start', '--agent', 'reviewer')).toMatchObject({ session: { agent: 'reviewer' } });
    expect(folder.run('sessions').out).toMatch(/reviewer working[\s\S]*ada \(a person\)/);
  });

  it('of a client is not taken by a person', async () => {
    const folder = newWorkspace();
    folder.env['HOLDFAST_PERSON'] = 'Claude';
    expect(folder.person.fault('note', 'x').code).toBe('invalid');
    delete folder.env['HOLDFAST_PERSON'];
    expect(folder.person.fault('token', 'add', 'codex', '--scope', 'read').code).toBe('invalid');
    await expect(openHoldfast({ dir: folder.path, person: 'gemini' })).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('what a person did', () => {
  it('is shown with its evidence', () => {
    const folder = newWorkspace();
    folder.env['HOLDFAST_PERSON'] = 'ada';
    expect(folder.person.run(...skip).out).toBe('– t3 Write the docs: skipped by ada (at a terminal).\n');
    expect(folder.person.run('gate', 't1', 'close').out).toContain('the gate was closed by ada (at a terminal).');
    expect(folder.run('plan', 'show').out).toContain('skipped by ada (at a terminal): no time');
    folder.data('note', 'x', '--agent', 'codex');
    const log = folder.run('log', '--raw', '--limit', '3').out;
    expect(log).toContain('step.skipped ada (person, at a terminal)');
    expect(log).toContain('note.added codex (agent)');
  });

  it('and its help say that a command line proves no person', () => {
    const { run } = newWorkspace();
    for (const name of ['skip', 'gate', 'erase', 'compact', 'abort', 'capture', 'token add']) {
      expect([name, run('help', ...name.split(' ')).out]).toEqual([
        name,
        expect.stringContaining('which a command line cannot prove'),
      ]);
    }
    expect(run('help', 'note').out).not.toContain('cannot prove');
  });
});

describe('the key of a command', () => {
  const keysIn = (folder: Folder) =>
    (folder.data('journal', 'export')['text'] as string)
      .trim()
      .split('\n')
      .slice(1)
      .map((text) => JSON.parse(text).key as string | null);

  it('is made for each call, and repeats it without recording it twice', () => {
    const folder = newWorkspace();
    for (const text of ['one', 'two']) folder.data('note', text, '--agent', 'ada');
    const [first, second] = keysIn(folder).slice(-2);
    expect([first, second]).toEqual([expect.stringMatching(/^k-\w{20}$/), expect.stringMatching(/^k-\w{20}$/)]);
    expect(first).not.toBe(second);
    expect(folder.data('note', 'one', '--idempotency', first ?? '')).toMatchObject({ id: 'N-1', changed: [] });
    folder.data('note', 'three', '--idempotency', 'mine');
    expect(keysIn(folder).at(-1)).toBe('mine');
  });

  it('stands for one command of an operation that has several', () => {
    const folder = newFolder();
    mkdirSync(join(folder.path, 'agent-output/shop'), { recursive: true });
    const state = { schema_version: '3.0', project: 'shop', current_step: 1, steps: { '1': { name: 'Plan' } } };
    writeFileSync(join(folder.path, 'agent-output/shop/00-session-state.json'), `${JSON.stringify(state)}\n{`);
    folder.data('doctor', 'agent-output/shop', '--repair', '--idempotency', 'mine');
    const keys = keysIn(folder).filter((key) => key !== null);
    expect(keys[0]).toBe('mine');
    expect(keys).toContainEqual(expect.stringMatching(/^mine:recovery of /));
    expect(new Set(keys).size).toBeGreaterThan(2);
  });
});

describe('each interface', () => {
  it('says on what evidence it names the actor', async () => {
    const folder = newWorkspace();
    const hf = await openHoldfast({ dir: folder.path, person: 'ada' });
    await hf.note({ text: 'from a program' });
    expect(lastActor(folder)).toEqual([{ person: 'ada' }, 'library']);
    await expect(hf.skip({ key: 't3', reason: 'r' })).rejects.toMatchObject({ code: 'not_allowed' });
    await hf.as({ person: 'ada', evidence: 'token:ada' }).note({ text: 'a program that checked a token of its own' });
    expect(lastActor(folder)).toEqual([{ person: 'ada' }, 'token:ada']);
    await hf.as({ run: 'auth' }).note({ text: 'the same identity on a named run' });
    expect(lastActor(folder)).toEqual([{ person: 'ada' }, 'library']);
    await hf.close();

    const server = openTestServer(folder.path);
    await server.post('note', { text: 'over HTTP' }, { token: server.person });
    expect(lastActor(folder)).toEqual([{ person: expect.any(String) }, expect.stringMatching(/^token:/)]);
    await server.close();
    expect(folder.data('doctor')['findings']).toEqual([]);
  });
});
