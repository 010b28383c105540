import { spawnSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

/** What a line of the demo is: this decides how it is shown. */
export type Role = 'caption' | 'you' | 'agent' | 'command' | 'answer' | 'brief' | 'good' | 'bad';

/** A line and when it appears, in milliseconds of reading time from the start. */
export interface Frame {
  atMs: number;
  role: Role;
  text: string;
}

export interface Stage {
  frames: Frame[];
  say(role: Role, text: string): Promise<void>;
  /** Runs a command as someone types it, and shows it with its answer. */
  type(shell: Shell, ...words: string[]): Promise<Answer>;
  /** Sends a report as a client does; the text that its agent gets, or an empty one. */
  hook(shell: Shell, client: string, event: string, input: object): string;
}

export interface Shell {
  folder: string;
  variables: Readonly<Record<string, string>>;
}

export interface Answer {
  code: number;
  text: string;
}

interface StageOptions {
  program: string;
  print(line: string): void;
  /** Colours. */
  isPainted: boolean;
  /** No time to read. */
  isFast: boolean;
}

const colours: Readonly<Record<Role, string>> = {
  caption: '1;36',
  you: '1',
  agent: '33',
  command: '1',
  answer: '0',
  brief: '0',
  good: '32',
  bad: '31',
};

/** Reading time of a line. */
const msFor = (role: Role, text: string): number =>
  role === 'caption' ? 900 : role === 'brief' ? 260 : 180 + text.length * 4;

export function openStage({ program, print, isPainted, isFast }: StageOptions): Stage {
  const frames: Frame[] = [];
  let atMs = 0;
  const say: Stage['say'] = async (role, text) => {
    for (const line of text.split('\n')) {
      frames.push({ atMs, role, text: line });
      const shown = role === 'caption' ? `\n${line}` : role === 'command' ? `$ ${line}` : `  ${line}`;
      print(isPainted ? `\u001b[${colours[role]}m${shown}\u001b[0m` : shown);
      const ms = msFor(role, line);
      atMs += ms;
      if (!isFast) await setTimeout(ms);
    }
  };
  const run = ({ folder, variables }: Shell, words: readonly string[], input = ''): Answer => {
    const ran = spawnSync(process.execPath, [program, ...words], {
      cwd: folder,
      // Nothing of the user's environment or state: it must neither be changed nor shown.
      env: { PATH: process.env['PATH'], ...homes(folder), ...variables },
      input,
      encoding: 'utf8',
    });
    if (ran.error) throw ran.error;
    return { code: ran.status ?? -1, text: `${ran.stdout}${ran.stderr}`.trimEnd() };
  };
  return {
    frames,
    say,
    async type(shell, ...words) {
      await say('command', `holdfast ${words.map(quoted).join(' ')}`);
      const answer = run(shell, words);
      await say(answer.code === 0 ? 'answer' : 'bad', answer.text);
      return answer;
    },
    hook(shell, client, event, input) {
      const report = { session_id: `${client}-1`, cwd: shell.folder, hook_event_name: event, ...input };
      return contextIn(run(shell, ['hook', client, event], JSON.stringify(report)).text);
    },
  };
}

/** Home and state of the demo are beside its project. */
const homes = (folder: string): Record<string, string> => ({
  HOME: `${folder}/../home`,
  USERPROFILE: `${folder}/../home`,
  HOLDFAST_STATE_HOME: `${folder}/../home/state`,
});

const quoted = (word: string): string => (/[^\w.:/=@+-]/.test(word) ? `"${word}"` : word);

function contextIn(answer: string): string {
  if (answer === '') return '';
  const { hookSpecificOutput } = JSON.parse(answer) as { hookSpecificOutput?: { additionalContext?: string } };
  return hookSpecificOutput?.additionalContext ?? '';
}
