import { askSystem } from '../program.ts';
import type { ProcessPort } from './process-port.ts';

/** macOS and BSD. */
export const psPort: ProcessPort = {
  look() {
    const listed = parseProcesses(ps('-axww', '-o', 'pid=,ppid=,stat=,lstart=,comm='));
    let commands: Map<number, string> | undefined;
    return {
      read: (pid) => listed.get(pid) ?? null,
      start: (pid) => listed.get(pid)?.start ?? null,
      words(pid) {
        commands ??= parseCommands(ps('-axww', '-o', 'pid=,command='));
        return wordsOf(commands.get(pid) ?? '', listed.get(pid)?.path ?? '');
      },
    };
  },
  start: (pid) => {
    if (pid !== process.pid) return startOf(pid);
    // It does not change, and every lock asks for it.
    own ??= startOf(pid);
    return own;
  },
};

let own: string | null | undefined;

const startOf = (pid: number): string | null =>
  parseProcesses(ps('-o', 'pid=,ppid=,stat=,lstart=,comm=', '-p', String(pid))).get(pid)?.start ?? null;

/** Times in UTC and with English names, whatever the user's settings are. */
const ps = (...words: string[]): string => askSystem('/bin/ps', words, { LC_ALL: 'C', TZ: 'UTC0' }) ?? '';

interface Listed {
  name: string;
  parent: number;
  path: string;
  start: string | null;
}

/** `  512     1 Ss   Wed Nov 18 09:12:44 2026     /Applications/Some App.app/Contents/MacOS/claude`. */
export function parseProcesses(output: string): Map<number, Listed> {
  const found = new Map<number, Listed>();
  for (const line of output.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+\w{3}\s+(\w{3})\s+(\d+)\s+([\d:]{8})\s+(\d{4})\s+(.+?)\s*$/.exec(line);
    if (!match) continue;
    const [, pid, parent, state = '', month, day, clock, year, path = ''] = match;
    const startMs = Date.parse(`${day} ${month} ${year} ${clock} UTC`);
    const start = state.startsWith('Z') ? 'ended' : Number.isNaN(startMs) ? null : `ps:${startMs / 1000}`;
    found.set(Number(pid), { name: path.slice(path.lastIndexOf('/') + 1), parent: Number(parent), path, start });
  }
  return found;
}

export function parseCommands(output: string): Map<number, string> {
  const lines = output.split('\n').flatMap((line) => {
    const [, pid = '', command = ''] = /^\s*(\d+)\s+(.+?)\s*$/.exec(line) ?? [];
    return pid === '' ? [] : [[Number(pid), command] as const];
  });
  return new Map(lines);
}

/** The program may have spaces in its path, which is known; a further word with a space is cut there. */
export function wordsOf(command: string, path: string): string[] {
  if (command === '') return [];
  const isWhole = path !== '' && (command === path || command.startsWith(`${path} `));
  const rest = isWhole ? command.slice(path.length + 1) : command;
  const words = rest.split(' ').filter(Boolean);
  return isWhole ? [path, ...words] : words;
}
