import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildJournal, type Journal } from './history.ts';
import { inTurns, type Row, ratioRow, ratios } from './measure.ts';

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
  for (const { workspace } of [short, long, longer]) {
    writeFileSync(join(workspace, 'measured.ts'), 'export const measured = true;\n'.repeat(100));
    hook(workspace, 'SessionStart', { source: 'startup' });
  }
  say('Running the commands in turns …');
  const times = await inTurns(rounds, {
    bare: () => node(folder, ['-e', '0']),
    checkpoint: () => checkpoint(long),
    edit: () => toolUse(long, 'Write'),
    command: () => toolUse(long, 'Bash'),
    resume: () => resume(long),
    resumeInGit: () => (inGit ? resume(inGit) : undefined),
    checkpointShort: () => checkpoint(short),
    checkpointLonger: () => checkpoint(longer),
    editShort: () => toolUse(short, 'Write'),
    editLonger: () => toolUse(longer, 'Write'),
    resumeShort: () => resume(short),
    resumeLonger: () => resume(longer),
  });
  const [middleWords, longestWords] = [middle, longest].map((events) => events.toLocaleString('en'));
  const against = (name: keyof typeof times) => ratios(times[name], times.bare);
  const growth = `grows from 1,000 to ${longestWords} events`;
  return [
    ratioRow(`\`checkpoint\` process, ${middleWords} events, against \`node -e 0\``, against('checkpoint'), {
      atMost: 1.35,
    }),
    ratioRow('tool-use hook, an edit, against `node -e 0`', against('edit'), { atMost: 1.35 }),
    ratioRow('tool-use hook, the beginning of a command', against('command'), { atMost: 1.35 }),
    ratioRow(`\`resume\` process, ${middleWords} events, 200 open things, no git`, against('resume'), { atMost: 1.6 }),
    ...(inGit ? [ratioRow('the same in a git repository', against('resumeInGit'), { atMost: 2 })] : []),
    ratioRow(`\`checkpoint\` ${growth}`, ratios(times.checkpointLonger, times.checkpointShort), { atMost: 1.2 }),
    ratioRow(`tool-use hook ${growth}`, ratios(times.editLonger, times.editShort), { atMost: 1.2 }),
    ratioRow(`\`resume\` ${growth}`, ratios(times.resumeLonger, times.resumeShort), { atMost: 1.2 }),
  ];
}

let checkpoints = 0;

function checkpoint({ workspace, session }: Journal): void {
  checkpoints += 1;
  node(workspace, [
    PROGRAM,
    'checkpoint',
    `measured-${checkpoints}`,
    '--session',
    session,
    '--next',
    'Go on measuring',
  ]);
}

const toolUses = { Write: 0, Bash: 0 };

/** As Claude Code calls it, for the session that its start hook opened in the same journal. */
function toolUse({ workspace }: Journal, tool: keyof typeof toolUses): void {
  const before = toolUses[tool]++;
  // A command that begins in one round ends in the next.
  const [event, id] =
    tool === 'Write'
      ? ['PostToolUse', `edit-${before}`]
      : [before % 2 === 0 ? 'PreToolUse' : 'PostToolUse', `command-${Math.floor(before / 2)}`];
  hook(workspace, event, {
    tool_name: tool,
    tool_input: tool === 'Write' ? { file_path: join(workspace, 'measured.ts') } : { command: 'npm run build' },
    tool_use_id: id,
  });
}

function hook(workspace: string, event: string, more: Record<string, unknown>): void {
  const payload = { session_id: 'measured-conversation', cwd: workspace, hook_event_name: event, ...more };
  node(workspace, [PROGRAM, 'hook', 'claude', event], JSON.stringify(payload));
}

function resume({ workspace, session }: Journal): void {
  node(workspace, [PROGRAM, 'resume', '--session', session]);
}

/**
 * A process with only `PATH` in its environment: extra certificates alone make a bare Node take three times as long to
 * start and hide every other cost.
 */
function node(folder: string, words: readonly string[], input = ''): void {
  const { PATH, HOLDFAST_STATE_HOME } = process.env;
  const env = { PATH, HOLDFAST_STATE_HOME, HOME: folder };
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
