import { spawnSync } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { OperationName } from '../src/operations/index.ts';
import { newFolder, newWorkspace } from './command-line.ts';
import { openTestServer } from './http-server.ts';

// As built: loading every operation from source takes longer than all of these tests.
const { loadOperation, operationNames } = (await import(
  '../dist/lib/operations/index.js' as string
)) as typeof import('../src/operations/index.ts');
const { flagsOf, parseArguments } = (await import(
  '../dist/lib/cli/arguments.js' as string
)) as typeof import('../src/cli/arguments.ts');
const { commands } = (await import(
  '../dist/lib/bin/interfaces.js' as string
)) as typeof import('../src/bin/interfaces.ts');

const program = fileURLToPath(new URL('../dist/bin/holdfast.cjs', import.meta.url));

/** The transcript of a short conversation. */
const rollout = [
  { type: 'session_meta', payload: { id: 'c-1' } },
  { type: 'event_msg', payload: { type: 'user_message', message: 'Go on' } },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

/** A story of one run that calls every command once, in an order in which all succeed. */
const life: [words: string, shape: Record<string, unknown>][] = [
  ['init --title Other --id other', { run: { id: 'other' } }],
  ['use auth', { run: 'auth' }],
  ['whoami', { run: 'auth', session: null }],
  ['show t1', { kind: 'step', status: 'pending', fields: { title: 'Issue tokens' } }],
  ['runs', { runs: expect.arrayContaining([expect.objectContaining({ id: 'auth', status: 'active' })]) }],
  [
    'board',
    {
      runs: expect.arrayContaining([
        expect.objectContaining({ id: 'auth', standing: expect.objectContaining({ word: 'not started' }) }),
      ]),
    },
  ],
  ['needs', { needs: [] }],
  ['archive --run other --reason unwanted', { run: { id: 'other', status: 'archived' } }],
  ['unarchive other', { run: { id: 'other', status: 'active' } }],
  ['abort --run other --reason unwanted', { run: { id: 'other', status: 'abandoned' } }],
  ['session start --agent ada', { session: { id: 'S-1', agent: 'ada' }, brief: expect.stringContaining('Resuming') }],
  ['session move S-1 --to auth --agent ada', { run: 'auth', facts: 0 }],
  ['heartbeat --agent ada', { session: 'S-1' }],
  ['start t1 --agent ada', { step: { key: 't1', status: 'in_progress' }, version: expect.any(Number) }],
  [
    'checkpoint drafted --agent ada --artifact absent.txt',
    { step: { key: 't1', status: 'in_progress' }, version: expect.any(Number) },
  ],
  ['fail --message slow --agent ada', { step: { key: 't1', status: 'failed' }, version: expect.any(Number) }],
  ['retry t1 --agent ada', { step: { key: 't1', status: 'in_progress' }, version: expect.any(Number) }],
  ['release t1 --agent ada', { step: { key: 't1', status: 'pending' }, version: expect.any(Number) }],
  ['start t1 --agent ada', { step: { key: 't1', status: 'in_progress' } }],
  ['complete --agent ada', { step: { key: 't1', status: 'completed' }, version: expect.any(Number) }],
  ['start t2 --agent ada', { step: { key: 't2' } }],
  ['complete --agent ada', { step: { key: 't2', status: 'completed' } }],
  ['verify t2 --result pass', { step: { key: 't2' }, result: 'pass', basis: 'declared' }],
  ['reopen t1 --reason wrong --agent ada', { step: { key: 't1', status: 'in_progress' } }],
  ['complete --agent ada', { step: { key: 't1', status: 'completed' } }],
  ['confirm t2', { step: { key: 't2', stale: false } }],
  ['plan add g Gated --gate', { step: { key: 'g', gate: { state: 'closed' } } }],
  ['gate g open', { step: { key: 'g', gate: { state: 'open' } } }],
  ['plan set g --title Opened', { step: { key: 'g', title: 'Opened' } }],
  ['plan remove g', { key: 'g' }],
  ['skip t3 --reason late', { step: { key: 't3', status: 'skipped' }, version: expect.any(Number) }],
  ['plan import plan.yaml', { added: 1 }],
  ['step show t1', { step: { key: 't1', label: 'done' }, checkpoints: [expect.objectContaining({ name: 'drafted' })] }],
  ['plan show', { steps: expect.arrayContaining([expect.objectContaining({ key: 't1', status: 'completed' })]) }],
  ['decide --context c --decision d --reason r', { id: 'D-1' }],
  ['retract D-1 --reason r', { id: 'D-1' }],
  ['decisions --all', { decisions: [expect.objectContaining({ id: 'D-1', status: 'retracted' })] }],
  ['raise blocker stuck', { id: 'B-1' }],
  ['items', { items: [expect.objectContaining({ id: 'B-1' })] }],
  ['settle B-1 --as resolved', { id: 'B-1', status: 'resolved' }],
  ['wait --for B-1', { for: 'B-1', state: 'resolved' }],
  ['note remember', { id: 'N-1', hints: [] }],
  ['mail send --to bob --type request --subject look --body here', { id: 'M-1', to: 'bob' }],
  ['mail inbox --agent bob', { reader: 'bob', unread: [expect.objectContaining({ id: 'M-1' })], overdue: [] }],
  ['mail ack M-1 --note mine --agent bob', { id: 'M-1', status: 'acknowledged' }],
  ['mail block M-1 --note stuck --agent bob', { id: 'M-1', status: 'blocked' }],
  ['mail reply M-1 --body why', { id: 'M-1', status: 'blocked' }],
  ['mail action M-1 --note done --agent bob', { id: 'M-1', status: 'actioned' }],
  ['mail show M-1', { message: { id: 'M-1', replies: [expect.objectContaining({ body: 'why' })] } }],
  ['mail close M-1 --as resolved --note fine', { id: 'M-1', status: 'closed' }],
  ['worklog', { text: expect.stringContaining('remember'), lines: 4, archives: [] }],
  ['compact', { entries: [expect.objectContaining({ id: 'N-1', moves: true })], archive: null }],
  ['search remember', { results: [expect.objectContaining({ id: 'N-1' })] }],
  ['usage add --input 5 --output 7 --agent ada', { agent: 'ada' }],
  ['usage', { total: { input: 5, output: 7, cached: null } }],
  ['claim plan.yaml --agent ada', { id: expect.stringMatching(/^L-\d+$/), files: ['plan.yaml'] }],
  ['state put cart {"items":[1]}', { key: 'cart', bytes: 13, version: expect.any(Number) }],
  ['state get cart', { key: 'cart', type: 'json', content: '{"items":[1]}' }],
  ['state list', { values: [expect.objectContaining({ key: 'cart', bytes: 13 })] }],
  ['state remove cart', { key: 'cart', removed: true }],
  ['effect begin deploy --class irreversible', { id: 'X-1' }],
  ['effect end X-1 --outcome succeeded', { id: 'X-1', outcome: 'succeeded' }],
  ['supervise', { crashed: [], escalated: [] }],
  [
    'snapshot --next rest --agent ada',
    { id: 'P-1', token: expect.stringMatching(/^REV-\d{8}-snapshot-ada-1-h[0-9a-f]{8}$/), path: expect.any(String) },
  ],
  ['check', { rules: expect.arrayContaining([expect.objectContaining({ rule: 'token', result: 'pass' })]), failed: 0 }],
  ['handoff --to bob --agent ada', { id: 'H-1', snapshot: { id: 'P-2' }, message: 'M-2' }],
  ['handoff clarify H-1 --question where --agent bob', { id: 'H-1' }],
  ['handoff withdraw H-1 --agent ada', { id: 'H-1' }],
  ['handoff --to bob --agent ada --launch --to codex', { id: 'H-2', launch: { start: ['codex', expect.any(String)] } }],
  ['handoff decline H-2 --reason busy --agent codex', { id: 'H-2' }],
  ['handoff --to bob --agent ada', { id: 'H-3' }],
  ['handoff accept H-3 --agent bob', { id: 'H-3', session: 'S-2', stale: { events: 0 }, conflicts: expect.any(Array) }],
  ['handoff list', { handoffs: expect.arrayContaining([expect.objectContaining({ id: 'H-3', status: 'accepted' })]) }],
  [
    'session end --reason completed --agent bob',
    { session: { id: 'S-2' }, snapshot: { path: '.git/holdfast/snapshots/bob-1.md' } },
  ],
  ['sessions', { sessions: expect.arrayContaining([expect.objectContaining({ id: 'S-2', status: 'completed' })]) }],
  [
    'log --limit 2',
    {
      events: [
        expect.objectContaining({ type: 'session.ended', agent: 'bob', session: 'S-2', body: expect.anything() }),
        expect.objectContaining({ version: expect.any(Number), at: expect.stringMatching(/Z$/), agent: 'bob' }),
      ],
    },
  ],
  ['activity', { run: 'auth', entries: expect.any(Array), said: null, agents: expect.arrayContaining(['ada', 'bob']) }],
  ['next', { run: 'auth', ready: expect.any(Array), total: 4 }],
  ['status', { run: { id: 'auth' }, progress: { total: 4 }, steps: expect.any(Array), sessions: [], items: [] }],
  [
    'timeline',
    { sittings: expect.arrayContaining([expect.objectContaining({ session: 'S-2' })]), usage: [expect.anything()] },
  ],
  ['snapshots', { snapshots: expect.arrayContaining([expect.objectContaining({ id: 'P-1', agent: 'ada' })]) }],
  ['brief show --budget 800', { sections: expect.any(Array), budget: { limit: 800 } }],
  ['scan', { findings: [], runs: 1, events: expect.any(Number) }],
  ['erase N-1 --reason secret', { erased: [expect.any(Number)], places: expect.any(Array) }],
  [
    'resume',
    {
      headline: expect.any(String),
      freshness: expect.any(Object),
      position: expect.any(Object),
      nextAction: expect.any(Object),
      mail: { unread: [], pendingAcks: [], replies: [], unanswered: [] },
      budget: { limit: 2000, used: expect.any(Number), omitted: {} },
      text: expect.any(String),
      ...Object.fromEntries(
        'uncertain conflicts errors blockers commitments others decisions files questions findings constraints deadEnds'
          .split(' ')
          .map((name) => [name, expect.any(Array)]),
      ),
    },
  ],
  ['accept CONFLICT', { id: expect.stringMatching(/^K-[0-9a-f]{6}$/) }],
  ['trust --show', { state: 'nothing', settings: [expect.any(String)], hash: expect.any(String), seen: null }],
  ['config notify notify-send Holdfast', { store: null, notify: ['notify-send', 'Holdfast'] }],
  ['capture on --ignore-path secrets/**', { state: 'on', ignorePaths: ['secrets/**'] }],
  ['recover --transcript rollout.jsonl', { client: 'codex', conversation: 'c-1', session: 'S-3', dryRun: false }],
  ['doctor', { findings: [] }],
  ['install cursor', { clients: ['cursor'], scope: 'user', dryRun: false, files: expect.any(Array) }],
  ['uninstall cursor', { clients: ['cursor'], files: expect.any(Array), steps: [] }],
  ['journal export --out auth.jsonl', { run: 'auth', events: expect.any(Number), text: null }],
  ['journal import auth.jsonl', { run: 'auth', taken: 0 }],
  ['adopt --dry-run', { found: [], dryRun: true }],
  ['mirror add codewalk', { mirror: { format: 'codewalk', path: 'STATE.md' } }],
  ['mirror list', { mirrors: [{ format: 'codewalk', path: 'STATE.md' }] }],
  ['mirror sync', { mirrors: [expect.objectContaining({ absorbed: 0 })] }],
  ['mirror remove codewalk', { path: 'STATE.md' }],
  ['export --format gsd --out exported', { format: 'gsd', files: expect.any(Array), loses: expect.any(Array) }],
  ['token add ivy --scope write --agent', { name: 'ivy', secret: expect.stringMatching(/^hft_[\w-]{43}$/) }],
  ['token list', { tokens: [expect.objectContaining({ name: 'ivy', scope: 'write', usedAt: null })] }],
  ['token revoke ivy', { name: 'ivy' }],
  ['drop auth --reason over', { run: 'auth', events: expect.any(Number), reason: 'over', mirrors: [] }],
];

describe('--json', () => {
  it('prints exactly one object for every command, as its output schema says, and HTTP answers the same', {
    timeout: 120_000,
  }, async () => {
    const folder = newWorkspace();
    const twin = newWorkspace();
    const overHttp = openHttp(twin);
    for (const { env, path } of [folder, twin]) {
      env['HOLDFAST_RUN'] = 'auth';
      writeFileSync(join(path, 'plan.yaml'), 'steps: [{ key: more, title: One more }]\n');
      writeFileSync(join(path, 'rollout.jsonl'), rollout);
    }
    const called = new Set<string>();
    for (const [written, shape] of life) {
      const words = written.replace('CONFLICT', () => folder.data('resume')['conflicts'][0].id);
      const ran = folder.person.run(...words.split(' '), '--json');
      expect([words, ran.code, ran.err]).toEqual([words, 0, '']);
      expect(ran.out.trimEnd().split('\n')).toHaveLength(1);
      expect(ran.json).toMatchObject({ ok: true, changed: expect.any(Array), data: shape });
      const answered = await overHttp.call(
        written.replace('CONFLICT', () => twin.data('resume')['conflicts'][0].id).split(' '),
      );
      expect([words, formOf(answered)]).toEqual([words, formOf(ran.json)]);
      expect(answered).toMatchObject({ ok: true, data: shape });
      const [first = '', second = ''] = words.split(' ');
      const name = operationNames.find((one) => one === `${first}.${second}`) ?? (first as OperationName);
      const { output } = await loadOperation(name);
      // What the schema does not know is missing from what it returns.
      expect([name, v.parse(output, ran.json.data)]).toEqual([name, ran.json.data]);
      called.add(name);
    }
    await overHttp.close();
    expect([...called].sort()).toEqual([...operationNames].sort());
  });

  it('prints exactly one object for every refusal too, whatever the command', () => {
    const folder = newFolder();
    const refused = runAll(folder.path, (name) => [...name.split('.'), '--json', '--no-such-flag']);
    for (const { name, code, out, err } of refused) {
      expect([name, code, err]).toEqual([name, 2, '']);
      expect(JSON.parse(out)).toMatchObject({
        ok: false,
        fault: { code: 'usage', hints: expect.any(Array), data: {} },
      });
    }
    for (const words of [
      ['nonsense'],
      ['help', 'nonsense'],
      ['completion', 'tcsh'],
      ['--nonsense'],
      ['plan', 'nothing'],
    ]) {
      expect(folder.fault(...words)).toMatchObject({ code: 'usage', exit: 2 });
    }
    expect(folder.data('--version')).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    expect(folder.data('help')['text']).toContain('holdfast help --all');
    expect(folder.data('completion', 'bash')['text']).toContain('complete');
  });

  it('shows a no-op by an empty list, and in words', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'ada');
    expect(folder.data('start', 't1', '--agent', 'ada').changed).toEqual([]);
    expect(folder.data('plan', 'set', 't1', '--title', 'Issue tokens').changed).toEqual([]);
    const added = folder.run('plan', 'add', 't3', 'Write the docs');
    expect([added.code, added.out]).toEqual([0, 'Added t3 Write the docs.\nNothing changed.\n']);
    expect(folder.fault('plan', 'add', 't3', 'Write the docs', '--after', 't1')).toMatchObject({ code: 'illegal' });
    expect(folder.run('status').out).not.toContain('Nothing changed');
  });

  it('gives each kind of refusal its code and exit', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'ada');
    const refusals: [string, number, string[]][] = [
      ['not_found', 1, ['start', 't9']],
      ['not_found', 1, ['status', '--run', 'aht']],
      ['not_found', 1, ['note', 'x', '--session', 'S-9']],
      ['not_found', 1, ['doctor', '--run', 'aht']],
      ['illegal', 1, ['complete', 't3']],
      ['blocked', 1, ['start', 't2', '--agent', 'bob']],
      ['held', 1, ['start', 't1', '--agent', 'bob']],
      ['not_allowed', 1, ['skip', 't3', '--reason', 'r', '--agent', 'bob']],
      ['usage', 2, ['verify', 't1']],
      ['invalid', 2, ['plan', 'add', 'bad key', 'Title']],
      ['invalid', 2, ['log', '--limit', 'many']],
      ['invalid', 2, ['raise', 'worry', 'text']],
      ['unavailable', 3, ['wait', '--for', 't1', '--timeout', '0']],
      ['unavailable', 3, ['status', '--store', join(folder.path, 'nowhere', 'journal.db')]],
    ];
    for (const [code, exit, words] of refusals) {
      expect([words, folder.fault(...words)]).toMatchObject([words, { code, exit, message: expect.any(String) }]);
    }
  });

  it('reports on standard error that the output cannot be written, and that the event was recorded', () => {
    const folder = newWorkspace();
    const full = openSync('/dev/full', 'w');
    for (const flags of [[], ['--json']]) {
      const ran = spawnSync(process.execPath, [program, 'note', 'kept', ...flags], {
        cwd: folder.path,
        env: folder.env,
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
      });
      expect([ran.status, ran.stderr]).toEqual([3, expect.stringContaining('The output could not be written')]);
    }
    expect(folder.data('search', 'kept')['results']).toHaveLength(2);
  });
});

/**
 * A command line for every operation, all in one process: the story above shows that the program starts with each, and
 * hundreds of further starts would take longer than that.
 */
function runAll(cwd: string, lineOf: (name: string) => string[]) {
  const ran = spawnSync(process.execPath, ['--input-type=module', '--eval', EVERY_LINE], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd },
    input: JSON.stringify(operationNames.map(lineOf)),
    encoding: 'utf8',
  });
  const [outs, errs] = [ran.stdout.split('\0'), ran.stderr.split('\0')];
  expect([outs.length, errs.length]).toEqual([operationNames.length + 1, operationNames.length + 1]);
  return operationNames.map((name, index) => {
    const [err = '', code] = errs[index]?.split('\u0001') ?? [];
    return { name, code: Number(code), out: outs[index] ?? '', err };
  });
}

/** Ends the output of each line on both streams with a null character, with the exit code before it on the second. */
const EVERY_LINE = `
import { readFileSync, writeSync } from 'node:fs';
import { main } from ${JSON.stringify(new URL('../dist/lib/cli/main.js', import.meta.url).href)};
import { commands } from ${JSON.stringify(new URL('../dist/lib/bin/interfaces.js', import.meta.url).href)};
for (const argv of JSON.parse(readFileSync(0, 'utf8'))) {
  const code = await main({ argv, environment: {}, cwd: process.cwd(), isTerminal: false, isAttended: false, parent: 0, version: '', commands });
  writeSync(1, '\\0');
  writeSync(2, '\\u0001' + code + '\\0');
}
`;

/** Sends a command line as a request of the agent in `--agent`; what HTTP does not offer is run as a command. */
function openHttp(folder: ReturnType<typeof newFolder>) {
  const server = openTestServer(folder.path);
  return {
    close: server.close,
    async call(words: string[]) {
      const { operation, input, common } = await parseArguments(words, commands);
      if (operation === null || operation.local === true) return folder.person.run(...words, '--json').json;
      const token = common.agent === undefined ? server.person : server.agent(common.agent);
      const response = await server.post(operation.name, input, { token, run: common.run ?? 'auth' });
      return (await response.json()) as Record<string, unknown>;
    },
  };
}

/** The shape of an output, without what differs between workspaces and times. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf);
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, part]) => [name, formOf(part)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

describe('help', () => {
  it('explains every command with all its flags', async () => {
    const { path } = newFolder();
    const asked = runAll(path, (name) => ['help', ...name.split('.')]);
    const flags = runAll(path, (name) => [...name.split('.'), '--help']);
    for (const [index, { name, code, out }] of asked.entries()) {
      const operation = await loadOperation(name);
      expect([name, code, flags[index]]).toEqual([name, 0, { name, code: 0, out, err: '' }]);
      expect(out).toContain(`holdfast ${name.replace('.', ' ')}`);
      for (const spec of flagsOf(operation)) {
        // A word of the usage line is called by what it is; its description is there in any case.
        expect(out.replace(/\s+/g, ' ')).toContain(
          operation.words?.includes(spec.field) ? spec.text : `--${spec.name}`,
        );
      }
    }
  });

  it('explains groups of commands, the overview and its own commands', () => {
    const folder = newFolder();
    expect(folder.run('plan', '--help').out).toContain('plan import');
    expect(folder.run('help', 'plan').out).toBe(folder.run('plan', '--help').out);
    expect(folder.run('help', 'completion').out).toContain('bash|zsh|fish');
    expect(folder.run('completion', '--help').out).toContain('bash|zsh|fish');
    const overview = folder.run('help', '--all');
    expect(overview.code).toBe(0);
    for (const name of operationNames) expect(overview.out).toContain(name.replace('.', ' '));
    const typo = folder.run('strat', '--help');
    expect([typo.code, typo.err]).toEqual([2, expect.stringContaining('There is no command `strat`')]);
    expect(typo.err).toContain('`holdfast start`');
  });
});
