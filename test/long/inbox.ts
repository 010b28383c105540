import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ground, killHooks } from '../inbox-kills.ts';
import { seeded } from './faults/random.ts';

const AGENTS = 1000;
const DRAINS = 200;

/** `npm run test:long inbox [--seed N]`: kills agents in the middle of their hooks, and drains in the middle of a page. */
export async function main(words: string[]): Promise<number> {
  const given = words[words.indexOf('--seed') + 1];
  const seed = words.includes('--seed') ? Number(given) : Date.now() % 1_000_000;
  const random = seeded(seed);
  console.log(`seed ${seed}`);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-kills-')));
  try {
    const ground = newGround(folder);
    const killed = await killHooks(ground, { agents: AGENTS, drains: DRAINS }, () => random.below(1000) / 1000);
    const { missing, double, outOfOrder, ...counts } = killed;
    console.log({ ...counts, missing: missing.length, double: double.length, outOfOrder: outOfOrder.length });
    const doctor = spawnSync(process.execPath, [ground.program, 'doctor', '--json'], {
      cwd: ground.path,
      env: ground.env,
    });
    const { findings } = JSON.parse(doctor.stdout.toString()).data as { findings: object[] };
    if (findings.length > 0) console.log(findings);
    for (const line of [...missing, ...double, ...outOfOrder].slice(0, 20)) console.log(line);
    return missing.length + double.length + outOfOrder.length + findings.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function newGround(folder: string): Ground {
  const path = join(folder, 'work');
  const state = join(folder, 'state');
  mkdirSync(path);
  mkdirSync(state, { mode: 0o700 });
  const program = join(process.cwd(), 'dist/bin/holdfast.cjs');
  const env = { PATH: process.env['PATH'] ?? '', HOME: state, HOLDFAST_STATE_HOME: state };
  const run = (command: string, words: string[], input = ''): void => {
    const ran = spawnSync(command, words, { cwd: path, env, input });
    if (ran.status !== 0) throw new Error(`${command} ${words.join(' ')}: ${ran.stderr}`);
  };
  run('git', ['init', '--quiet']);
  run(process.execPath, [program, 'install', 'claude']);
  for (const [event, more] of Object.entries({
    SessionStart: { source: 'startup' },
    UserPromptSubmit: { prompt: 'Make everything' },
  })) {
    const input = { session_id: 'conversation-1', cwd: path, hook_event_name: event, ...more };
    run(process.execPath, [program, 'hook', 'claude', event], JSON.stringify(input));
  }
  return { path, dataFolder: join(path, '.git/holdfast'), launcher: join(state, 'holdfast-hook.sh'), program, env };
}
