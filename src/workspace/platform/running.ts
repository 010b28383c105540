import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { askProgram } from '../program.ts';
import { cimWords, parseCim, powershell } from './cim.ts';
import { hasProc, isWindows } from './system.ts';

/** A process of this user. */
export interface RunningProcess {
  pid: number;
  parent: number;
  startedMs: number;
  /** The folder it works in; null where that is not known. */
  folder: string | null;
  command: string;
}

const LIMIT_MS = 300;
/** PowerShell takes longer to start than everything else. */
const CIM_LIMIT_MS = 2500;

/** The processes of this user; null where they cannot be listed in time. */
export async function listProcesses(tree: string): Promise<RunningProcess[] | null> {
  if (hasProc) return fromProc();
  if (isWindows) {
    const output = await ask(tree, CIM_LIMIT_MS, powershell(), ...cimWords);
    return output === null ? null : runningIn(output);
  }
  const output = await ask(tree, LIMIT_MS, 'ps', '-xww', '-o', 'pid=,ppid=,etime=,command=');
  return output === null ? null : parsePs(output, Date.now());
}

const ask = (tree: string, timeoutMs: number, ...words: string[]): Promise<string | null> =>
  askProgram(words, { cwd: process.getBuiltinModule('node:os').tmpdir(), outside: tree, timeoutMs });

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

/** Without those of other users, whose command lines are not shown. */
export function runningIn(cim: string): RunningProcess[] | null {
  const all = parseCim(cim);
  return (
    all?.flatMap(({ pid, parent, command, startedMs }) =>
      command === null || Number.isNaN(startedMs) ? [] : [{ pid, parent, startedMs, folder: null, command }],
    ) ?? null
  );
}
