import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { type Folder, newWorkspace, program } from './command-line.ts';
import { runAtTerminal } from './terminal.ts';

const propose = (folder: Folder, settings: unknown): void =>
  writeFileSync(join(folder.path, 'holdfast.json'), typeof settings === 'string' ? settings : JSON.stringify(settings));

const atTerminal = (folder: Folder, typed: string, ...words: string[]) =>
  runAtTerminal([process.execPath, program, ...words], { cwd: folder.path, env: folder.env, typed });

const team = {
  store: 'postgres://team@db.example.com/holdfast',
  notify: ['/usr/bin/notify-send', 'Holdfast'],
  capture: { ignorePaths: ['secrets/**'] },
  colour: 'blue',
};

describe('settings in holdfast.json', () => {
  it('are not in force until a person has agreed, and said to be so once', () => {
    const folder = newWorkspace();
    propose(folder, team);
    expect(folder.run('status').err).toContain('holdfast trust');
    expect(folder.run('status').err).toBe('');
    expect(folder.data('status')).toMatchObject({ run: { id: 'auth' } });
    expect(folder.data('config')).toMatchObject({ store: null, notify: null });
  });

  it('are shown in words with what each does, and agreed to at a terminal only after a yes', () => {
    const folder = newWorkspace();
    propose(folder, team);
    const no = atTerminal(folder, 'n\n', 'trust');
    expect(no.code).toBe(1);
    expect(no.err).toContain('everything recorded here is sent to db.example.com/holdfast');
    expect(no.err).toContain('runs `/usr/bin/notify-send Holdfast` on this machine');
    expect(no.err).toContain('colour: not known here, and ignored');
    expect(folder.data('config')).toMatchObject({ store: null });
    expect(atTerminal(folder, 'y\n', 'trust').code).toBe(0);
    expect(folder.data('config')).toMatchObject({ store: team.store, notify: team.notify });
    expect(folder.data('trust', '--list')['list']).toMatchObject([{ path: join(folder.path, '.git') }]);
  });

  it('are agreed to without a terminal only by the hash of exactly these bytes, never by an agent', () => {
    const folder = newWorkspace();
    propose(folder, { notify: 'https://example.com/a' });
    const { hash } = folder.data('trust', '--show');
    expect(folder.fault('trust')).toMatchObject({ code: 'usage' });
    expect(folder.fault('trust', '--yes', '000000000000')).toMatchObject({ code: 'usage' });
    expect(folder.fault('trust', '--yes', hash.slice(0, 12), '--agent', 'ada')).toMatchObject({ code: 'not_allowed' });
    folder.env['CLAUDECODE'] = '1';
    expect(folder.fault('trust', '--yes', hash.slice(0, 12))).toMatchObject({ code: 'not_allowed' });
    delete folder.env['CLAUDECODE'];
    propose(folder, { notify: 'https://example.com/b' });
    expect(folder.fault('trust', '--yes', hash.slice(0, 12))).toMatchObject({ code: 'usage' });
    propose(folder, { notify: 'https://example.com/a' });
    expect(folder.data('trust', '--yes', hash.slice(0, 12))).toMatchObject({ state: 'trusted' });
    expect(folder.data('config')).toMatchObject({ notify: 'https://example.com/a' });
  });

  it('that changed are no longer in force, and no second journal is begun beside the store', () => {
    const folder = newWorkspace();
    const agree = () => folder.data('trust', '--yes', folder.data('trust', '--show')['hash'].slice(0, 12));
    propose(folder, { store: inject('postgresUrl').replace(/:[^:@/]*@/, '@') });
    agree();
    propose(folder, { notify: 'https://example.com/b' });
    expect(folder.fault('note', 'x')).toMatchObject({ code: 'untrusted', exit: 5 });
    expect(folder.data('config')).toMatchObject({ store: null, notify: null });
    expect(folder.data('note', 'x', '--store', folder.own('journal.db'))).toMatchObject({ id: 'N-1' });
    agree();
    expect(folder.data('note', 'y')).toMatchObject({ id: 'N-2' });
    rmSync(join(folder.path, 'holdfast.json'));
    expect(folder.data('config')).toMatchObject({ notify: null });
  });

  it('are for one clone: another one asks again and says where the same was agreed to', () => {
    const [folder, other] = [newWorkspace(), newWorkspace()];
    propose(folder, { notify: 'https://example.com/a' });
    folder.data('trust', '--yes', folder.data('trust', '--show')['hash'].slice(0, 12));
    other.env['HOLDFAST_STATE_HOME'] = folder.state();
    propose(other, { notify: 'https://example.com/a' });
    // An agent that may write the git folder could take the other clone's id.
    cpSync(folder.own('clone.json'), other.own('clone.json'));
    expect(other.data('trust', '--show')).toMatchObject({ state: 'new', seen: { path: join(folder.path, '.git') } });
    expect(other.data('config')).toMatchObject({ notify: null });
  });

  it('are revoked, and forgotten with their folder', () => {
    const folder = newWorkspace();
    propose(folder, { notify: 'https://example.com/a' });
    folder.data('trust', '--yes', folder.data('trust', '--show')['hash'].slice(0, 12));
    folder.data('trust', '--revoke');
    expect(folder.data('config')).toMatchObject({ notify: null });
    expect(readdirSync(folder.state('trust'))).toEqual([]);
  });

  it.each([
    ['a shell line', { notify: 'notify-send hello' }, /address, or a program/],
    ['a password', { store: 'postgres://team:secret@db/x' }, /password/],
    ['a file as store', { store: '../other.db' }, /PostgreSQL/],
    ['recording switched off', { capture: { off: true } }, /nothing else/],
    ['no object', '[]', /not a JSON object/],
    ['no JSON', '{', /JSON/],
  ])('with %s cannot be agreed to', (_, settings, why) => {
    const folder = newWorkspace();
    propose(folder, settings);
    expect(folder.fault('trust', '--yes', '0')).toMatchObject({ code: 'invalid', message: expect.stringMatching(why) });
    expect(folder.data('status')).toMatchObject({ run: { id: 'auth' } });
  });

  it('do not carry over into the user’s own, whatever those say', () => {
    const folder = newWorkspace();
    folder.person.data('capture', 'on', '--ignore-path', 'mine/**');
    propose(folder, { notify: 'https://example.com/a', capture: { ignorePaths: ['secrets/**'] } });
    folder.data('trust', '--yes', folder.data('trust', '--show')['hash'].slice(0, 12));
    folder.person.data('capture', 'on', '--ignore-command', 'vault');
    folder.data('trust', '--revoke');
    expect(folder.data('config')).toMatchObject({ notify: null });
    expect(folder.data('capture')).toMatchObject({ ignorePaths: ['mine/**'], ignoreCommands: ['vault'] });
  });
});

describe('git', () => {
  it('never brings an agreement: nothing in a working tree counts as one', () => {
    const folder = newWorkspace();
    propose(folder, { notify: 'https://example.com/a' });
    folder.data('trust', '--yes', folder.data('trust', '--show')['hash'].slice(0, 12));
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@x', ...words], {
        cwd: folder.path,
        env: folder.env,
      });
    git('add', '.');
    git('commit', '-qm', 'settings');
    git('clone', '-q', '.', 'copy');
    folder.data('init', '--dir', 'copy');
    expect(folder.data('config', '--dir', 'copy')).toMatchObject({ notify: null });
  });
});
