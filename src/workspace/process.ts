import { readFileSync, readlinkSync } from 'node:fs';
import type { Owner } from '../core/event.ts';

/** A process as the owner of a session, or undefined if there is none with this number. */
export function ownerOf(pid: number): Owner | undefined {
  if (!exists(pid)) return undefined;
  return { pid, host: hostName(), startedAt: startOf(pid) };
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
