import { isInside, realPathOf } from './files.ts';
import { listProcesses, type RunningProcess } from './platform/running.ts';

/** A command that began, and whose end is not known. */
export interface LostCommand {
  id: string;
  text: string;
  /** When it began, in UTC. */
  at: string;
}

export type ProcessFound = { is: 'alive'; pid: number; since: string } | { is: 'none' } | { is: 'unlisted' };

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
