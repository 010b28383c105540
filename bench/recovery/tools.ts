import { pathToFileURL } from 'node:url';
import type { Tool } from './adapter.ts';
import { backlog } from './adapters/backlog.ts';
import { dbos } from './adapters/dbos.ts';
import { gsd, gsdCore } from './adapters/gsd.ts';
import { holdfast } from './adapters/holdfast.ts';
import { langgraph } from './adapters/langgraph.ts';
import { memoryKeeper } from './adapters/memory-keeper.ts';
import { stateFile } from './adapters/state-file.ts';
import { taskMaster } from './adapters/task-master.ts';
import { stdioTool } from './stdio.ts';

export const tools: readonly Tool[] = [
  ...[holdfast, stateFile, langgraph, dbos, memoryKeeper],
  ...[backlog, taskMaster, gsd, gsdCore],
];

/** One of the tools by its name, or an external module that exports `tool`. */
export async function findTool(name: string): Promise<Tool> {
  const known = tools.find((tool) => tool.id === name);
  if (known) return known;
  if (name.startsWith('stdio:')) return stdioTool(name.slice('stdio:'.length));
  const { tool } = (await import(pathToFileURL(name).href)) as { tool: Tool };
  return { ...tool, id: name };
}
