import { readFileSync, readlinkSync } from 'node:fs';
import type { Owner } from '../core/journal/event.ts';

/** A process as the owner of a session, or undefined if there is none with this number. */
export function ownerOf(pid: number): Owner | undefined {
  if (!exists(pid)) return undefined;
  return { pid, host: hostName(), startedAt: startOf(pid) };
}

/**
 * The agent's process, seen from a hook that it started: the nearest one above that is no shell, since a client may run
 * its hooks through one that is gone with them. Undefined where that cannot be told: a shell's number would make a living
 * agent look dead.
 */
export async function agentProcess(parent: number): Promise<Owner | undefined> {
  let pid = parent;
  for (let hops = 0; hops < 8 && pid > 1; hops++) {
    const found = lookAt(pid) ?? (await askForProcess(pid));
    if (found === null) return undefined;
    if (!shells.test(found.name)) return ownerOf(pid);
    pid = found.parent;
  }
  return undefined;
}

const shells = /^-?(?:(?:ba|da|z|k|c|tc|fi|a)?sh|busybox|env|timeout|nohup|nice|setsid|sudo|npx|npm)\b/;

function lookAt(pid: number): { name: string; parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    return { name: stat.slice(stat.indexOf('(') + 1, end), parent: Number(stat.slice(end + 2).split(' ')[1]) };
  } catch {
    return null;
  }
}

/** Where the system has no files about its processes; it is asked once a session. */
async function askForProcess(pid: number): Promise<{ name: string; parent: number } | null> {
  if (process.platform !== 'darwin' && process.platform !== 'freebsd') return null;
  const { execFileSync } = await import('node:child_process');
  try {
    const told = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8', timeout: 1000 });
    const [, above = '', path = ''] = /^\s*(\d+)\s+(.+?)\s*$/.exec(told) ?? [];
    return above === '' ? null : { name: path.slice(path.lastIndexOf('/') + 1), parent: Number(above) };
  } catch {
    return null;
  }
}

/**
 * Whether the owner lives. Only a process of this very host can be looked at; one with the same number and another start
 * is another process. Where its start cannot be read, a living number proves nothing and the lease decides.
 */
export function probeOwner(owner: Owner): 'alive' | 'dead' | undefined {
  if (owner.host !== hostName()) return undefined;
  if (!exists(owner.pid)) return 'dead';
  const started = startOf(owner.pid);
  if (started === null || !owner.startedAt) return undefined;
  return started === owner.startedAt ? 'alive' : 'dead';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process started, in ticks since this boot; a zombie counts as ended. */
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

/** Containers may share a host name and not their process numbers. */
function hostName(): string {
  // Loaded when it is needed: most commands ask for no host.
  host ??= `${process.getBuiltinModule('node:os').hostname()} ${processNamespace()}`.trim();
  return host;
}

let host: string | undefined;

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
