import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { isInside, realPathOf } from './files.ts';
import { askProgram } from './program.ts';

/** A command that began, and whose end is not known. */
export interface LostCommand {
  id: string;
  text: string;
  /** When it began, in UTC. */
  at: string;
}

export type ProcessFound = { is: 'alive'; pid: number; since: string } | { is: 'none' } | { is: 'unlisted' };

/** A process of this user. */
export interface RunningProcess {
  pid: number;
  parent: number;
  startedMs: number;
  /** The folder it works in; null where that is not known. */
  folder: string | null;
  command: string;
}

/**
 * Looks for living processes of commands in a working tree, with one look at the process table. A client runs a command
 * through a shell that carries it whole, so the text is looked for in command lines. Where processes cannot be listed in
 * time, nothing is claimed.
 */
export async function findProcesses(
  tree: string,
  commands: readonly LostCommand[],
): Promise<Map<string, ProcessFound>> {
  const found = new Map<string, ProcessFound>();
  if (commands.length === 0) return found;
  const running = await listProcesses(tree);
  const others = running && withoutAncestors(running, process.pid);
  for (const command of commands) {
    const match = others?.find((one) => isProcessOf(command, one, tree));
    const since = match && new Date(match.startedMs).toISOString();
    found.set(
      command.id,
      !others ? { is: 'unlisted' } : match && since ? { is: 'alive', pid: match.pid, since } : { is: 'none' },
    );
  }
  return found;
}

/** Start times are exact to a second or two. */
const EARLIER_MS = 2000;

export function isProcessOf(command: LostCommand, running: RunningProcess, tree: string): boolean {
  if (running.startedMs < Date.parse(command.at) - EARLIER_MS) return false;
  if (running.folder !== null && !isInside(realPathOf(tree), running.folder)) return false;
  const line = plain(running.command);
  return partsOf(command.text).some((part) => line.includes(part));
}

const TEXT_CHARS = 200;

/** The whole text, and those of its parts that say enough: a path, or two words. A secret is recorded as a mark. */
function partsOf(text: string): string[] {
  const whole = plain(text.slice(0, TEXT_CHARS).replace(/…$/, ''));
  const parts = whole
    .split(/&&|\|\|?|;|\[redacted[^\]]*\]/)
    .map((part) => part.trim())
    .filter((part) => part.includes(' ') || part.includes('/'));
  // Some clients run a program of this folder by its whole path.
  const ends = [whole, ...parts].map((part) => part.replace(/^\.\//, '/'));
  return [...new Set(ends)].filter((part) => part.length >= LEAST_CHARS);
}

const LEAST_CHARS = 3;

/** Without quotation marks, which a shell removes. */
const plain = (text: string): string =>
  text
    .replace(/["'\\]/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** This program carries the command in its own arguments at times, and so may those that started it. */
function withoutAncestors(running: readonly RunningProcess[], own: number): RunningProcess[] {
  const parents = new Map(running.map(({ pid, parent }) => [pid, parent]));
  const excluded = new Set<number>();
  for (let pid: number | undefined = own; pid !== undefined && !excluded.has(pid); pid = parents.get(pid))
    excluded.add(pid);
  return running.filter(({ pid }) => !excluded.has(pid));
}

const LIMIT_MS = 300;

/** The processes of this user; null where they cannot be listed in time. */
async function listProcesses(tree: string): Promise<RunningProcess[] | null> {
  if (process.platform === 'linux') return fromProc();
  if (process.platform === 'win32') {
    const output = await ask(tree, 'powershell', '-NoProfile', '-NonInteractive', '-Command', CIM);
    return output === null ? null : parseCim(output);
  }
  const output = await ask(tree, 'ps', '-xww', '-o', 'pid=,ppid=,etime=,command=');
  return output === null ? null : parsePs(output, Date.now());
}

const CIM =
  'Get-CimInstance Win32_Process | Select-Object ProcessId,ParentProcessId,CommandLine,@{n="Started";e={$_.CreationDate.ToUniversalTime().ToString("o")}} | ConvertTo-Json -Compress';
const ask = (tree: string, ...words: string[]): Promise<string | null> =>
  askProgram(words, { cwd: process.getBuiltinModule('node:os').tmpdir(), outside: tree, timeoutMs: LIMIT_MS });

/** Ticks of a second in `/proc`, which every current kernel has. */
const TICKS = 100;

function fromProc(): RunningProcess[] | null {
  const end = performance.now() + LIMIT_MS;
  const found: RunningProcess[] = [];
  try {
    const bootMs = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]) * 1000;
    const user = process.getuid?.();
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      if (performance.now() > end) return null;
      const one = procEntry(`/proc/${name}`, Number(name), user, bootMs);
      if (one) found.push(one);
    }
  } catch {
    return null;
  }
  return found;
}

function procEntry(folder: string, pid: number, user: number | undefined, bootMs: number): RunningProcess | null {
  try {
    if (statSync(folder).uid !== user) return null;
    const command = readFileSync(`${folder}/cmdline`, 'utf8').replaceAll('\0', ' ');
    const stat = readFileSync(`${folder}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended, and a thread of the kernel has no command line.
    if (command === '' || fields[0] === 'Z' || fields[0] === 'X') return null;
    const startedMs = bootMs + (Number(fields[19]) / TICKS) * 1000;
    return { pid, parent: Number(fields[1]), startedMs, folder: folderOf(`${folder}/cwd`), command };
  } catch {
    // It has ended meanwhile.
    return null;
  }
}

function folderOf(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}

/** `  512     1 01-02:03:04 sh -c make all`: the time since the start has the same form in every locale. */
export function parsePs(output: string, nowMs: number): RunningProcess[] {
  return output.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)\s+(.*)$/.exec(line);
    if (!match) return [];
    const [pid = 0, parent = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
      .slice(1, 7)
      .map((part) => Number(part ?? 0));
    const ageMs = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
    return [{ pid, parent, startedMs: nowMs - ageMs, folder: null, command: match[7] ?? '' }];
  });
}

/** Without the command lines of other users, which are not shown. */
export function parseCim(output: string): RunningProcess[] | null {
  try {
    const found: unknown = JSON.parse(output);
    return (Array.isArray(found) ? found : [found]).flatMap((one: Record<string, unknown>) => {
      const startedMs = Date.parse(String(one['Started']));
      if (typeof one['CommandLine'] !== 'string' || Number.isNaN(startedMs)) return [];
      return [
        {
          pid: Number(one['ProcessId']),
          parent: Number(one['ParentProcessId']),
          startedMs,
          folder: null,
          command: one['CommandLine'],
        },
      ];
    });
  } catch {
    return null;
  }
}
