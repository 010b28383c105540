import { readFileSync } from 'node:fs';
import { sha256 } from '../../core/sha256.ts';
import type { OwnFiles } from '../own-files.ts';

const FILE = 'machine.json';

/**
 * The id of this machine and user; null without a state folder. It is made again when the operating system says that this
 * is another machine: a copied image and a home folder shared between machines bring the file along.
 */
export function machineId(state: OwnFiles | null): string | null {
  const id = knownMachineId(state);
  if (id !== null || state === null) return id;
  const system = systemHash();
  const known = readMachine(state);
  const made = `${JSON.stringify({ machine: newId('m'), system })}\n`;
  try {
    if (known) state.replace(FILE, made);
    else state.createOnce(FILE, made);
  } catch {
    return null;
  }
  return readMachine(state)?.machine ?? null;
}

/** The same without making one. */
export function knownMachineId(state: OwnFiles | null): string | null {
  const known = state && readMachine(state);
  if (!known) return null;
  const system = systemHash();
  return known.system === null || system === null || known.system === system ? known.machine : null;
}

function readMachine(state: OwnFiles): { machine: string; system: string | null } | null {
  try {
    const found = JSON.parse(state.read(FILE) ?? 'null') as { machine?: unknown; system?: unknown } | null;
    if (typeof found?.machine !== 'string' || !/^m-[0-9a-f]{12}$/.test(found.machine)) return null;
    return { machine: found.machine, system: typeof found.system === 'string' ? found.system : null };
  } catch {
    return null;
  }
}

/** The operating system's own id is not to be published, so only a hash of it is kept. */
function systemHash(): string | null {
  try {
    return sha256(`holdfast machine ${readFileSync('/etc/machine-id', 'utf8').trim()}`).slice(0, 16);
  } catch {
    return null;
  }
}

/** A random id such as `c-0123456789ab`. */
export function newId(prefix: string): string {
  // Loaded on demand: it takes as long as a fifth of a command, and ids are made once.
  return `${prefix}-${process.getBuiltinModule('node:crypto').randomBytes(6).toString('hex')}`;
}
