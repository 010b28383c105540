import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Folder } from './command-line.ts';
import { contextIn, hook, journal, newAgent, newRepository, ofType } from './hook-player.ts';

/** Stories about several sessions in one folder: which run each one belongs to, and what it is told at the start. */

interface Told {
  start: string;
  prompt: string;
}

interface Conversation {
  start(source?: string): string;
  ask(prompt: string): string;
  edit(path: string): void;
  run(command: string, response: object, more?: object): void;
  /** A tool asks the user, and later has the answer. */
  show(tool: string, input: object): void;
  answered(): string;
  /** The next conversation of the same process. */
  clear(id: string): Conversation;
  stop(said: string, more?: object): string;
  end(): string;
  kill(): Promise<void>;
}

/** A conversation of Claude's, whose process can be killed. */
function conversation(folder: Folder, id: string, cwd = folder.path, agent = newAgent()): Conversation {
  const base = { session_id: id, cwd };
  const tell = (event: string, more: object): string =>
    contextIn(hook(folder, 'claude', event, { ...base, hook_event_name: event, ...more }, { CLAUDE_PID: agent.pid }));
  let calls = 0;
  let shown: object = {};
  return {
    start: (source = 'startup') => tell('SessionStart', { source }),
    ask: (prompt: string) => tell('UserPromptSubmit', { prompt, prompt_id: `${id}-${++calls}` }),
    edit(path: string) {
      writeFileSync(join(cwd, path), `${path} ${++calls}\n`);
      const call = { tool_name: 'Write', tool_input: { file_path: join(cwd, path) }, tool_response: { success: true } };
      tell('PostToolUse', { ...call, tool_use_id: `${id}-${calls}` });
    },
    run(command: string, response: object, more: object = {}) {
      const call = { tool_name: 'Bash', tool_input: { command, ...more }, tool_use_id: `${id}-${++calls}` };
      tell('PreToolUse', call);
      tell('PostToolUse', { ...call, tool_response: response });
    },
    show(tool_name: string, tool_input: object) {
      shown = { tool_name, tool_input, tool_use_id: `${id}-${++calls}` };
      tell('PreToolUse', shown);
    },
    answered: () => tell('PostToolUse', { ...shown, tool_response: { success: true } }),
    clear(other: string) {
      tell('SessionEnd', { reason: 'clear' });
      const next = conversation(folder, other, cwd, agent);
      next.start('clear');
      return next;
    },
    stop: (last_assistant_message: string, more: object = {}) => tell('Stop', { last_assistant_message, ...more }),
    end: () => tell('SessionEnd', { reason: 'other' }),
    kill: () => agent.kill(),
  };
}

const titles = (folder: Folder, ...flags: string[]): string[] =>
  (folder.data('runs', ...flags)['runs'] as { title: string }[]).map(({ title }) => title);

describe('sessions in one folder', () => {
  it('get runs of their own for requests of their own', async () => {
    const folder = newRepository();
    const first = conversation(folder, 'labels');
    expect(first.start()).toBe('');
    expect(first.ask('Make bakery price labels')).toBe('');
    first.edit('labels.ts');
    first.stop('The labels are done.');
    first.end();
    await first.kill();

    const second = conversation(folder, 'hours');
    expect(second.start()).toBe('');
    second.ask('Show the opening hours per branch');
    second.edit('hours.ts');
    await second.kill();
    expect(titles(folder)).toEqual(['Show the opening hours per branch', 'Make bakery price labels']);

    const third = conversation(folder, 'third');
    const told = third.start();
    expect(told).toContain('Show the opening hours per branch');
    expect(told).not.toMatch(/bakery|labels/);
    await third.kill();
  });

  it('leave a run alone that was not asked for, and continue the later one', async () => {
    const folder = newRepository();
    const terms = conversation(folder, 'terms');
    terms.start();
    terms.ask('Write bicycle rental terms');
    terms.edit('terms.md');
    await terms.kill();
    const privacy = conversation(folder, 'privacy');
    expect(privacy.start()).toContain('Write bicycle rental terms');
    expect(privacy.ask('Write a privacy page')).toBe('');
    privacy.edit('privacy.md');
    await privacy.kill();
    const third = conversation(folder, 'third');
    const told: Told = { start: third.start(), prompt: third.ask('continue') };
    expect(told.start).toContain('Write a privacy page');
    expect(told.start).toMatch(/Also here: .*"Write bicycle rental terms", cut off/);
    // It was shown at the start, and nothing changed since.
    expect(told.prompt).toBe('');
    const { explanation } = folder.person.data('resume', '--explain');
    expect(explanation).toMatchObject({ chosenBy: 'worktree', candidates: [{ place: 'here', beforeNext: null }] });
    expect(folder.person.run('resume', '--explain').out).toMatch(
      /^1\. \S+ "Write bicycle rental terms", cut off, here\.$/m,
    );
    const [privacyRun, termsRun] = (folder.data('runs')['runs'] as { id: string }[]).map(({ id }) => id);
    expect(ofType(journal(folder, '--run', privacyRun ?? ''), 'session.started')).toHaveLength(2);
    expect(ofType(journal(folder, '--run', termsRun ?? ''), 'session.started')).toHaveLength(1);
    await third.kill();
  });

  it('answer a question of another session, and its run has the answer with its question', async () => {
    const folder = newRepository();
    const links = conversation(folder, 'links');
    links.start();
    links.ask('Short links should survive a rename');
    links.edit('links.py');
    links.stop('The alias table works. What should a deleted page answer, 404 or 410?');
    await links.kill();
    const next = conversation(folder, 'next');
    expect(next.start()).toContain('Short links');
    next.ask('410');
    expect(titles(folder)).toHaveLength(1);
    expect(ofType(journal(folder), 'turn.began').at(-1)?.body).toMatchObject({ kind: 'answer', request: '410' });
    expect(folder.data('status')['standing']).toMatchObject({ state: 'working' });
    await next.kill();
    expect(folder.data('status')['standing']).toMatchObject({ state: 'cut off' });
  });

  it('give the run a new title when another request follows what was finished', async () => {
    const folder = newRepository();
    const guests = conversation(folder, 'guests');
    guests.start();
    guests.ask('Sort the guest list by table');
    guests.edit('guests.ts');
    guests.stop('Sorted.');
    guests.ask('Print seat cards, eight per page');
    guests.edit('cards.ts');
    await guests.kill();
    expect(titles(folder)).toEqual(['Print seat cards, eight per page']);
    expect(ofType(journal(folder), 'run.opened')[0]?.body).toMatchObject({ goal: 'Sort the guest list by table' });
  });

  it('see work in another worktree as a line, and continue it from afar when asked', async () => {
    const folder = newRepository();
    const git = (...words: string[]) =>
      spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...words], { cwd: folder.path });
    git('add', 'notes.md');
    git('commit', '--quiet', '-m', 'Begin');
    git('worktree', 'add', '--quiet', 'sauna');
    const sauna = conversation(folder, 'sauna', join(folder.path, 'sauna'));
    sauna.start();
    sauna.ask('Book the sauna by the hour');
    sauna.edit('sauna.ts');
    await sauna.kill();
    const main = conversation(folder, 'main');
    const told = main.start();
    expect(told).toContain('other unfinished work in this workspace');
    expect(told).toMatch(/"Book the sauna by the hour", cut off .*, worktree "sauna"/);
    expect(main.ask('continue')).toContain('the work this session continues');
    expect(titles(folder)).toHaveLength(1);
    await main.kill();
  });

  it('say nothing when nothing is unfinished, and continue what was finished last when asked', async () => {
    const folder = newRepository();
    const form = conversation(folder, 'form');
    form.start();
    form.ask('The contact form loses umlauts');
    form.edit('mail.ts');
    form.stop('Fixed.');
    await form.kill();
    const next = conversation(folder, 'next');
    expect(next.start()).toBe('');
    next.ask('continue');
    expect(titles(folder)).toHaveLength(1);
    await next.kill();
  });

  it('hide runs in which nothing was done', async () => {
    const folder = newRepository();
    const small = conversation(folder, 'small');
    small.start();
    small.ask('What is a monad');
    small.stop('A monoid in the category of endofunctors.');
    await small.kill();
    expect(titles(folder)).toEqual([]);
    expect(titles(folder, '--all')).toEqual(['What is a monad']);
    const next = conversation(folder, 'next');
    expect(next.start()).toBe('');
    await next.kill();
  });

  it('are not started by a command to the client until something must be recorded', async () => {
    const folder = newRepository();
    const review = conversation(folder, 'review');
    review.start();
    review.ask('/review src/login.ts');
    expect(titles(folder, '--all')).toEqual([]);
    review.run('npm test', { stdout: 'ok' });
    expect(titles(folder, '--all')).toEqual(['/review src/login.ts']);
    expect(ofType(journal(folder), 'turn.began')).toMatchObject([{ body: { kind: 'command' } }]);
    review.ask('Fix what you found');
    expect(ofType(journal(folder), 'turn.began').at(-1)).toMatchObject({ body: { kind: 'request' } });
    await review.kill();
  });

  it('move to the run they belong to when the agent says so, once, and back again', async () => {
    const folder = newRepository();
    const lists = conversation(folder, 'lists');
    lists.start();
    lists.ask('Attendance lists as PDF');
    lists.edit('lists.ts');
    await lists.kill();
    const margins = conversation(folder, 'margins');
    margins.start();
    margins.ask('The margins are too narrow');
    margins.edit('margins.ts');
    margins.run('npm test', { stdout: 'ok' });
    const [own, first] = folder.data('runs')['runs'] as { id: string; short: string }[] as [Listed, Listed];
    folder.env['CLAUDECODE'] = '1';
    folder.env['CLAUDE_CODE_SESSION_ID'] = 'margins';
    const moved = folder.data('resume', first.short);
    expect(moved).toMatchObject({ run: { id: first.id } });
    const copied = journal(folder, '--run', first.id).length;
    expect(folder.data('resume', first.short)).toMatchObject({ run: { id: first.id } });
    expect(journal(folder, '--run', first.id)).toHaveLength(copied);

    const events = journal(folder, '--run', first.id);
    expect(ofType(events, 'turn.began').map(({ body }) => body.request)).toEqual([
      'Attendance lists as PDF',
      'The margins are too narrow',
    ]);
    expect(ofType(events, 'files.seen').flatMap(({ body }) => body.artifacts.map((one: Artifact) => one.path))).toEqual(
      ['lists.ts', 'margins.ts'],
    );
    expect(ofType(events, 'effect.ended')).toMatchObject([{ body: { id: 'X-1', outcome: 'succeeded' } }]);
    expect(ofType(events, 'session.started').at(-1)?.body.movedFrom).toEqual({ run: own.id, session: 'S-1' });
    expect(titles(folder)).toEqual(['Attendance lists as PDF']);
    // Its old name stands for the run it was moved to, and the conversation goes on there.
    expect(folder.data('status', '--run', own.id)).toMatchObject({ run: { id: first.id } });
    margins.ask('Now the font');
    expect(ofType(journal(folder, '--run', first.id), 'turn.began')).toHaveLength(3);
    await margins.kill();

    delete folder.env['CLAUDECODE'];
    delete folder.env['CLAUDE_CODE_SESSION_ID'];
    const back = folder.person.data('session', 'move', 'S-2', '--to', 'new', '--run', first.id);
    expect(back['run']).not.toBe(first.id);
    const left = journal(folder, '--run', first.id);
    expect(ofType(left, 'session.moved')).toMatchObject([{ body: { session: 'S-2' } }]);
    expect(folder.data('status', '--run', first.id)['standing']).toMatchObject({ state: expect.stringMatching(/./) });
    expect(ofType(journal(folder, '--run', String(back['run'])), 'turn.began')).toHaveLength(2);
  });

  it('wait for the user while a plan or a question is shown, and go on with the approved plan after a clear', async () => {
    const folder = newRepository();
    const photos = conversation(folder, 'photos');
    photos.start();
    photos.ask('Thumbnails come out rotated');
    const plan = '# Read the EXIF rotation first\n\n- Rotate before the crop\n- Test all eight orientations';
    photos.show('ExitPlanMode', { plan });
    expect(folder.data('status')['standing']).toMatchObject({ state: 'waiting', why: 'a plan was shown' });
    expect(folder.data('plan', 'show')['steps']).toEqual([]);
    photos.answered();
    const events = journal(folder);
    expect(ofType(events, 'note.added')).toMatchObject([{ body: { kind: 'plan', text: plan } }]);
    expect(ofType(events, 'note.approved')).toMatchObject([{ body: { id: 'N-1' } }]);
    // The same process, with a cleared context.
    const cleared = photos.clear('cleared');
    cleared.ask(`Implement the following plan:\n\n${plan}`);
    expect(titles(folder, '--all')).toHaveLength(1);
    cleared.show('AskUserQuestion', { questions: [{ question: 'Keep the old thumbnails?', options: [] }] });
    expect(folder.data('status')['standing']).toMatchObject({ state: 'waiting', why: 'a question was asked' });
    cleared.ask('Throw them away');
    expect(folder.data('status')['standing']).toMatchObject({ state: 'working' });
    await photos.kill();
    expect(folder.data('status')['standing']).toMatchObject({ state: 'cut off' });
  });

  it('end a background command once the client does not list it any more', async () => {
    const folder = newRepository();
    const dev = conversation(folder, 'dev');
    dev.start();
    dev.ask('Start the dev server');
    dev.run('npm run dev', { backgroundTaskId: 'b1' }, { run_in_background: true });
    dev.stop('It runs.', { background_tasks: [{ id: 'b1' }] });
    expect(folder.data('status')['standing']).toMatchObject({ word: 'open', why: 'a background command' });
    dev.ask('Stop it');
    dev.stop('Stopped.', { background_tasks: [] });
    expect(ofType(journal(folder), 'effect.ended')).toMatchObject([{ body: { outcome: 'unknown' } }]);
    expect(folder.data('status')['standing']).toMatchObject({ word: 'finished' });
    await dev.kill();
  });

  it('step out of the chosen run with resume new', async () => {
    const folder = newRepository();
    folder.data('init', '--title', 'Login', '--id', 'login');
    folder.data('plan', 'add', 'p1', 'Issue tokens');
    const font = conversation(folder, 'font');
    expect(font.start()).toContain('For other work: `holdfast resume new`');
    font.ask('Change the font of the header');
    expect(ofType(journal(folder, '--run', 'login'), 'turn.began')).toHaveLength(1);
    expect(folder.fault('resume', 'new')).toMatchObject({ code: 'usage' });
    folder.env['CLAUDECODE'] = '1';
    folder.env['CLAUDE_CODE_SESSION_ID'] = 'font';
    const moved = folder.data('resume', 'new');
    expect(moved['run']).toMatchObject({ title: 'Change the font of the header' });
    font.edit('header.css');
    expect(ofType(journal(folder, '--run', 'login'), 'files.seen')).toEqual([]);
    await font.kill();
  });
});

interface Listed {
  id: string;
  short: string;
}
interface Artifact {
  path: string;
}
