import { answerText, countOf, type JsonObject, listOf, objectOf, textOf } from './json-value.ts';

/** The recorded part of what a tool call does. */
export interface ToolCall {
  tool: string;
  command: string | null;
  /** The command continues after the tool call ended. */
  inBackground?: boolean;
  files: readonly TouchedFile[];
  todos: TodoChange | null;
  /** It shows the user a question or a plan, and ends with the answer. */
  asks?: { kind: 'question' | 'plan'; text: string };
}

export interface TouchedFile {
  path: string;
  read: boolean;
  change?: 'created' | 'modified' | 'deleted';
}

export type TodoStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled';

/** The whole list as it is now, or single entries by their client's ids. */
export type TodoChange =
  | { kind: 'list'; entries: readonly { text: string; status: TodoStatus }[] }
  | { kind: 'entries'; entries: readonly { id: string; text: string | null; status: TodoStatus | null }[] };

export interface ToolResult {
  isFailure: boolean;
  isCancelled: boolean;
  exitCode: number | null;
}

/** Tokens as Holdfast counts them: `input` includes tokens read from a cache, `output` includes reasoning. */
export interface Spent {
  input: number;
  output: number;
  cached: number;
  model?: string;
}

/** The model that an entry of a client names, to go with what it spent. */
export function modelIn(entry: JsonObject, field = 'model'): Pick<Spent, 'model'> {
  const model = textOf(entry[field]);
  return model ? { model: model.slice(0, 120) } : {};
}

/**
 * What a tool call does, by the name of the tool. One table serves all clients: their tools have different names and nearly
 * the same inputs, and some clients run the hooks of others.
 */
export function toolCallOf(tool: string, input: JsonObject, response: unknown): ToolCall {
  const name = tool.replace(/[^A-Za-z]/g, '').toLowerCase();
  const call: ToolCall = { tool, command: null, files: [], todos: null };
  if (commandTools.has(name)) {
    const flags = [
      input['run_in_background'],
      input['is_background'],
      input['isBackground'],
      input['mode'] === 'async',
    ];
    const inBackground = flags.includes(true);
    return { ...call, command: commandOf(input), inBackground };
  }
  if (patchTools.has(name)) return { ...call, files: filesInPatch(input) };
  if (writeTools.has(name)) return { ...call, files: filesIn(input, changeOf(name, response)) };
  if (readTools.has(name)) return { ...call, files: filesIn(input, null) };
  if (todoTools.has(name)) return { ...call, todos: todosOf(name, input, response) };
  const asks = askedBy(name, input);
  return asks ? { ...call, asks } : call;
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '));
const commandTools = set(
  'bash shell powershell runshellcommand runterminalcommand runterminalcmd runinterminal execcommand shellcommand localshell terminal runcommand',
);
const patchTools = set('applypatch patch');
const writeTools = set(
  'write edit multiedit notebookedit writefile replace create strreplace strreplaceeditor editfiles editfile createfile replacestringinfile multireplacestringinfile inserteditintofile searchreplace deletefile insert editnotebookfile editnotebook',
);
const readTools = set('read readfile view readmanyfiles openfile');
const todoTools = set('todowrite writetodos updateplan taskcreate taskupdate managetodolist todo');

const questionTools = set('askuserquestion requestuserinput question askuser askquestion');
const planTools = set('exitplanmode presentplan');

function askedBy(name: string, input: JsonObject): ToolCall['asks'] {
  if (planTools.has(name)) {
    const plan = textOf(input['plan']) ?? textOf(input['plan_path']) ?? textOf(input['plan_filename']);
    return { kind: 'plan', text: plan ?? 'A plan' };
  }
  if (!questionTools.has(name)) return undefined;
  const listed = listOf(input['questions']).map((one) => textOf(one) ?? textOf(objectOf(one)['question']));
  const asked = [textOf(input['question']), ...listed].filter((text) => text !== null);
  return { kind: 'question', text: asked.join(' ') || 'A question' };
}

function commandOf(input: JsonObject): string | null {
  const given = input['command'] ?? input['cmd'];
  if (Array.isArray(given)) {
    const words = given.filter((word): word is string => typeof word === 'string');
    // A shell with a script as its argument: the script is the command.
    return textOf(/^-\w*c$/.test(words[1] ?? '') ? words.slice(2).join(' ') : words.join(' '));
  }
  return textOf(given);
}

const FILES_LIMIT = 50;

function filesIn(input: JsonObject, change: TouchedFile['change'] | null): TouchedFile[] {
  const named = ['file_path', 'filePath', 'path', 'notebook_path', 'absolute_path', 'target_file', 'filepath'].map(
    (field) => textOf(input[field]),
  );
  const listed = [...listOf(input['files']), ...listOf(input['paths']), ...listOf(input['replacements'])].map((one) => {
    const { path, filePath, file_path: other } = objectOf(one);
    return textOf(one) ?? textOf(filePath) ?? textOf(path) ?? textOf(other);
  });
  const paths = new Set([...named, ...listed].filter((path) => path !== null));
  return [...paths].slice(0, FILES_LIMIT).map((path) => {
    if (change === null) return { path, read: true };
    return { path, read: false, change: change ?? 'modified' };
  });
}

function changeOf(name: string, response: unknown): TouchedFile['change'] {
  if (name === 'create' || name === 'createfile') return 'created';
  if (name === 'deletefile') return 'deleted';
  const { type, returnDisplay, metadata } = objectOf(response);
  const isNew =
    type === 'create' || objectOf(returnDisplay)['isNewFile'] === true || objectOf(metadata)['exists'] === false;
  return isNew ? 'created' : 'modified';
}

const patchChanges = { Add: 'created', Update: 'modified', Delete: 'deleted' } as const;

/** The files in the headings of a patch; a moved file counts as deleted and created. */
function filesInPatch(input: JsonObject): TouchedFile[] {
  const patch =
    [input['command'], input['input'], input['patch'], input['patchText']].map(textOf).find((text) => text) ?? '';
  const files: TouchedFile[] = [];
  for (const line of patch.split('\n')) {
    if (!line.startsWith('*** ')) continue;
    const heading = /^\*\*\* (Add|Update|Delete) File: (.+?)\s*$/.exec(line);
    if (heading) {
      files.push({ path: heading[2] as string, read: false, change: patchChanges[heading[1] as 'Add'] });
      continue;
    }
    const moved = /^\*\*\* Move to: (.+?)\s*$/.exec(line)?.[1];
    const from = files.pop();
    if (moved && from) files.push({ ...from, change: 'deleted' }, { path: moved, read: false, change: 'created' });
    else if (from) files.push(from);
  }
  return files.slice(0, FILES_LIMIT);
}

function todosOf(name: string, input: JsonObject, response: unknown): TodoChange | null {
  if (name === 'taskcreate') {
    const id = idOf(objectOf(objectOf(response)['task'])['id']);
    const text = textOf(input['subject']);
    return id && text ? { kind: 'entries', entries: [{ id, text, status: 'pending' }] } : null;
  }
  if (name === 'taskupdate') {
    const id = idOf(input['taskId'] ?? input['task_id'] ?? input['id']);
    const status = input['status'] === undefined ? null : todoStatus(input['status']);
    return id ? { kind: 'entries', entries: [{ id, text: textOf(input['subject']), status }] } : null;
  }
  const { todos, todoList, plan } = input;
  const given = todos ?? todoList ?? plan;
  return Array.isArray(given) ? readTodoList(given) : null;
}

const TODOS_LIMIT = 100;

/** A whole list; clients use four different fields for the text of an entry. */
export function readTodoList(given: readonly unknown[]): TodoChange {
  const entries = given.slice(0, TODOS_LIMIT).flatMap((one) => {
    const { content, step, description, title, status } = objectOf(one);
    const text = textOf(content) ?? textOf(step) ?? textOf(title) ?? textOf(description);
    return text?.trim() ? [{ text: text.trim(), status: todoStatus(status) }] : [];
  });
  return { kind: 'list', entries };
}

export function todoStatus(word: unknown): TodoStatus {
  switch (typeof word === 'string' ? word.toLowerCase().replace(/[^a-z]/g, '') : '') {
    case 'inprogress':
    case 'active':
      return 'in_progress';
    case 'completed':
    case 'done':
    case 'complete':
      return 'completed';
    case 'cancelled':
    case 'canceled':
    case 'deleted':
      return 'cancelled';
    default:
      return 'pending';
  }
}

function idOf(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : textOf(value);
}

/** Whether a call did what it describes: one that failed or was cancelled left files and to-do list as they were. */
export function tookEffect({ isFailure, isCancelled }: ToolResult): boolean {
  return !isFailure && !isCancelled;
}

/** How a tool call ended according to its answer. */
export function resultOf(response: unknown, isFailure = false): ToolResult {
  const answer = objectOf(response);
  const { interrupted, isError, is_error: failed, success, resultType, error } = answer;
  const exitCode = exitCodeOf(answer) ?? exitCodeIn(answerText(response));
  const hasError = error !== undefined && error !== null && error !== '';
  const isReported = failed === true || isError === true || success === false || hasError;
  return {
    isFailure: isFailure || isReported || resultType === 'failure' || resultType === 'error' || (exitCode ?? 0) !== 0,
    isCancelled: interrupted === true || resultType === 'rejected' || resultType === 'denied',
    exitCode,
  };
}

function exitCodeOf(answer: JsonObject): number | null {
  const { exitCode, exit_code: other, metadata } = answer;
  return countOf(exitCode) ?? countOf(other) ?? countOf(objectOf(metadata)['exit']);
}

/** Clients without a field for the code write it into the text for the model, above or below the output. */
function exitCodeIn(text: string): number | null {
  const head = /^Exit code:? (\d{1,5})$/im.exec(text.slice(0, 200));
  if (head && text.slice(0, head.index).trim() === '') return Number(head[1]);
  const tail = text.slice(-600);
  const last = [...tail.matchAll(/(?:^Exit Code: |^<[^>\n]{0,60} exit code )(\d{1,5})/gim)].at(-1);
  return last ? Number(last[1]) : null;
}
