import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, newFolder, newWorkspace, program } from './command-line.ts';
import { runAtTerminal } from './terminal.ts';

/** Ends the agent's session in the middle of its step. */
function leave(folder: Folder, agent = 'claude'): void {
  folder.data('session', 'end', '--reason', 'timeout', '--agent', agent);
}

describe('resuming', () => {
  it('starts a pending step', () => {
    const brief = newWorkspace().data('resume');
    expect(brief['headline']).toBe('Resuming from Phase 1, Task: "Issue tokens" (not started)');
    expect(brief['nextAction']).toMatchObject({ text: '"Issue tokens" is ready (step "t1").', basis: 'derived' });
    expect(brief['position']).toMatchObject({ step: 't1', ready: ['t1', 't3'] });
  });

  it('continues after the checkpoint of an interrupted step', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    folder.data('checkpoint', 'drafted', '--agent', 'claude');
    leave(folder);
    const brief = folder.data('resume', '--agent', 'codex');
    expect(brief['headline']).toContain('(checkpoint: "drafted", next: "tested")');
    expect(brief['nextAction'].text).toBe('"Issue tokens" was in progress.');
    expect(brief['position']).toMatchObject({ interrupted: ['t1'], nextCheckpoint: 'tested' });
  });

  it('says that an interrupted step reached no checkpoint', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    leave(folder);
    expect(folder.data('resume')).toMatchObject({
      headline: 'Resuming from Phase 1, Task: "Issue tokens" (no checkpoint yet)',
      position: { step: 't1', status: 'in_progress', checkpoint: null, interrupted: ['t1'] },
      nextAction: { text: '"Issue tokens" was in progress.' },
    });
  });

  it('skips over completed and skipped steps', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    folder.data('complete', '--agent', 'claude');
    folder.person.data('skip', 't2', '--reason', 'out of scope');
    expect(folder.data('resume')).toMatchObject({ position: { step: 't3', lastCompleted: 't1' } });
  });

  it('leaves a failed step to a person, with the retries left', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    folder.data('fail', '--message', 'ECONNREFUSED', '--agent', 'claude');
    const brief = folder.data('resume');
    expect(brief['errors']).toMatchObject([{ id: 'E-1', options: ['retry (2 left)', 'skip', 'abort', 'adjust'] }]);
    expect(brief['nextAction'].text).toBe(
      '"Issue tokens" failed (step "t1"); a person chooses: retry (2 left), skip, abort or adjust the plan.',
    );
    folder.data('retry', 't1', '--agent', 'claude');
    folder.data('fail', '--message', 'again', '--agent', 'claude');
    const options = ['retry (1 left)', 'skip', 'abort', 'adjust'];
    expect(folder.data('resume')['errors']).toMatchObject([
      { id: 'E-1', options },
      { id: 'E-2', options },
    ]);
  });

  it('says when everything is done, and nothing of what could come next', () => {
    const folder = newWorkspace();
    for (const key of ['p1', 't3']) folder.person.data('skip', key, '--reason', 'no need');
    const brief = folder.data('resume');
    expect(brief['headline']).toMatch(/^"User authentication", finished \d+ s ago$/);
    expect(brief['text']).not.toMatch(/^Next|archive/m);
  });

  it('resumes a wave as a whole', () => {
    const folder = newWorkspace();
    for (const key of ['w1', 'w2']) {
      folder.data('plan', 'add', key, `Wave ${key}`, '--wave', '1');
      folder.data('start', key, '--agent', `agent-${key}`);
      leave(folder, `agent-${key}`);
    }
    const brief = folder.data('resume');
    expect(brief['position']).toMatchObject({ interrupted: ['w2', 'w1'] });
    expect(brief['nextAction'].text).toBe('"Wave w2" and "Wave w1" were in progress.');
  });

  it('warns about unfinished earlier steps when a later one is started', () => {
    const folder = newWorkspace();
    const ran = folder.run('start', 't3', '--agent', 'claude');
    expect(ran.code).toBe(0);
    expect(ran.err).toContain('Not done, and earlier in the plan: t1, t2.');
  });

  it('without a workspace names the state of another tool, and never starts a new run', () => {
    const folder = newFolder();
    expect(folder.fault('resume').hints.join(' ')).toContain('holdfast init');
    mkdirSync(join(folder.path, '.planning'));
    writeFileSync(join(folder.path, '.planning', 'STATE.md'), '# State\n');
    const fault = folder.fault('resume');
    expect(fault).toMatchObject({
      code: 'not_found',
      data: { foreign: [{ format: 'gsd', path: '.planning/STATE.md' }] },
    });
    expect(fault.message).toContain('State of another tool');
  });

  it('is coloured for people who want it, and plain in a pipe', () => {
    const folder = newWorkspace();
    const esc = String.fromCodePoint(27);
    expect(folder.run('resume').out).not.toContain(esc);
    expect(folder.run('resume', '--color').out).toContain(`${esc}[1mResuming from Phase 1`);
  });

  it('ranks decisions by what they affect', () => {
    const folder = newWorkspace();
    folder.data('plan', 'add', 't0', 'With a file', '--context', 'a.ts');
    for (const key of ['p1', 't3']) folder.person.data('skip', key, '--reason', 'later');
    const decide = (decision: string, ...more: string[]) =>
      folder.data('decide', '--context', 'c', '--decision', decision, '--reason', 'r', ...more)['id'] as string;
    const old = decide('old');
    const file = decide('on the file', '--affects', 'a.ts');
    const fixed = decide('for good', '--irreversible');
    const replacing = decide('new', '--supersedes', old);
    const step = decide('on the step', '--affects', 't0');
    const recent = decide('recent');
    const ids = (folder.data('resume')['decisions'] as { id: string }[]).map((one) => one.id);
    expect(ids).toEqual([step, file, fixed, replacing, recent]);
  });

  it('changes what is filled first with the role', () => {
    const folder = newWorkspace();
    for (let n = 0; n < 12; n++) {
      folder.data(
        'raise',
        'finding',
        `Finding number ${n}, which is long enough to need room`,
        '--severity',
        'must_fix',
      );
      folder.data('decide', '--context', 'c', '--decision', `Decision ${n} about the rotation`, '--reason', 'r');
    }
    const lines = (role: string, pattern: RegExp) =>
      (folder.data('resume', '--role', role, '--budget', '600')['text'] as string).match(pattern)?.length ?? 0;
    expect(lines('orchestrator', /^Open: /gm)).toBeGreaterThan(lines('architect', /^Open: /gm));
    expect(lines('architect', /^Decided /gm)).toBeGreaterThan(lines('orchestrator', /^Decided /gm));
  });

  it('lists the files to read, with sizes, in order', () => {
    const folder = newWorkspace();
    mkdirSync(join(folder.path, '.planning', 'phases', '02-jwt'), { recursive: true });
    const write = (path: string, words: number) => writeFileSync(join(folder.path, path), 'plain words '.repeat(words));
    write('context.md', 100);
    write('big.md', 20_000);
    write('.planning/phases/02-jwt/02-02-PLAN.md', 300);
    write('.planning/phases/02-jwt/2-1-SUMMARY.md', 50);
    folder.data('plan', 'add', 'p2', 'JWT', '--kind', 'phase', '--after', 'p1');
    folder.data('plan', 'add', 'a', 'First plan', '--kind', 'plan', '--parent', 'p2');
    folder.data('plan', 'add', 'b', 'Second plan', '--kind', 'plan', '--parent', 'p2');
    folder.data('plan', 'add', 'b1', 'Task', '--parent', 'b', '--context', 'context.md', '--context', 'big.md');
    for (const key of ['p1', 't3', 'a']) folder.person.data('skip', key, '--reason', 'done elsewhere');
    const brief = folder.data('resume');
    const files = brief['files'] as { path: string; advice: string; tokens: number }[];
    expect(files.map(({ path, advice }) => [path, advice])).toEqual([
      ['context.md', 'read'],
      ['big.md', 'skip'],
      ['.planning/phases/02-jwt/02-02-PLAN.md', 'read'],
      ['.planning/phases/02-jwt/2-1-SUMMARY.md', 'read'],
    ]);
    expect(files[0]?.tokens).toBeGreaterThan(150);
    expect(brief['text']).toMatch(/^Read: "context\.md" ~\d+ tokens; "\.planning\/phases\/02-jwt\/02-02-PLAN\.md" /m);
  });

  it('repeats recorded commands only after a person at a terminal saw them and agreed', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'claude');
    folder.data('verify', 't1', '--probe', 'echo x >> ran', '--agent', 'claude');
    const runs = () => readFileSync(join(folder.path, 'ran'), 'utf8').trim().split('\n').length;
    folder.data('resume');
    const unattended = folder.run('resume', '--probe', '--json').json;
    expect(unattended).toMatchObject({ data: { probes: [] }, warnings: [expect.stringContaining('were not run')] });
    const asked = (typed: string, env: Record<string, string> = {}) =>
      runAtTerminal([process.execPath, program, 'resume', '--probe'], {
        ...{ cwd: folder.path, typed },
        env: { ...folder.env, ...env },
      });
    // A terminal that an agent opened is not a person's.
    expect(asked('y\n', { CLAUDECODE: '1' }).err).toContain('were not run');
    expect(asked('n\n').err).toContain('t1: echo x >> ran');
    expect(runs()).toBe(1);
    expect(asked('y\n').code).toBe(0);
    expect(runs()).toBe(2);
  });
});
