import { spawnSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

/** Output of the demo. Colours and pauses for reading are used on a terminal only. */
const isTerminal = process.stdout.isTTY === true;
const paint = (code: number) => (text: string) => (isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = paint(1);
export const good = paint(32);
export const bad = paint(31);
const dim = paint(2);

const PAUSE_MS = 350;

export async function narrate(sentence: string): Promise<void> {
  console.log(`\n${bold(sentence)}\n`);
  if (isTerminal) await setTimeout(2 * PAUSE_MS);
}

/** The shell in which a command is typed. */
export interface Shell {
  workspace: string;
  /** Variables in addition to PATH and HOME. */
  variables: Readonly<Record<string, string>>;
}

export interface Answer {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs a command in the shell, shows it and its output. */
export async function type(shell: Shell, ...words: string[]): Promise<Answer> {
  const answer = holdfast(shell, ...words, ...(isTerminal ? ['--color'] : []));
  console.log(`${dim('$')} holdfast ${words.map(quoted).join(' ')}`);
  const shown = `${answer.stdout}${answer.stderr}`.trimEnd();
  console.log(shown.replace(/^(?=.)/gm, '  '));
  if (shown.includes('\n')) console.log('');
  if (isTerminal) await setTimeout(PAUSE_MS);
  return answer;
}

/** The data of a command with `--json`. */
export function ask(shell: Shell, ...words: string[]): unknown {
  const { stdout, stderr } = holdfast(shell, ...words, '--json');
  try {
    return (JSON.parse(stdout) as { data?: unknown; fault?: unknown }).data;
  } catch (cause) {
    throw new Error(`holdfast ${words.join(' ')} gave no JSON: ${stdout}${stderr}`, { cause });
  }
}

/** The real program as a separate process, with only `PATH` from this environment. */
function holdfast({ workspace, variables }: Shell, ...words: string[]): Answer {
  const ran = spawnSync(process.execPath, [`${process.cwd()}/dist/bin/holdfast.cjs`, ...words], {
    cwd: workspace,
    env: { PATH: process.env['PATH'], HOME: workspace, ...variables },
    encoding: 'utf8',
  });
  if (ran.error) throw ran.error;
  return { exitCode: ran.status ?? -1, stdout: ran.stdout, stderr: ran.stderr };
}

const quoted = (word: string): string => (/[^\w.:/=@+-]/.test(word) ? `"${word}"` : word);
