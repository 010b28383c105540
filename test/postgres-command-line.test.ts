import { describe, expect, inject, it } from 'vitest';
import { newFolder } from './command-line.ts';

describe('the command line on PostgreSQL', () => {
  it('works as on SQLite, and never prints the password', () => {
    const folder = newFolder();
    const url = new URL(inject('postgresUrl'));
    const password = url.password;
    folder.env['HOLDFAST_STORE'] = url.href;
    const run = `life-${process.pid}-${Date.now()}`;
    const agent = ['--agent', 'ada'];
    expect(folder.data('init', '--title', 'On a server', '--id', run)).toMatchObject({ run: { id: run } });
    folder.data('plan', 'add', 't1', 'First');
    folder.data('plan', 'add', 't2', 'Second', '--after', 't1');
    folder.data('start', 't1', ...agent);
    folder.data('checkpoint', 'half', '--next', 'the other half', ...agent);
    expect(folder.data('resume')).toMatchObject({ position: { step: 't1', checkpoint: 'half' } });
    folder.data('complete', '--summary', 'hunter2hunter2', ...agent);
    folder.data('note', 'kept beside');
    expect(folder.data('search', 'hunter2hunter2')['results']).not.toEqual([]);
    folder.person.data('erase', 't1', '--reason', 'a password was pasted');
    expect(folder.data('search', 'hunter2hunter2')['results']).toEqual([]);
    expect(folder.data('search', 'beside')['results']).toHaveLength(1);
    expect(folder.run('log', '--limit', '50', '--json').out).not.toContain('hunter2hunter2');
    expect(folder.data('status')).toMatchObject({ progress: { done: 1, total: 2 } });
    expect(folder.data('doctor')).toMatchObject({ findings: [], runs: [{ run }] });
    expect(folder.data('doctor', '--rebuild')).toMatchObject({ findings: [], runs: [{ run, unchanged: true }] });
    expect(folder.data('runs')['runs']).toMatchObject([{ id: run }]);

    // The test server's password is also its user and database name: use another one.
    const secret = 'opensesame';
    expect(password).not.toBe(secret);
    const wrong = new URL(url);
    wrong.password = secret;
    wrong.pathname = '/nowhere';
    const addresses = [
      wrong.href,
      `postgres://u:${secret}@127.0.0.1:1/x`,
      `postgres://u:${secret}@`,
      `postgres://u:${secret}@h:x/`,
    ];
    for (const address of addresses) {
      folder.env['HOLDFAST_STORE'] = address;
      // An address without a server is retried for a while: once is enough.
      for (const flags of address.includes(':1/') ? [['--json']] : [[], ['--json']]) {
        const ran = folder.run('status', ...flags);
        expect([address, ran.code === 3 || ran.code === 2]).toEqual([address, true]);
        expect(ran.out + ran.err).not.toContain(secret);
      }
    }
  });
});
