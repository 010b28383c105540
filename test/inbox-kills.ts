import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { callKey } from '../src/clients/conversation.ts';

/** A repository with installed hooks, where agents and drains are killed. */
export interface Ground {
  path: string;
  dataFolder: string;
  launcher: string;
  program: string;
  env: Record<string, string>;
}

export interface Killed {
  agents: number;
  drains: number;
  /** Commands whose hook had ended before its agent was killed. */
  begins: number;
  ends: number;
  missing: string[];
  double: string[];
  outOfOrder: string[];
  /** Reports that were cut and put aside, that were refused, and that still wait. */
  cut: number;
  refused: number;
  waiting: number;
}

const CONVERSATION = 'conversation-1';

/** Reports one command after the other, and notes each hook that has ended. */
const AGENT = `
i=$1 hook=$2 noted=$3
report() { printf '{"session_id":"${CONVERSATION}","cwd":"%s","hook_event_name":"%s","tool_name":"Bash","tool_input":{"command":"make %s"},"tool_use_id":"k%s"%s}' "$PWD" "$1" "$i" "$i" "$2" | sh "$hook" claude "$1"; }
while :; do
  report PreToolUse '' && echo "begin $i" >>"$noted"
  report PostToolUse ',"tool_response":{"exit_code":0}' && echo "end $i" >>"$noted"
  i=$((i + 1))
done
`;

/**
 * Kills agents with everything they started, and drains, at random moments, until so many of each were killed. `random`
 * gives the moments.
 */
export async function killHooks(
  ground: Ground,
  wanted: { agents: number; drains: number },
  random: () => number,
): Promise<Killed> {
  const noted = join(ground.dataFolder, 'noted');
  const script = join(ground.dataFolder, 'agent.sh');
  writeFileSync(noted, '');
  writeFileSync(script, AGENT);
  const options = { cwd: ground.path, env: ground.env, stdio: 'ignore', detached: true } as const;
  const drainWords = [ground.program, 'hook', 'claude', 'Stop', '--inbox'];
  let next = 0;
  let drains = 0;
  for (let agents = 0; agents < wanted.agents || drains < wanted.drains; agents++) {
    const agent = spawn('sh', [script, String(next), ground.launcher, noted], options);
    const gone = ended(agent);
    await pause(random() * 150);
    const isDue = drains * wanted.agents < wanted.drains * (agents + 1);
    const drain = isDue ? spawn(process.execPath, drainWords, options) : null;
    const drained = drain && ended(drain);
    await pause(20 + random() * 150);
    killAll(agent.pid);
    await gone;
    if (drain && drained) {
      await pause(random() * 100);
      // Some go on: an inbox that is never emptied fills up, and then drops reports.
      const isKilled = agents % 20 !== 0 && drain.exitCode === null && killAll(drain.pid);
      if (isKilled) drains++;
      await drained;
    }
    // The command that was cut is not reported again.
    next = Math.max(next, ...notedIn(noted).map(({ call }) => call + 2));
  }
  // Three drains at once, then one after the other for what they left to each other. The report of a hook that was killed
  // waits while another process may have its number.
  const last = [1, 2, 3].map(() => ended(spawn(process.execPath, drainWords, options)));
  await Promise.all(last);
  const deadline = Date.now() + 30_000;
  do spawnSync(process.execPath, drainWords, { cwd: ground.path, env: ground.env });
  while (waitingIn(ground).length > 0 && Date.now() < deadline);
  return { agents: wanted.agents, drains, ...compare(ground, notedIn(noted)) };
}

const waitingIn = ({ dataFolder }: Ground): string[] =>
  readdirSync(join(dataFolder, 'inbox')).filter((name) => name.endsWith('.in'));

type Noted = { what: string; call: number };

const notedIn = (file: string): Noted[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^(?:begin|end) \d+$/.test(line))
    .map((line) => ({ what: line.split(' ')[0] ?? '', call: Number(line.split(' ')[1]) }));

/** What was noted against what is in the journal. */
function compare(ground: Ground, noted: readonly Noted[]): Omit<Killed, 'agents' | 'drains'> {
  const { dataFolder } = ground;
  const database = new DatabaseSync(join(dataFolder, 'journal.db'));
  const rows = database
    .prepare("SELECT type, body FROM events WHERE type IN ('effect.began', 'effect.ended') ORDER BY run, version")
    .all() as { type: string; body: string }[];
  database.close();
  const began = new Map<string, { id: string; place: number }>();
  const ended = new Map<string, number>();
  const double: string[] = [];
  for (const [place, { type, body }] of rows.entries()) {
    const { id, key } = JSON.parse(body) as { id: string; key: string };
    if (type === 'effect.began') {
      if (began.has(key)) double.push(key);
      began.set(key, { id, place });
    } else {
      if (ended.has(id)) double.push(id);
      ended.set(id, place);
    }
  }
  const missing: string[] = [];
  const outOfOrder: string[] = [];
  let last = -1;
  for (const { what, call } of noted) {
    const found = began.get(callKey({ conversation: CONVERSATION, subagent: null }, `k${call}`));
    const place = what === 'begin' ? found?.place : ended.get(found?.id ?? '');
    if (place === undefined) missing.push(`${what} ${call}`);
    else if (place < last) outOfOrder.push(`${what} ${call}`);
    last = place ?? last;
  }
  const begins = noted.filter(({ what }) => what === 'begin').length;
  const inbox = readdirSync(join(dataFolder, 'inbox'));
  if (inbox.includes('full')) throw new Error('The inbox was full, and what was dropped then is not acknowledged.');
  const aside = (name: string): number =>
    inbox.includes(name) ? readdirSync(join(dataFolder, 'inbox', name)).length : 0;
  return {
    ...{ begins, ends: noted.length - begins, missing, double, outOfOrder },
    ...{ cut: aside('bad'), refused: aside('refused'), waiting: waitingIn(ground).length },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const ended = (child: ReturnType<typeof spawn>): Promise<void> =>
  new Promise((resolve) => child.on('close', () => resolve()));

/** The process and what it started: each is the head of its group. */
function killAll(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(-pid, 'SIGKILL');
  } catch {
    return false;
  }
}
