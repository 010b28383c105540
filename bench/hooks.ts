import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inTurns, type Row, ratioRow, ratios, spreadOf } from './measure.ts';
import { slowDiskLibrary } from './slow-disk.ts';

const PROGRAM = join(process.cwd(), 'dist', 'bin', 'holdfast.cjs');
const HOOKS_OF_A_TURN = 40;
const MANY = 2000;

/** Hooks as a client runs them, through the launcher, and what taking their reports in costs the next command. */
export async function measureHooks(folder: string, rounds: number): Promise<Row[]> {
  const place = join(folder, 'workspace');
  mkdirSync(place, { recursive: true });
  const env = { PATH: process.env['PATH'], HOLDFAST_STATE_HOME: process.env['HOLDFAST_STATE_HOME'], HOME: folder };
  const library = slowDiskLibrary(join(folder, 'slow-disk'));
  const slow = { ...env, ...(library === null ? {} : { LD_PRELOAD: library }) };
  const run = (command: string, words: readonly string[], input = '', environment = env): void => {
    const ran = spawnSync(command, words, { cwd: place, env: environment, input });
    if (ran.status !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${ran.status}: ${ran.stderr}`);
  };
  const node = (...words: string[]): void => run(process.execPath, words);
  const inputOf = (event: string, more: object): string =>
    JSON.stringify({ session_id: 'measured', cwd: place, hook_event_name: event, ...more });
  const hook = (event: string, more: object): void =>
    run(process.execPath, [PROGRAM, 'hook', 'claude', event], inputOf(event, more));
  const launcher = join(env.HOLDFAST_STATE_HOME ?? '', 'holdfast-hook.sh');
  let calls = 0;
  const toolUse = (event: 'PreToolUse' | 'PostToolUse'): string => {
    const call = { tool_name: 'Bash', tool_input: { command: 'npm run build' }, tool_use_id: `call-${calls >> 1}` };
    calls += 1;
    return inputOf(event, { ...call, tool_response: { exit_code: 0 } });
  };
  // As the client does it: a shell of its own runs the command in its settings, Codex a login shell.
  const launch = (event: 'PreToolUse' | 'PostToolUse'): void =>
    run('sh', ['-c', `sh '${launcher}' claude ${event} || true`], toolUse(event));
  const inLoginShell = (): void => run('bash', ['-lc', `sh '${launcher}' codex PostToolUse`], toolUse('PostToolUse'));
  const byName = (): void =>
    run('sh', ['-c', `'${join(PROGRAM, '../holdfast-hook')}' gemini AfterTool`], toolUse('PostToolUse'));
  const slowly = (): void => run('sh', ['-c', `sh '${launcher}' claude PreToolUse`], toolUse('PreToolUse'), slow);
  const endTurn = (): void => run('sh', ['-c', `sh '${launcher}' claude Stop || true`], inputOf('Stop', {}));
  const inbox = join(place, '.git/holdfast/inbox');
  const reports = (): string[] => readdirSync(inbox).filter((name) => name.endsWith('.in'));
  const status = (): void => node(PROGRAM, 'status');

  run('git', ['init', '--quiet']);
  node(PROGRAM, 'install', 'claude');
  hook('SessionStart', { source: 'startup' });
  hook('UserPromptSubmit', { prompt: 'Measure the hooks' });
  for (const event of ['PreToolUse', 'PostToolUse'] as const) launch(event);
  const [first = ''] = reports();
  const header = readFileSync(join(inbox, first), 'utf8').split('\n').slice(0, 4);
  /** Reports as the launcher leaves them. */
  const leave = (count: number): void => {
    for (let index = 0; index < count; index++) {
      const event = index % 2 === 0 ? 'PreToolUse' : 'PostToolUse';
      const text = [...header, toolUse(event)].join('\n').replace('PreToolUse', event);
      writeFileSync(join(inbox, `m-000000000000-${100_000 + index}-${calls}.in`), text, { mode: 0o600 });
    }
  };
  status();
  const times = await inTurns(rounds, {
    bare: () => node('-e', '0'),
    begin: () => launch('PreToolUse'),
    end: () => launch('PostToolUse'),
    login: inLoginShell,
    named: byName,
    slow: slowly,
  });
  const drains: Record<number, number[]> = { 0: [], 1: [], 50: [], [MANY]: [] };
  const turns: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < Math.max(3, rounds / 5); round++) {
    status();
    bare.push(timeOf(() => node('-e', '0')));
    for (const [count, list] of Object.entries(drains)) {
      leave(Number(count));
      list.push(timeOf(status));
    }
    const turn = timeOf(() => {
      for (let index = 0; index < HOOKS_OF_A_TURN; index++) launch(index % 2 === 0 ? 'PreToolUse' : 'PostToolUse');
      endTurn();
    });
    turns.push(turn / HOOKS_OF_A_TURN);
    hook('UserPromptSubmit', { prompt: 'Go on' });
  }
  /** What the reports add to the command that takes them in. */
  const added = (count: number): ReturnType<typeof spreadOf> =>
    spreadOf((drains[count] ?? []).map((time, round) => (time - (drains[0]?.[round] ?? 0)) / (bare[round] ?? 1)));
  return [
    ratioRow(
      'tool-use hook as installed, the beginning of a command, against `node -e 0`',
      ratios(times.begin, times.bare),
      { atMost: 0.25 },
    ),
    ratioRow('the same, its end', ratios(times.end, times.bare), { atMost: 0.25 }),
    ratioRow('the same in a login shell, as Codex runs it', ratios(times.login, times.bare), { atMost: 0.3 }),
    ratioRow('the same by name, as settings of a project call it', ratios(times.named, times.bare), { atMost: 0.25 }),
    ...(library === null
      ? []
      : [
          ratioRow('the beginning of a command with 4 ms for each fsync', ratios(times.slow, times.bare), {
            atMost: 0.35,
          }),
        ]),
    ratioRow(`a turn of ${HOOKS_OF_A_TURN} tool-use hooks with its end, per hook`, ratios(turns, bare), {
      atMost: 0.35,
    }),
    ratioRow('1 waiting report, added to the next command', added(1), { atMost: 1 }),
    ratioRow('50 waiting reports, added to the next command', added(50), { atMost: 2.5 }),
    ratioRow(`${MANY.toLocaleString('en')} waiting reports, added to the next command`, added(MANY), { atMost: 50 }),
  ];
}

function timeOf(work: () => void): number {
  const began = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - began) / 1e6;
}
