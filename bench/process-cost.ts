import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildJournal, type Journal } from './history.ts';
import { inTurns, type Row, ratioRow, ratios } from './measure.ts';
import { slowDiskLibrary } from './slow-disk.ts';

const PROGRAM = join(process.cwd(), 'dist', 'bin', 'holdfast.cjs');

export interface ProcessCostOptions {
  folder: string;
  /** The length of the longest history; the others are 1,000 and 100,000 events long. */
  longest: number;
  rounds: number;
  say: (sentence: string) => void;
}

/** The cost of a whole command, from start to end of its process, compared with a process that does nothing. */
export async function measureProcessCost({ folder, longest, rounds, say }: ProcessCostOptions): Promise<Row[]> {
  const build = async (name: string, events: number): Promise<Journal> => {
    say(`Writing a journal of ${events.toLocaleString('en')} events …`);
    return buildJournal(join(folder, name), events);
  };
  const middle = Math.min(100_000, longest);
  const [short, long, longer] = [
    await build('short', 1000),
    await build('long', middle),
    await build('longer', longest),
  ];
  // Written again, not copied: to `stat` the files of a copy are not the recorded ones.
  const inGit = putIntoGit(await build('in-git', middle));
  // The first start saves compiled code of what it used beside the program; for users, too, that start is `init`.
  mkdirSync(join(folder, 'first'));
  node(join(folder, 'first'), [PROGRAM, 'init', '--title', 'First']);
  const slow = slowDiskLibrary(join(folder, 'slow-disk'));
  say('Running the commands in turns …');
  const times = await inTurns(rounds, {
    bare: () => node(folder, ['-e', '0']),
    checkpoint: () => checkpoint(long),
    checkpointOnSlowDisk: () => (slow === null ? undefined : checkpoint(long, { LD_PRELOAD: slow })),
    resume: () => resume(long),
    resumeInGit: () => (inGit ? resume(inGit) : undefined),
    start: () => startSession(long),
    checkpointShort: () => checkpoint(short),
    checkpointLonger: () => checkpoint(longer),
    resumeShort: () => resume(short),
    resumeLonger: () => resume(longer),
  });
  const [middleWords, longestWords] = [middle, longest].map((events) => events.toLocaleString('en'));
  const against = (name: keyof typeof times) => ratios(times[name], times.bare);
  const growth = `grows from 1,000 to ${longestWords} events`;
  return [
    ratioRow(`\`checkpoint\` process, ${middleWords} events, against \`node -e 0\``, against('checkpoint'), {
      atMost: 1.5,
    }),
    ...(slow === null
      ? []
      : [ratioRow('the same with 4 ms for each fsync', against('checkpointOnSlowDisk'), { atMost: 2 })]),
    ratioRow(`\`resume\` process, ${middleWords} events, 200 open things, no git`, against('resume'), { atMost: 1.9 }),
    ...(inGit ? [ratioRow('the same in a git repository', against('resumeInGit'), { atMost: 2.1 })] : []),
    ratioRow('hook of a session that starts, with its brief', against('start'), { atMost: 2.1 }),
    ratioRow(`\`checkpoint\` ${growth}`, ratios(times.checkpointLonger, times.checkpointShort), { atMost: 1.2 }),
    ratioRow(`\`resume\` ${growth}`, ratios(times.resumeLonger, times.resumeShort), { atMost: 1.2 }),
  ];
}

let checkpoints = 0;

function checkpoint({ workspace, session }: Journal, environment: Record<string, string> = {}): void {
  checkpoints += 1;
  const words = [`measured-${checkpoints}`, '--session', session, '--next', 'Go on measuring'];
  node(workspace, [PROGRAM, 'checkpoint', ...words], '', environment);
}

let starts = 0;

/** As Claude Code calls it, each time for a new conversation. */
function startSession({ workspace }: Journal): void {
  starts += 1;
  const input = { session_id: `started-${starts}`, cwd: workspace, hook_event_name: 'SessionStart', source: 'startup' };
  node(workspace, [PROGRAM, 'hook', 'claude', 'SessionStart'], JSON.stringify(input));
}

function resume({ workspace, session }: Journal): void {
  node(workspace, [PROGRAM, 'resume', '--session', session]);
}

/**
 * A process with only `PATH` in its environment: extra certificates alone make a bare Node take three times as long to
 * start and hide every other cost.
 */
function node(folder: string, words: readonly string[], input = '', more: Record<string, string> = {}): void {
  const { PATH, HOLDFAST_STATE_HOME } = process.env;
  const env = { PATH, HOLDFAST_STATE_HOME, HOME: folder, ...more };
  const ran = spawnSync(process.execPath, words, { cwd: folder, env, input });
  if (ran.status !== 0) throw new Error(`node ${words.join(' ')} ended with ${ran.status}: ${ran.stderr}`);
}

/** The journal in a repository with some files, a commit and a change; null where there is no git. */
function putIntoGit(journal: Journal): Journal | null {
  const { workspace } = journal;
  for (let number = 0; number < 200; number++) writeFileSync(join(workspace, `file-${number}.txt`), `${number}\n`);
  const git = (...words: string[]): boolean =>
    spawnSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...words], { cwd: workspace })
      .status === 0;
  if (!git('init', '--quiet') || !git('add', '.') || !git('commit', '--quiet', '-m', 'Begin')) return null;
  writeFileSync(join(workspace, 'file-0.txt'), 'changed\n');
  return journal;
}
