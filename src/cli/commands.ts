import { type OperationName, operationNames, operations } from '../operations/index.ts';
import type { Operation } from '../operations/operation.ts';

/** The commands of one program, in the order of its help. Each is loaded when it is used first. */
export interface Commands {
  names: readonly string[];
  load(name: string): Promise<Operation>;
}

/**
 * The operations, and the commands that open another interface and stay. Those are described as operations are, so that
 * flags, help and completions follow; the program passes them in, because no interface knows another.
 */
export function commandsWith(others: Readonly<Record<string, () => Promise<Operation>>>): Commands {
  return {
    names: [...operationNames, ...Object.keys(others)],
    load: (name) => others[name]?.() ?? operations[name as OperationName](),
  };
}

/** For help and completions; any other command loads only its own code. */
export function loadAll({ names, load }: Commands): Promise<Operation[]> {
  return Promise.all(names.map(load));
}
