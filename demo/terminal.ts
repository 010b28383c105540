import { spawnSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

/** How the demonstration is shown. Colour and the pauses that let one read along are for a terminal only. */
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

/** Whose shell a command is typed in. */
export interface Shell {
  workspace: string;
  /** What the shell has set besides PATH and HOME. */
  variables: Readonly<Record<string, string>>;
}

export interface Answer {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Types a command into the shell, shows it and what it answers. */
export async function type(shell: Shell, ...words: string[]): Promise<Answer> {
  const answer = holdfast(shell, ...words, ...(isTerminal ? ['--color'] : []));
  console.log(`${dim('$')} holdfast ${words.map(quoted).join(' ')}`);
  const shown = `${answer.stdout}${answer.stderr}`.trimEnd();
  console.log(shown.replace(/^(?=.)/gm, '  '));
  if (shown.includes('\n')) console.log('');
  if (isTerminal) await setTimeout(PAUSE_MS);
  return answer;
}

/** The data of a command that is asked to answer a program. */
export function ask(shell: Shell, ...words: string[]): unknown {
  const { stdout, stderr } = holdfast(shell, ...words, '--json');
  try {
    return (JSON.parse(stdout) as { data?: unknown; fault?: unknown }).data;
  } catch (cause) {
    throw new Error(`holdfast ${words.join(' ')} gave no JSON: ${stdout}${stderr}`, { cause });
  }
}

/** The real program in a process of its own, with nothing of this process's environment but the search path. */
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
