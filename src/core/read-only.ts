import { Fault } from './fault.ts';

/** For a shell in a sandbox that protects `.git`, and for read-only disks. `what` may not be written; `folder` is ours. */
export function readOnly(what: string, folder: string, cause?: unknown): Fault {
  return new Fault('read_only', `This shell may not write ${what}.`, {
    hints: readOnlyHints(folder),
    data: { path: folder },
    cause,
  });
}

export const readOnlyHints = (folder: string): string[] => [
  "In a sandbox use Holdfast's MCP tools, which run outside it: `checkpoint`, `finish`, `note`, `decide` and the others.",
  `Or allow writing to the data folder in the client's settings. Codex: \`sandbox_workspace_write.writable_roots = ["${folder}"]\`.`,
  'On a read-only disk `holdfast init --outside` keeps the data in your state folder.',
];
