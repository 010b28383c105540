import { failureOf } from '../claude-events.ts';
import { countOf, type JsonObject, listOf, objectOf, textOf } from '../json-value.ts';
import { type ClientHooks, type HookSource, type Moment, type MomentKind, pressureOf } from '../moment.ts';
import { withoutShellQuotes } from '../request.ts';
import { modelIn, readTodoList, resultOf, type Spent, toolCallOf } from '../tool-call.ts';

/**
 * OpenCode has no hook commands: our plugin calls this program with the name of its own hook or event, and passes on
 * `{ directory, pid, input, output }`, or the properties of an event. The plugin puts the answer `{ context }` where that
 * hook accepts text.
 */
export const hooks: ClientHooks = {
  read: readOpencodeEvent,
  takesContext: new Set<MomentKind>(['prompt', 'compact-before']),
  answer: (_, context) => ({ context }),
};

function readOpencodeEvent(event: string, given: JsonObject): Moment | null {
  const input = objectOf(given['input']);
  const output = objectOf(given['output']);
  const info = objectOf(given['info']);
  const source: HookSource = {
    client: 'opencode',
    conversation: textOf(input['sessionID']) ?? textOf(given['sessionID']) ?? textOf(info['sessionID']),
    id: textOf(input['callID']) ?? textOf(objectOf(output['message'])['id']) ?? textOf(info['id']),
    cwd: textOf(given['directory']) ?? textOf(info['directory']),
    transcript: null,
    subagent: null,
    pid: countOf(given['pid']),
  };
  switch (event) {
    case 'session.created':
      // A subagent's session names its parent and is a conversation of its own.
      return {
        ...source,
        conversation: textOf(info['id']) ?? source.conversation,
        kind: 'session-start',
        source: 'startup',
        request: null,
        parent: textOf(info['parentID']),
      };
    case 'chat.message': {
      const parts = listOf(output['parts']).map(objectOf);
      const request = parts
        .filter((part) => part['type'] === 'text' && part['synthetic'] !== true)
        .map((part) => textOf(part['text']) ?? '')
        .join('\n')
        .trim();
      return request ? { ...source, kind: 'prompt', request: withoutShellQuotes(request) } : null;
    }
    case 'tool.execute.before':
      return {
        ...source,
        kind: 'tool-before',
        call: toolCallOf(textOf(input['tool']) ?? '', objectOf(output['args']), null),
      };
    case 'tool.execute.after':
      return {
        ...source,
        kind: 'tool-after',
        call: toolCallOf(textOf(input['tool']) ?? '', objectOf(input['args']), output),
        result: resultOf(output),
      };
    case 'todo.updated': {
      const call = { tool: event, command: null, files: [], todos: readTodoList(listOf(given['todos'])) };
      return { ...source, id: null, kind: 'tool-after', call, result: resultOf(null) };
    }
    case 'message.updated':
      return usageMoment(source, info, given);
    case 'session.idle':
      return { ...source, kind: 'turn-end', lastMessage: null, pressure: null };
    case 'session.error':
      return {
        ...source,
        kind: 'turn-failed',
        ...failureOf(objectOf(given['error'])['name'], objectOf(given['error'])['data']),
      };
    case 'experimental.session.compacting':
      return { ...source, kind: 'compact-before', isCertain: true, pressure: null };
    case 'dispose':
    case 'session.deleted':
      return { ...source, kind: 'session-end', reason: event };
    default:
      return null;
  }
}

/** A finished message of the agent reports the tokens it used. */
function usageMoment(source: HookSource, info: JsonObject, given: JsonObject): Moment | null {
  if (info['role'] !== 'assistant' || objectOf(info['time'])['completed'] === undefined) return null;
  const spent = { ...spentOf(objectOf(info['tokens'])), ...modelIn(info, 'modelID') };
  const usedTokens = spent.input + spent.output;
  if (usedTokens === 0) return null;
  return { ...source, kind: 'usage', spent, pressure: pressureOf(usedTokens, countOf(given['contextWindow'])) };
}

/** Its input excludes the cache, its output the reasoning. */
export function spentOf(tokens: JsonObject): Spent {
  const cache = objectOf(tokens['cache']);
  const count = (value: unknown): number => countOf(value) ?? 0;
  const cached = count(cache['read']);
  const input = count(tokens['input']) + cached + count(cache['write']);
  return { input, output: count(tokens['output']) + count(tokens['reasoning']), cached };
}
