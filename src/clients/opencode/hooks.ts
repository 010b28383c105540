import { failureOf } from '../claude/hooks.ts';
import type { Payload } from '../json-value.ts';
import { countOf, listOf, objectOf, textOf } from '../json-value.ts';
import type { Dialect, Moment, MomentKind, Scene } from '../moment.ts';
import { withoutShellQuotes } from '../request.ts';
import { deedOf, readTodoList, resultOf } from '../tool-call.ts';

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

function readOpencodeEvent(event: string, payload: Payload): Moment | null {
  const input = objectOf(payload['input']);
  const output = objectOf(payload['output']);
  const info = objectOf(payload['info']);
  const scene: Scene = {
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
        ...scene,
        conversation: textOf(info['id']) ?? scene.conversation,
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
      return request ? { ...scene, kind: 'prompt', request: withoutShellQuotes(request) } : null;
    }
    case 'tool.execute.before':
      return {
        ...scene,
        kind: 'tool-before',
        deed: deedOf(textOf(input['tool']) ?? '', objectOf(output['args']), null),
      };
    case 'tool.execute.after':
      return {
        ...scene,
        kind: 'tool-after',
        deed: deedOf(textOf(input['tool']) ?? '', objectOf(input['args']), output),
        result: resultOf(output),
      };
    case 'todo.updated': {
      const deed = { tool: event, command: null, files: [], todos: readTodoList(listOf(payload['todos'])) };
      return { ...scene, id: null, kind: 'tool-after', deed, result: resultOf(null) };
    }
    case 'message.updated':
      return usageMoment(scene, info, payload);
    case 'session.idle':
      return { ...scene, kind: 'turn-end', said: null, pressure: null };
    case 'session.error':
      return {
        ...scene,
        kind: 'turn-failed',
        ...failureOf(objectOf(payload['error'])['name'], objectOf(payload['error'])['data']),
      };
    case 'experimental.session.compacting':
      return { ...scene, kind: 'compact-before', isCertain: true, pressure: null };
    case 'dispose':
    case 'session.deleted':
      return { ...scene, kind: 'session-end', reason: event };
    default:
      return null;
  }
}

/** A message of the agent that is finished tells what it took: input without the cache, output without the reasoning. */
function usageMoment(scene: Scene, info: Payload, payload: Payload): Moment | null {
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
    ...scene,
    kind: 'usage',
    spent: { input, output, cached },
    pressure: window ? { percent: Math.min(100, ((input + output) / window) * 100) } : null,
  };
}
