import { type JsonObject, listOf, objectOf, textOf } from '../clients/json-value.ts';
import type { ToolCall, ToolResult, TouchedFile } from '../clients/tool-call.ts';

/** A tool call as its messages have described it so far. */
export interface SeenCall {
  id: string;
  title: string;
  kind: string;
  status: string;
  rawInput: JsonObject;
  rawOutput: JsonObject;
  locations: readonly string[];
  diffs: readonly { path: string; isNew: boolean }[];
  /** Its beginning was reported. */
  hasBegun: boolean;
}

/** A later message says only what has changed. */
export function merged(before: SeenCall | undefined, id: string, update: JsonObject): SeenCall {
  const seen = before ?? {
    ...{ id, title: '', kind: 'other', status: 'pending', rawInput: {}, rawOutput: {} },
    ...{ locations: [], diffs: [], hasBegun: false },
  };
  const given = <T>(field: string, read: (value: unknown) => T, otherwise: T): T =>
    update[field] === undefined || update[field] === null ? otherwise : read(update[field]);
  return {
    ...seen,
    title: given('title', (value) => textOf(value) ?? seen.title, seen.title),
    kind: given('kind', (value) => textOf(value) ?? seen.kind, seen.kind),
    status: given('status', (value) => textOf(value) ?? seen.status, seen.status),
    rawInput: given('rawInput', objectOf, seen.rawInput),
    rawOutput: given('rawOutput', objectOf, seen.rawOutput),
    locations: given('locations', (value) => pathsIn(listOf(value)), seen.locations),
    diffs: given('content', (value) => [...seen.diffs, ...diffsIn(listOf(value))].slice(-FILES), seen.diffs),
  };
}

const FILES = 50;

function pathsIn(locations: readonly unknown[]): string[] {
  return locations.flatMap((one) => textOf(objectOf(one)['path']) ?? []).slice(0, FILES);
}

function diffsIn(content: readonly unknown[]): SeenCall['diffs'] {
  return content.flatMap((one) => {
    const { type, path, oldText } = objectOf(one);
    const named = textOf(path);
    return type === 'diff' && named !== null ? [{ path: named, isNew: oldText === undefined || oldText === null }] : [];
  });
}

/** What the call does, by its kind. */
export function toolCallOf(seen: SeenCall): ToolCall {
  const { kind, title } = seen;
  const call: ToolCall = { tool: kind, command: null, files: [], todos: null };
  if (isCommand(seen)) return { ...call, command: commandOf(seen) };
  if (kind === 'read') return { ...call, files: filesOf(seen.locations, { read: true }) };
  if (kind === 'delete') return { ...call, files: filesOf(seen.locations, { read: false, change: 'deleted' }) };
  if (kind === 'edit' || kind === 'move' || seen.diffs.length > 0) {
    const created = seen.diffs.filter(({ isNew }) => isNew).map(({ path }) => path);
    // A location may be the same file in other words.
    const changed = new Set(seen.diffs.length > 0 ? seen.diffs.map(({ path }) => path) : seen.locations);
    for (const path of created) changed.delete(path);
    return {
      ...call,
      files: [
        ...filesOf(created, { read: false, change: 'created' }),
        ...filesOf([...changed], { read: false, change: 'modified' }),
      ],
    };
  }
  return { ...call, tool: title || kind };
}

const filesOf = (paths: readonly string[], how: Omit<TouchedFile, 'path'>): TouchedFile[] =>
  [...new Set(paths)].slice(0, FILES).map((path) => ({ path, ...how }));

/** Codex calls a command by what it does, such as `read` for `cat`; its words are in the input all the same. */
export const isCommand = ({ kind, rawInput }: SeenCall): boolean =>
  kind === 'execute' || (!changing.has(kind) && Array.isArray(rawInput['command']));

const changing: ReadonlySet<string> = new Set(['edit', 'delete', 'move']);

/** Agents give the command as input; some only in the title, which they may quote. */
function commandOf({ rawInput, title }: SeenCall): string | null {
  const given = rawInput['command'] ?? rawInput['cmd'];
  if (Array.isArray(given)) {
    const words = given.filter((word): word is string => typeof word === 'string');
    return textOf(/^-\w*c$/.test(words[1] ?? '') ? words.slice(2).join(' ') : words.join(' '));
  }
  return textOf(given) ?? textOf(title.replace(/^`([\s\S]*)`$/, '$1').trim());
}

/** Whether the command itself is known, and not only a title that may change. */
export const hasCommand = ({ rawInput }: SeenCall): boolean =>
  rawInput['command'] !== undefined || rawInput['cmd'] !== undefined;

export const isFinal = ({ status }: SeenCall): boolean => status === 'completed' || status === 'failed';

/** `completed` with an exit status other than 0 is a failure; some agents report both. */
export function resultOf({ status, rawOutput }: SeenCall): ToolResult {
  const codes = [rawOutput, objectOf(rawOutput['metadata'])].flatMap((one) =>
    ['exitCode', 'exit_code', 'exit'].map((field) => one[field]),
  );
  const exitCode = codes.find((code): code is number => typeof code === 'number') ?? null;
  return { isFailure: status === 'failed' || (exitCode !== null && exitCode !== 0), isCancelled: false, exitCode };
}
