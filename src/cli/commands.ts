import { type OperationName, operationNames, operations } from '../operations/index.ts';
import type { Operation } from '../operations/operation.ts';

/**
 * Commands that open another door and stay. They are described as operations are, so that flags, help and completions
 * follow, but live with their door: an operation does not know how it was called.
 */
const doors = {
  mcp: () => import('../mcp/stdio.ts').then((module) => module.mcp),
  serve: () => import('../http/serve.ts').then((module) => module.serve),
} as const;

export type CommandName = OperationName | keyof typeof doors;
export const commandNames = [...operationNames, ...Object.keys(doors)] as CommandName[];

export async function loadCommand(name: CommandName): Promise<Operation> {
  const load = name in doors ? doors[name as keyof typeof doors] : operations[name as OperationName];
  return (await load()) as unknown as Operation;
}

/** For help and completions; a command loads only its own. */
export function loadAllCommands(): Promise<Operation[]> {
  return Promise.all(commandNames.map(loadCommand));
}
