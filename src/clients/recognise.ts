import { type ClientName, type ClientProgram, type ClientVariables, clientNames, clients, hooksOf } from './index.ts';
import type { JsonObject } from './json-value.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Which client runs the hook. The command line names the client it was installed for, but some clients run the hooks of
 * others: those are known by their environment or their input. Null unless the name is that of a client, or `auto`.
 */
export async function clientOfHook(
  named: string | undefined,
  input: JsonObject,
  environment: Environment,
): Promise<ClientName | null> {
  const installed = clientNames.find((name) => name === named) ?? null;
  if (installed === null && named !== 'auto') return null;
  if (installed !== null && (await hooksOf(installed)).areRunByOthers !== true) return installed;
  const found = clientBy('hooks', environment);
  // Whatever is started from Claude's shell inherits its variables, and Claude runs no hooks of other clients.
  if (found !== null && (found !== 'claude' || installed === 'claude' || installed === null)) return found;
  return (await clientByInput(input)) ?? installed;
}

/** The client in whose shell a process runs. */
export function clientOfShell(environment: Environment): ClientName | null {
  return clientBy('shells', environment);
}

/** The ids of the conversations whose shell a process runs in. */
export function conversationsIn(environment: Environment): string[] {
  const variables = clientNames.map((name): ClientVariables => clients[name].variables);
  return variables.flatMap(({ conversation }) => (conversation && environment[conversation]) || []);
}

/** A process: its name and the words it was started with, as far as they are known. */
export interface RunningProcess {
  name: string;
  words: readonly string[];
}

/** The client that is among these processes; the first of several. */
export function clientAmong(processes: readonly RunningProcess[]): ClientName | null {
  for (const one of processes) {
    const found = clientNames.find((name) => {
      const { program }: { title: string; program?: ClientProgram } = clients[name];
      return program !== undefined && isProcessOf(program, one);
    });
    if (found) return found;
  }
  return null;
}

/** A client is a program of its own, or a script that Node, Bun or Deno runs. */
function isProcessOf({ names, packages }: ClientProgram, { name, words }: RunningProcess): boolean {
  const [program = '', ...rest] = words;
  if ([name, baseName(program)].some((one) => names.includes(one))) return true;
  if (!/^(?:node|bun|deno)/.test(baseName(program))) return false;
  const script = rest.find((word) => !word.startsWith('-')) ?? '';
  return (
    names.includes(baseName(script)) ||
    packages.some((one) => script.replaceAll('\\', '/').includes(`/node_modules/${one}/`))
  );
}

const baseName = (path: string): string => path.replace(/^.*[\\/]/, '').replace(/\.(?:exe|[cm]?js)$/i, '');

function clientBy(kind: 'hooks' | 'shells', environment: Environment): ClientName | null {
  const variables = (name: ClientName): ClientVariables => clients[name].variables;
  const found = clientNames.filter((name) => variables(name)[kind]?.some((variable) => environment[variable]));
  return found.sort((a, b) => variables(a).rank - variables(b).rank)[0] ?? null;
}

async function clientByInput(input: JsonObject): Promise<ClientName | null> {
  for (const name of clientNames) if ((await hooksOf(name)).recognises?.(input)) return name;
  return null;
}
