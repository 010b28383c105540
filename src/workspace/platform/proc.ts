import { readFileSync, readlinkSync } from 'node:fs';
import type { ProcessPort } from './process-port.ts';

/** Linux. */
export const procPort: ProcessPort = {
  look: () => ({ read, words, start }),
  start,
};

function read(pid: number): { name: string; parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    return { name: stat.slice(stat.indexOf('(') + 1, end), parent: Number(stat.slice(end + 2).split(' ')[1]) };
  } catch {
    return null;
  }
}

function words(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  } catch {
    return [];
  }
}

/** In ticks since boot, with the id of the boot. */
function start(pid: number): string | null {
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

/** The name of this host from the kernel: loading `node:os` takes longer. Null where there is none. */
export function kernelHost(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/hostname', 'utf8').trimEnd();
  } catch {
    return null;
  }
}

/** Containers may share a host name but not process numbers. */
export function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
