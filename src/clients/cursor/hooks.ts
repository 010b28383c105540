import { failureOf, readClaudeEvent } from '../claude/hooks.ts';
import type { Payload } from '../json-value.ts';
import { countOf, listOf, objectOf, percentOf, textOf } from '../json-value.ts';
import type { Dialect, Moment, MomentKind, Scene } from '../moment.ts';
import { deedOf, resultOf } from '../tool-call.ts';

/** Cursor. It takes text for the model at the start of a session only; some versions drop it there, so a rule stands by. */
export const cursor: Dialect = {
  // It runs Claude's hooks too, and names their events as Claude does.
  read: (event, payload) =>
    /^[A-Z]/.test(event) ? readClaudeEvent(event, payload, 'cursor') : readCursorEvent(event, payload),
  takesContext: new Set<MomentKind>(['session-start']),
  tellsCompacted: false,
  answer: (_, context) => ({ additional_context: context }),
};

function readCursorEvent(event: string, payload: Payload): Moment | null {
  const scene: Scene = {
    client: 'cursor',
    conversation: textOf(payload['conversation_id']) ?? textOf(payload['session_id']),
    id: textOf(payload['tool_use_id']) ?? textOf(payload['generation_id']),
    cwd: textOf(payload['cwd']) ?? textOf(listOf(payload['workspace_roots'])[0]),
    transcript: textOf(payload['transcript_path']),
    subagent: null,
    pid: null,
  };
  const file = textOf(payload['file_path']);
  const done = { isFailure: false, isCancelled: false, exitCode: null };
  switch (event) {
    case 'sessionStart':
      return { ...scene, kind: 'session-start', source: 'startup', request: null };
    case 'beforeSubmitPrompt': {
      const request = textOf(payload['prompt'])?.trim();
      return request ? { ...scene, kind: 'prompt', request } : null;
    }
    case 'beforeShellExecution':
    case 'afterShellExecution': {
      const deed = { tool: 'shell', command: textOf(payload['command']), files: [], todos: null };
      if (deed.command === null) return null;
      // One turn runs many commands: they are told apart by their words.
      const ran = { ...scene, id: null, deed };
      if (event === 'beforeShellExecution') return { ...ran, kind: 'tool-before' };
      return { ...ran, kind: 'tool-after', result: resultOf({ exitCode: countOf(payload['exit_code']) }) };
    }
    case 'afterFileEdit':
    case 'beforeReadFile': {
      if (file === null) return null;
      const read = event === 'beforeReadFile';
      const files = [read ? { path: file, read } : { path: file, read, change: 'modified' as const }];
      return {
        ...scene,
        id: null,
        kind: 'tool-after',
        deed: { tool: event, command: null, files, todos: null },
        result: done,
      };
    }
    case 'postToolUse':
    case 'postToolUseFailure': {
      const deed = deedOf(textOf(payload['tool_name']) ?? '', objectOf(payload['tool_input']), payload['tool_output']);
      // Commands and edits have events of their own.
      return { ...scene, kind: 'tool-after', deed: { ...deed, command: null, files: [] }, result: done };
    }
    case 'stop':
      if (payload['status'] === 'error')
        return { ...scene, kind: 'turn-failed', ...failureOf(payload['error'], payload['error_message']) };
      return { ...scene, kind: 'turn-end', said: null, pressure: null };
    case 'preCompact': {
      const percent = percentOf(payload['context_usage_percent']);
      return { ...scene, kind: 'compact-before', isCertain: true, pressure: percent === null ? null : { percent } };
    }
    case 'sessionEnd':
      return { ...scene, kind: 'session-end', reason: textOf(payload['reason']) ?? 'other' };
    default:
      return null;
  }
}
