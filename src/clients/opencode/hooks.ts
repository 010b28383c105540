import { failureOf } from '../claude/hooks.ts';
import type { JsonObject } from '../json-value.ts';
import { countOf, listOf, objectOf, textOf } from '../json-value.ts';
import type { Dialect, HookSource, Moment, MomentKind } from '../moment.ts';
import { withoutShellQuotes } from '../request.ts';
import { readTodoList, resultOf, toolCallOf } from '../tool-call.ts';

/**
 * OpenCode has no hook commands: its plugin calls this one with the name of its own hook or event, and hands on what it
 * was given as `{ directory, pid, input, output }`, or the properties of an event. The answer is `{ context }`, which the
 * plugin puts where that hook takes text.
 */
export const opencode: Dialect = {
  read: readOpencodeEvent,
  takesContext: new Set<MomentKind>(['prompt', 'compact-before']),
  tellsCompacted: false,
  answer: (_, context) => ({ context }),
};

function readOpencodeEvent(event: string, payload: JsonObject): Moment | null {
  const input = objectOf(payload['input']);
  const output = objectOf(payload['output']);
  const info = objectOf(payload['info']);
  const source: HookSource = {
    client: 'opencode',
    conversation: textOf(input['sessionID']) ?? textOf(payload['sessionID']) ?? textOf(info['sessionID']),
    id: textOf(input['callID']) ?? textOf(objectOf(output['message'])['id']) ?? textOf(info['id']),
    cwd: textOf(payload['directory']) ?? textOf(info['directory']),
    transcript: null,
    subagent: null,
    pid: countOf(payload['pid']),
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
      const said = parts.filter((part) => part['type'] === 'text' && part['synthetic'] !== true);
      const request = said
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
      const call = { tool: event, command: null, files: [], todos: readTodoList(listOf(payload['todos'])) };
      return { ...source, id: null, kind: 'tool-after', call: call, result: resultOf(null) };
    }
    case 'message.updated':
      return usageMoment(source, info, payload);
    case 'session.idle':
      return { ...source, kind: 'turn-end', said: null, pressure: null };
    case 'session.error':
      return {
        ...source,
        kind: 'turn-failed',
        ...failureOf(objectOf(payload['error'])['name'], objectOf(payload['error'])['data']),
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

/** A message of the agent that is finished tells what it took: input without the cache, output without the reasoning. */
function usageMoment(source: HookSource, info: JsonObject, payload: JsonObject): Moment | null {
  const tokens = objectOf(info['tokens']);
  const cache = objectOf(tokens['cache']);
  if (info['role'] !== 'assistant' || objectOf(info['time'])['completed'] === undefined) return null;
  const at = (value: unknown): number => countOf(value) ?? 0;
  const cached = at(cache['read']);
  const input = at(tokens['input']) + cached + at(cache['write']);
  const output = at(tokens['output']) + at(tokens['reasoning']);
  if (input + output === 0) return null;
  const window = countOf(payload['contextWindow']);
  return {
    ...source,
    kind: 'usage',
    spent: { input, output, cached },
    pressure: window ? { percent: Math.min(100, ((input + output) / window) * 100) } : null,
  };
}
