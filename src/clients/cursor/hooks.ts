import { failureOf, readClaudeEvent } from '../claude-events.ts';
import { countOf, type JsonObject, listOf, objectOf, percentOf, textOf } from '../json-value.ts';
import type { ClientHooks, HookSource, Moment, MomentKind } from '../moment.ts';
import { resultOf, toolCallOf } from '../tool-call.ts';

/** Cursor. It accepts text for the model at the start of a session only; some versions drop it, so a rule repeats it. */
export const hooks: ClientHooks = {
  // It runs Claude's hooks too, with Claude's event names.
  read: (event, input) =>
    /^[A-Z]/.test(event) ? readClaudeEvent(event, input, 'cursor') : readCursorEvent(event, input),
  takesContext: new Set<MomentKind>(['session-start']),
  answer: (_, context) => ({ additional_context: context }),
};

function readCursorEvent(event: string, input: JsonObject): Moment | null {
  const source: HookSource = {
    client: 'cursor',
    conversation: textOf(input['conversation_id']) ?? textOf(input['session_id']),
    id: textOf(input['tool_use_id']) ?? textOf(input['generation_id']),
    cwd: textOf(input['cwd']) ?? textOf(listOf(input['workspace_roots'])[0]),
    transcript: textOf(input['transcript_path']),
    subagent: null,
    pid: null,
  };
  switch (event) {
    case 'sessionStart':
      return { ...source, kind: 'session-start', source: 'startup', request: null };
    case 'beforeSubmitPrompt': {
      const request = textOf(input['prompt'])?.trim();
      return request ? { ...source, kind: 'prompt', request } : null;
    }
    case 'beforeShellExecution':
    case 'afterShellExecution': {
      const call = { tool: 'shell', command: textOf(input['command']), files: [], todos: null };
      if (call.command === null) return null;
      // The only id is that of the turn, which may run many commands.
      const ran = { ...source, id: null, call };
      if (event === 'beforeShellExecution') return { ...ran, kind: 'tool-before' };
      return { ...ran, kind: 'tool-after', result: resultOf({ exitCode: countOf(input['exit_code']) }) };
    }
    case 'afterFileEdit':
    case 'beforeReadFile': {
      const path = textOf(input['file_path']);
      if (path === null) return null;
      const read = event === 'beforeReadFile';
      const files = [read ? { path, read } : { path, read, change: 'modified' as const }];
      const call = { tool: event, command: null, files, todos: null };
      return { ...source, id: null, kind: 'tool-after', call, result: resultOf(null) };
    }
    case 'postToolUse':
    case 'postToolUseFailure': {
      const output = input['tool_output'];
      const toolCall = toolCallOf(textOf(input['tool_name']) ?? '', objectOf(input['tool_input']), output);
      const result = resultOf(output, event === 'postToolUseFailure');
      // Commands and edits have events of their own.
      return { ...source, kind: 'tool-after', call: { ...toolCall, command: null, files: [] }, result };
    }
    case 'stop':
      if (input['status'] === 'error')
        return { ...source, kind: 'turn-failed', ...failureOf(input['error'], input['error_message']) };
      return { ...source, kind: 'turn-end', lastMessage: null, pressure: null };
    case 'preCompact': {
      const percent = percentOf(input['context_usage_percent']);
      return { ...source, kind: 'compact-before', isCertain: true, pressure: percent === null ? null : { percent } };
    }
    case 'sessionEnd':
      return { ...source, kind: 'session-end', reason: textOf(input['reason']) ?? 'other' };
    default:
      return null;
  }
}
