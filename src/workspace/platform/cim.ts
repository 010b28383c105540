import { askSystem } from '../program.ts';
import type { ProcessPort } from './process-port.ts';

/** Windows. A look takes a second, so it is for the start of a session; whether a process is there is known without one. */
export const cimPort: ProcessPort = {
  look() {
    const listed = parseCimTable(askSystem(powershell(), cimWords, {}, CIM_LIMIT_MS) ?? '');
    return {
      read: (pid) => listed.get(pid) ?? null,
      start: (pid) => listed.get(pid)?.start ?? null,
      words: (pid) => listed.get(pid)?.words ?? [],
    };
  },
  start: () => null,
};

const CIM_LIMIT_MS = 4000;

/** By its path: a bare name would be looked for in the working folder first. */
export function powershell(): string {
  const { env } = process;
  return `${env['SystemRoot'] || 'C:\\Windows'}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`;
}

export const cimWords: readonly string[] = [
  ...['-NoProfile', '-NonInteractive', '-Command'],
  'Get-CimInstance Win32_Process | Select-Object ProcessId,ParentProcessId,Name,CommandLine,@{n="Started";e={$_.CreationDate.ToUniversalTime().ToString("o")}} | ConvertTo-Json -Compress',
];

/** One process of `Win32_Process`; the command lines of other users are not shown. */
export interface CimProcess {
  pid: number;
  parent: number;
  name: string;
  command: string | null;
  startedMs: number;
}

/** Null for what is not a list of processes. */
export function parseCim(output: string): CimProcess[] | null {
  try {
    const found: unknown = JSON.parse(output);
    return (Array.isArray(found) ? found : [found]).flatMap((one: Record<string, unknown> | null) => {
      const pid = Number(one?.['ProcessId']);
      if (!one || !Number.isSafeInteger(pid)) return [];
      const { CommandLine: command, Name: name = '' } = one as { CommandLine?: unknown; Name?: unknown };
      return [
        {
          pid,
          parent: Number(one['ParentProcessId']),
          name: String(name),
          command: typeof command === 'string' ? command : null,
          startedMs: Date.parse(String(one['Started'])),
        },
      ];
    });
  } catch {
    return null;
  }
}

interface Listed {
  name: string;
  parent: number;
  words: string[];
  start: string | null;
}

/** A process that started after its child is another one: the number of its parent was given again. */
export function parseCimTable(output: string): Map<number, Listed> {
  const all = parseCim(output) ?? [];
  const started = new Map(all.map(({ pid, startedMs }) => [pid, startedMs]));
  return new Map(
    all.map(({ pid, parent, name, command, startedMs }) => {
      const isOlder = !((started.get(parent) ?? 0) > startedMs);
      const start = Number.isNaN(startedMs) ? null : `cim:${startedMs}`;
      const words = [...(command ?? '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = '']) => quoted ?? bare);
      return [pid, { name: name.replace(/\.exe$/i, ''), parent: isOlder ? parent : 0, words, start }];
    }),
  );
}
