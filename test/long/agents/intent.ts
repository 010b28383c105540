import { join } from 'node:path';
import type { Call, Tool } from './wire.ts';

/** What the scripted model wants done, independent of the client. */
export type Intent =
  | { do: 'write'; path: string; text: string }
  | { do: 'edit'; path: string; from: string; to: string }
  /** In the background: the tool call ends, and the command runs on. */
  | { do: 'command'; command: string; inBackground?: boolean }
  | { do: 'todo'; entries: readonly Entry[] };

interface Entry {
  text: string;
  status: 'pending' | 'in_progress' | 'completed';
}

type Wanted = Omit<Call, 'id'>;
type Tools = ReadonlyMap<string, Tool>;

/** The calls of the client's own tools that do it; none if it has no tool for it. */
export function callsFor(intent: Intent, tools: Tools, folder: string): Wanted[] {
  switch (intent.do) {
    case 'write':
      return toWrite(intent, tools, folder);
    case 'edit':
      return toEdit(intent, tools, folder);
    case 'command':
      return toRun(intent, tools);
    case 'todo':
      return toPlan(intent.entries, tools);
    default:
      return intent satisfies never;
  }
}

function toWrite({ path, text }: Extract<Intent, { do: 'write' }>, tools: Tools, folder: string): Wanted[] {
  const tool = offered(tools, ['Write', 'write_file', 'write', 'create']);
  if (tool) {
    const input = {
      [pathField(tools, tool)]: join(folder, path),
      [field(tools, tool, ['content', 'file_text'])]: text,
    };
    return [{ tool, input }];
  }
  const lines = text.trimEnd().split('\n');
  return toPatch([`*** Add File: ${path}`, ...lines.map((line) => `+${line}`)], tools);
}

function toEdit({ path, from, to }: Extract<Intent, { do: 'edit' }>, tools: Tools, folder: string): Wanted[] {
  const tool = offered(tools, ['Edit', 'replace', 'edit']);
  if (!tool) return toPatch([`*** Update File: ${path}`, '@@', `-${from}`, `+${to}`], tools);
  const input: Record<string, unknown> = {
    [pathField(tools, tool)]: join(folder, path),
    [field(tools, tool, ['old_string', 'oldString', 'old_str'])]: from,
    [field(tools, tool, ['new_string', 'newString', 'new_str'])]: to,
  };
  if (has(tools, tool, 'instruction')) input['instruction'] = 'Change the greeting.';
  return [{ tool, input }];
}

function toPatch(lines: readonly string[], tools: Tools): Wanted[] {
  const tool = offered(tools, ['apply_patch']);
  if (!tool) return [];
  const patch = ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
  if (tools.get(tool)?.isFreeform) return [{ tool, input: patch }];
  return [{ tool, input: { [field(tools, tool, ['input', 'patchText', 'patch'])]: patch } }];
}

function toRun({ command, inBackground = false }: Extract<Intent, { do: 'command' }>, tools: Tools): Wanted[] {
  const tool = offered(tools, ['Bash', 'run_shell_command', 'bash', 'exec_command', 'shell_command', 'shell']);
  if (!tool) return [];
  if (tool === 'shell') return [{ tool, input: { command: ['bash', '-c', command] } }];
  const input: Record<string, unknown> = { [field(tools, tool, ['command', 'cmd'])]: command };
  if (has(tools, tool, 'description')) input['description'] = 'Run it.';
  for (const name of ['is_background', 'run_in_background'])
    if (has(tools, tool, name) && (inBackground || name === 'is_background')) input[name] = inBackground;
  if (inBackground && has(tools, tool, 'mode')) input['mode'] = 'async';
  // It has no background: every command runs on when this time is over.
  if (inBackground && has(tools, tool, 'yield_time_ms')) input['yield_time_ms'] = 500;
  return [{ tool, input }];
}

/** Most clients take the whole list; Claude Code takes entries one by one, and Copilot writes SQL. */
function toPlan(entries: readonly Entry[], tools: Tools): Wanted[] {
  const tool = offered(tools, [
    'TodoWrite',
    'todo_write',
    'write_todos',
    'todowrite',
    'update_plan',
    'TaskCreate',
    'sql',
  ]);
  switch (tool) {
    case undefined:
      if (!tools.has(SEARCH)) return [];
      return [{ tool: SEARCH, input: { query: 'select:TaskCreate,TaskUpdate', max_results: 5 } }];
    case 'update_plan':
      return [{ tool, input: { plan: entries.map(({ text, status }) => ({ step: text, status })) } }];
    case 'write_todos':
      return [{ tool, input: { todos: entries.map(({ text, status }) => ({ description: text, status })) } }];
    case 'TaskCreate':
      return toTasks(entries);
    case 'sql': {
      const rows = entries.map(
        ({ text, status }, at) => `('t${at + 1}', '${text}', '${text}', '${sqlStatus(status)}')`,
      );
      const query = `INSERT OR REPLACE INTO todos (id, title, description, status) VALUES ${rows.join(', ')}`;
      return [{ tool, input: { description: 'Keep the to-do list', query } }];
    }
    default:
      return [{ tool, input: listOf(entries) }];
  }
}

/** The tool that loads other tools: the intent is repeated after it. */
export const SEARCH = 'ToolSearch';

function toTasks(entries: readonly Entry[]): Wanted[] {
  const created = entries.map(({ text }) => ({
    tool: 'TaskCreate',
    input: { subject: text, description: text, activeForm: text },
  }));
  const moved = entries.flatMap(({ status }, at) =>
    status === 'pending' ? [] : [{ tool: 'TaskUpdate', input: { taskId: String(at + 1), status } }],
  );
  return [...created, ...moved];
}

const sqlStatus = (status: Entry['status']): string => (status === 'completed' ? 'done' : status);

function listOf(entries: readonly Entry[]): { todos: object[] } {
  const todos = entries.map(({ text, status }, at) => {
    return { id: String(at + 1), content: text, status, activeForm: text, priority: 'medium' };
  });
  return { todos };
}

const offered = (tools: Tools, names: readonly string[]): string | undefined => names.find((name) => tools.has(name));

const has = (tools: Tools, tool: string, name: string): boolean => tools.get(tool)?.fields.includes(name) ?? false;

const field = (tools: Tools, tool: string, names: readonly [string, ...string[]]): string =>
  names.find((name) => has(tools, tool, name)) ?? names[0];

const pathField = (tools: Tools, tool: string): string => field(tools, tool, ['file_path', 'filePath', 'path']);
