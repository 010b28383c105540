import { describe, expect, it } from 'vitest';
import { newFolder, newWorkspace } from './command-line.ts';

describe('a command line', () => {
  it('accepts flags before and after the words, joined or apart, and lists in every form', () => {
    const folder = newWorkspace();
    expect(folder.data('--agent', 'ada', 'start', 't1')).toMatchObject({ step: { holder: { agent: 'ada' } } });
    expect(folder.data('--agent=ada', '--run=auth', 'checkpoint', 'drafted')).toMatchObject({ run: 'auth' });
    folder.data('plan', 'add', 'a', 'A');
    folder.data('plan', 'add', '--wave=2', 'b', '--after', 'a,t3', 'Both', '--parallel');
    folder.data('plan', 'add', 'c', 'Again', '--after', 'a', '--after', 'b', '--agent', 'ada', '--agent', 'bob');
    const steps = folder.data('plan', 'show')['steps'] as { key: string }[];
    expect(steps.filter((step) => ['b', 'c'].includes(step.key))).toMatchObject([
      { wave: 2, after: ['a', 't3'], title: 'Both', parallel: true },
      { after: ['a', 'b'], agents: ['ada', 'bob'] },
    ]);
    expect(folder.data('search', 'issue', 'tokens', '--all')['results']).toHaveLength(1);
  });

  it('accepts text that looks like a flag', () => {
    const folder = newWorkspace();
    folder.data('note', '- a line of a list');
    expect(folder.run('note', '--agent', 'ada', '--', '--json')).toMatchObject({ code: 0, out: 'Noted as N-2.\n' });
    folder.data('note', '--force or not?');
    folder.data('decide', '--context=--json', '--decision', '-1', '--reason', '--no mercy');
    const bodies = (folder.data('log', '--limit', '4')['events'] as { body: Record<string, string> }[]).map(
      ({ body }) => body['text'] ?? [body['context'], body['decision'], body['reason']],
    );
    expect(bodies).toEqual(['- a line of a list', '--json', '--force or not?', ['--json', '-1', '--no mercy']]);
  });

  it('refuses unknown commands and flags, with similar ones', () => {
    const folder = newWorkspace();
    const hintsOf = (...words: string[]): string => {
      const fault = folder.fault(...words);
      expect(fault).toMatchObject({ code: 'usage', exit: 2 });
      return [fault.message, ...fault.hints].join(' ');
    };
    expect(hintsOf('strat', 't1')).toContain('`holdfast start`');
    expect(hintsOf('plan', 'ad')).toContain('`holdfast plan add`');
    expect(hintsOf('session', 'nothing')).toContain('`holdfast session start`');
    expect(hintsOf('skip', 't1', '--reson', 'r')).toContain('`--reason`');
    expect(hintsOf('status', '--jsn')).toContain('`--json`');
    expect(hintsOf('--jsonn')).toContain('`--json`');
    expect(hintsOf('status', '--constructor', 'x')).toContain('no flag');
    expect(hintsOf('status', 'two', 'words')).toContain('quotes');
    expect(hintsOf('note', 'x', '--step')).toContain('needs a value');
    expect(hintsOf('start', 't1', '--agent', '--json')).toContain('`--agent=--json`');
    expect(hintsOf('note', 'x', '--idempotency', '')).toContain('needs a value');
    expect(folder.fault('start')).toMatchObject({ code: 'usage', exit: 2, message: '`start` needs a step.' });
    expect(folder.person.fault('skip', 't1')).toMatchObject({ code: 'invalid', message: '`skip` needs a reason.' });
    expect(folder.data('log')['version']).toBe(5);
  });

  it('finds the identity by flags, variables, an agent’s shell or a session', () => {
    const folder = newWorkspace();
    const callerOf = (env: Record<string, string>, ...flags: string[]): unknown => {
      Object.assign(folder.env, env);
      folder.data('note', 'x', ...flags);
      for (const name of Object.keys(env)) delete folder.env[name];
      const [event] = folder.data('log', '--limit', '1')['events'] as { agent: string }[];
      return event?.agent;
    };
    expect(callerOf({})).toBe('unknown');
    expect(callerOf({ CLAUDECODE: '1' })).toBe('claude');
    expect(callerOf({ CODEX_SANDBOX: 'seatbelt', CLAUDECODE: '1' })).toBe('codex');
    expect(callerOf({ HOLDFAST_AGENT: 'ada', CLAUDECODE: '1' })).toBe('ada');
    expect(callerOf({ HOLDFAST_AGENT: 'ada' }, '--agent', 'bob')).toBe('bob');
    expect(callerOf({ HOLDFAST_AGENT: '', HOLDFAST_SESSION: '', HOLDFAST_RUN: '', HOLDFAST_STORE: '' })).toBe(
      'unknown',
    );
    folder.data('session', 'start', '--agent', 'eve');
    expect(callerOf({ HOLDFAST_SESSION: 'S-1' })).toBe('eve');
    folder.env['CLAUDECODE'] = '1';
    expect(folder.person.fault('skip', 't3', '--reason', 'r')).toMatchObject({ code: 'not_allowed', exit: 1 });
    expect(folder.person.fault('erase', '1', '--reason', 'r')).toMatchObject({ code: 'not_allowed' });
    delete folder.env['CLAUDECODE'];
    expect(folder.person.data('skip', 't3', '--reason', 'r')).toMatchObject({ step: { status: 'skipped' } });
  });

  it('finds the journal by --dir, --store and their variables', () => {
    const folder = newWorkspace();
    const elsewhere = newFolder();
    expect(elsewhere.fault('status')).toMatchObject({ code: 'not_found', exit: 1 });
    expect(elsewhere.data('status', '--dir', folder.path)).toMatchObject({ run: { id: 'auth' } });
    const file = folder.own('journal.db');
    expect(elsewhere.data('status', '--store', file)).toMatchObject({ run: { id: 'auth' } });
    elsewhere.env['HOLDFAST_STORE'] = file;
    elsewhere.env['HOLDFAST_RUN'] = 'auth';
    expect(elsewhere.data('status')).toMatchObject({ run: { id: 'auth' } });
    elsewhere.env['HOLDFAST_RUN'] = 'other';
    expect(elsewhere.fault('status')).toMatchObject({ code: 'not_found' });
    for (const address of [
      'mysql://u:hushhush@host/db',
      'postgres:/u:hushhush@host/db',
      'postgres://u:hushhush@h:x/d',
    ]) {
      const refused = elsewhere.run('status', '--store', address);
      expect([refused.code, refused.out]).toEqual([2, '']);
      expect(refused.err).not.toContain('hushhush');
    }
  });

  it('uses colours only on a terminal, unless a flag says otherwise', () => {
    const folder = newWorkspace();
    const escapeCharacter = String.fromCharCode(27);
    for (const words of [['status'], ['help'], ['start', 't9'], ['log']]) {
      const ran = folder.run(...words);
      expect(ran.out + ran.err).not.toContain(escapeCharacter);
    }
    expect(folder.run('status', '--color').out).toContain(escapeCharacter);
  });
});
