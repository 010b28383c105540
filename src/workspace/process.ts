import type { Owner } from '../core/journal/event.ts';
import { kernelHost, processNamespace } from './platform/proc.ts';
import { processes } from './platform/processes.ts';

/** A process as the owner of a session; undefined if there is no process with this number. */
export function ownerOf(pid: number): Owner | undefined {
  if (!exists(pid)) return undefined;
  return { pid, host: hostName(), startedAt: processes.start(pid) };
}

/** A process of this host that a hook saw, with the id of the boot and its start in ticks since then. */
export function ownerWith(pid: number, boot: string, ticks: string): Owner {
  return { pid, host: hostName(), startedAt: `${boot.slice(0, 8)}:${ticks}` };
}

/** Whether a process with this number runs. One that has ended stays in the table until its parent looks. */
export const isRunning = (pid: number): boolean => pid > 0 && exists(pid) && processes.start(pid) !== 'ended';

/**
 * The agent's process, seen from a hook that it started: the nearest ancestor that is not a shell, because a client may
 * run its hooks through a shell that ends with them. Undefined if unknown: a shell's number would make a living agent look
 * dead.
 */
export async function agentProcess(parent: number): Promise<Owner | undefined> {
  const look = processes.look();
  let pid = parent;
  for (let hops = 0; hops < 8 && pid > 1; hops++) {
    const found = look.read(pid);
    if (found === null) return undefined;
    if (!shells.test(found.name))
      return exists(pid) ? { pid, host: hostName(), startedAt: look.start(pid) } : undefined;
    pid = found.parent;
  }
  return undefined;
}

const shells =
  /^-?(?:(?:ba|da|z|k|c|tc|fi|a|pw)?sh|cmd|powershell|busybox|env|timeout|nohup|nice|setsid|sudo|npx|npm)\b/i;

/** A process above this one. */
export interface Ancestor {
  pid: number;
  name: string;
  /** The words it was started with; empty if they cannot be read. */
  words: readonly string[];
}

/** The process and those above it, the nearest first; as far as they can be read. */
export function ancestorsOf(pid: number): Ancestor[] {
  const look = processes.look();
  const found: Ancestor[] = [];
  for (let next = pid; next > 0 && found.length < MOST_ANCESTORS; ) {
    const one = look.read(next);
    if (!one) break;
    found.push({ pid: next, name: one.name, words: look.words(next) });
    next = one.parent;
  }
  return found;
}

const MOST_ANCESTORS = 64;

/**
 * Whether the owner lives; undefined if that cannot be checked. Only a process of this machine can be checked, and two
 * machines may have the same host name. A process with the same number and another start time is another process, so
 * without the start time a living number proves nothing.
 */
export function probeOwner(owner: Owner, machine: string | null = null): 'alive' | 'dead' | undefined {
  if (!isOnThisMachine(owner, machine)) return undefined;
  if (!exists(owner.pid)) return 'dead';
  const started = processes.start(owner.pid);
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

/** The host as owners have it. Containers may share a host name but not process numbers. */
export function hostName(): string {
  host ??= `${kernelHost() ?? process.getBuiltinModule('node:os').hostname()} ${processNamespace()}`.trim();
  return host;
}

let host: string | undefined;
