import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
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

describe('A8: a store that was agreed to', () => {
  const fields = Buffer.from('SFATAL\0C28P01\0Mno\0\0');
  const REFUSED = Buffer.concat([Buffer.from([0x45, 0, 0, 0, fields.length + 4]), fields]);

  /** Asks for the password in clear text, and keeps every byte that it is sent. */
  async function listenAs(host: string) {
    let bytes = '';
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (piece) => {
        bytes += piece.toString('latin1');
        const isTlsRequest = piece.length === 8 && piece.readUInt32BE(4) === 80877103;
        if (isTlsRequest) socket.end('N');
        else if (piece[0] === 'p'.charCodeAt(0)) socket.end(REFUSED);
        else socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const { port } = server.address() as AddressInfo;
    const asked = new Promise<void>((resolve) =>
      server.once('connection', (socket) => socket.once('data', () => resolve())),
    );
    return { port, asked, bytes: () => bytes, close: () => server.close() };
  }

  /** Ends with the process, or is ended early: one that is refused tries again for a while. */
  async function status(folder: Folder, env: Record<string, string>, enough?: Promise<void>): Promise<void> {
    const own = { PGPASSWORD: 'for another server', PGUSER: 'me', PGDATABASE: 'mine' };
    const child = spawn(process.execPath, [program, 'status'], {
      ...{ cwd: folder.path, stdio: 'ignore', timeout: 25_000 },
      env: { ...folder.env, ...own, ...env },
    });
    const closed = once(child, 'close');
    enough?.then(() => child.kill());
    await closed;
  }

  function agreedTo(address: string): Folder {
    const folder = newWorkspace();
    propose(folder, { store: address });
    folder.data('trust', '--yes', folder.data('trust', '--show')['hash'].slice(0, 12));
    return folder;
  }

  it('is sent no password and no name of the user’s own', async () => {
    const server = await listenAs('127.0.0.1');
    const address = `postgres://127.0.0.1:${server.port}/`;
    const folder = agreedTo(address);
    await status(folder, {});
    expect(server.bytes()).toContain('holdfast');
    expect(server.bytes()).not.toMatch(/for another server|\0me\0|mine/);
    // The user's own address gets them.
    await status(folder, { HOLDFAST_STORE: address });
    expect(server.bytes()).toMatch(/\0me\0[\s\S]*for another server/);
    server.close();
  });

  it('is spoken to over TLS only, unless it is on this machine', async () => {
    const server = await listenAs('127.0.0.2');
    await status(agreedTo(`postgres://team@127.0.0.2:${server.port}/holdfast?sslmode=disable`), {}, server.asked);
    expect(server.bytes().slice(4, 8)).toBe('\u0004\u00d2\u0016\u002f');
    expect(server.bytes()).not.toContain('team');
    server.close();
  });
});
