import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import type { Owner } from '../core/journal/event.ts';
import { askPs } from './program.ts';

/** A process as the owner of a session; undefined if there is no process with this number. */
export function ownerOf(pid: number): Owner | undefined {
  if (!exists(pid)) return undefined;
  return { pid, host: hostName(), startedAt: startOf(pid) };
}

/** A process of this host that a hook saw, with the id of the boot and its start in ticks since then. */
export function ownerWith(pid: number, boot: string, ticks: string): Owner {
  return { pid, host: hostName(), startedAt: `${boot.slice(0, 8)}:${ticks}` };
}

/** Whether a process with this number runs. One that has ended stays in the table until its parent looks. */
export const isRunning = (pid: number): boolean => pid > 0 && exists(pid) && startOf(pid) !== 'ended';

/**
 * The agent's process, seen from a hook that it started: the nearest ancestor that is not a shell, because a client may
 * run its hooks through a shell that ends with them. Undefined if unknown: a shell's number would make a living agent look
 * dead.
 */
export async function agentProcess(parent: number): Promise<Owner | undefined> {
  let pid = parent;
  for (let hops = 0; hops < 8 && pid > 1; hops++) {
    const found = readProcess(pid) ?? askForProcess(pid);
    if (found === null) return undefined;
    if (!shells.test(found.name)) return ownerOf(pid);
    pid = found.parent;
  }
  return undefined;
}

const shells = /^-?(?:(?:ba|da|z|k|c|tc|fi|a)?sh|busybox|env|timeout|nohup|nice|setsid|sudo|npx|npm)\b/;

/** A process above this one. */
export interface Ancestor {
  pid: number;
  name: string;
  /** The words it was started with; empty if they cannot be read. */
  words: readonly string[];
}

/** The process and those above it, the nearest first; as far as they can be read. */
export function ancestorsOf(pid: number): Ancestor[] {
  const table = existsSync('/proc/self/stat') ? null : listProcesses();
  const found: Ancestor[] = [];
  for (let next = pid; next > 0 && found.length < MOST_ANCESTORS; ) {
    const listed = table?.get(next);
    const one = table ? listed : readProcess(next);
    if (!one) break;
    found.push({ pid: next, name: one.name, words: listed?.words ?? wordsOf(next) });
    next = one.parent;
  }
  return found;
}

const MOST_ANCESTORS = 64;

function wordsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  } catch {
    return [];
  }
}

/** For systems without /proc. A word with a space in it is cut there; names of programs have none. */
function listProcesses(): Map<number, { name: string; parent: number; words: string[] }> {
  if (process.platform === 'win32') return new Map();
  const lines = (askPs(['-axo', 'pid=,ppid=,command=']) ?? '')
    .split('\n')
    .map((text) => /^\s*(\d+)\s+(\d+)\s+(.+)$/.exec(text));
  return new Map(
    lines.flatMap((match) => {
      const [, pid = '', parent = '', command = ''] = match ?? [];
      const words = command.split(' ');
      const name = words[0]?.replace(/^.*\//, '') ?? '';
      return pid === '' ? [] : [[Number(pid), { name, parent: Number(parent), words }] as const];
    }),
  );
}

function readProcess(pid: number): { name: string; parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    return { name: stat.slice(stat.indexOf('(') + 1, end), parent: Number(stat.slice(end + 2).split(' ')[1]) };
  } catch {
    return null;
  }
}

/** For systems without /proc; called once a session. */
function askForProcess(pid: number): { name: string; parent: number } | null {
  if (process.platform !== 'darwin' && process.platform !== 'freebsd') return null;
  const output = askPs(['-o', 'ppid=,comm=', '-p', String(pid)]) ?? '';
  const [, above = '', path = ''] = /^\s*(\d+)\s+(.+?)\s*$/.exec(output) ?? [];
  return above === '' ? null : { name: path.slice(path.lastIndexOf('/') + 1), parent: Number(above) };
}

/**
 * Whether the owner lives; undefined if that cannot be checked. Only a process of this machine can be checked, and two
 * machines may have the same host name. A process with the same number and another start time is another process, so
 * without the start time a living number proves nothing.
 */
export function probeOwner(owner: Owner, machine: string | null = null): 'alive' | 'dead' | undefined {
  if (!isOnThisMachine(owner, machine)) return undefined;
  if (!exists(owner.pid)) return 'dead';
  const started = startOf(owner.pid);
  if (started === null || !owner.startedAt) return undefined;
  return started === owner.startedAt ? 'alive' : 'dead';
}

export const isOnThisMachine = (owner: Owner, machine: string | null): boolean =>
  owner.host === hostName() && (!owner.machine || owner.machine === machine);

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process started, in ticks since boot; a zombie counts as ended. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return 'ended';
    boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    return `${boot}:${fields[19]}`;
  } catch {
    return null;
  }
}

let boot: string | undefined;

/** The host as owners have it. Containers may share a host name but not process numbers. */
export function hostName(): string {
  host ??= `${readHostName()} ${processNamespace()}`.trim();
  return host;
}

/** On Linux from the kernel: loading `node:os` takes longer. */
function readHostName(): string {
  try {
    return readFileSync('/proc/sys/kernel/hostname', 'utf8').trimEnd();
  } catch {
    return process.getBuiltinModule('node:os').hostname();
  }
}

let host: string | undefined;

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
