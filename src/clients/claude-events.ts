import { type JsonObject, objectOf, percentOf, textOf } from './json-value.ts';
import type { HookSource, Moment, StartSource, TurnFailure } from './moment.ts';
import { resultOf, toolCallOf } from './tool-call.ts';

/** The answer that five of the clients accept; none of them accepts it at the end of a turn. */
export function specificOutput(event: string, context: string): object {
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context } };
}

/** Reads Claude Code's hook events, which most other clients send too with small differences. */
export function readClaudeEvent(event: string, input: JsonObject, client: string): Moment | null {
  const source = sourceOf(input, client);
  switch (event) {
    case 'SessionStart':
      return { ...source, kind: 'session-start', source: startSourceOf(input['source']), request: null };
    case 'UserPromptSubmit': {
      const request = textOf(input['prompt'])?.trim();
      return request ? { ...source, kind: 'prompt', request } : null;
    }
    case 'PreToolUse':
      return { ...source, kind: 'tool-before', call: toolIn(input) };
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return {
        ...source,
        kind: 'tool-after',
        call: toolIn(input),
        result: resultOf(answerIn(input), event === 'PostToolUseFailure'),
      };
    case 'TaskCreated':
    case 'TaskCompleted':
      return taskMoment(source, input, event === 'TaskCompleted');
    case 'SubagentStart':
      return { ...source, kind: 'subagent-start' };
    case 'SubagentStop':
      return {
        ...source,
        transcript: textOf(input['agent_transcript_path']),
        kind: 'subagent-stop',
        lastMessage: textOf(input['last_assistant_message']),
      };
    case 'Stop':
      return {
        ...source,
        kind: 'turn-end',
        lastMessage: textOf(input['last_assistant_message']),
        pressure: pressureIn(input),
        background: Array.isArray(input['background_tasks']) ? input['background_tasks'].length : null,
      };
    case 'StopFailure':
      return { ...source, kind: 'turn-failed', ...failureOf(input['error'], input['error_details']) };
    case 'PreCompact':
      return { ...source, kind: 'compact-before', isCertain: true, pressure: pressureIn(input) };
    case 'SessionEnd':
      return { ...source, kind: 'session-end', reason: textOf(input['reason']) ?? 'other' };
    default:
      return null;
  }
}

function sourceOf(input: JsonObject, client: string): HookSource {
  const agent = textOf(input['agent_id']);
  return {
    client,
    conversation: textOf(input['session_id']),
    id:
      textOf(input['tool_use_id']) ??
      textOf(input['turn_id']) ??
      textOf(input['prompt_id']) ??
      textOf(input['timestamp']),
    cwd: textOf(input['cwd']),
    transcript: textOf(input['transcript_path']),
    model: textOf(input['model']),
    subagent: agent === null ? null : { id: agent, type: textOf(input['agent_type']) },
    pid: null,
  };
}

const startSources: readonly string[] = ['startup', 'resume', 'clear', 'compact', 'fork'] satisfies StartSource[];

export function startSourceOf(word: unknown): StartSource {
  return typeof word === 'string' && startSources.includes(word) ? (word as StartSource) : 'startup';
}

function toolIn(input: JsonObject) {
  const tool = textOf(input['tool_name']) ?? '';
  return toolCallOf(tool, objectOf(input['tool_input']), answerIn(input));
}

/** Copilot sends `tool_result` when it runs these hooks; a failure comes as `error`. */
function answerIn(input: JsonObject): unknown {
  return input['tool_response'] ?? input['tool_result'] ?? input['error'];
}

function taskMoment(source: HookSource, input: JsonObject, isDone: boolean): Moment | null {
  const id = textOf(input['task_id']);
  const text = textOf(input['task_subject']);
  if (id === null || text === null) return null;
  const status = isDone ? 'completed' : 'pending';
  const todos = { kind: 'entries', entries: [{ id, text, status }] } as const;
  return {
    ...source,
    id: `task-${id}-${status}`,
    kind: 'tool-after',
    call: { tool: 'task', command: null, files: [], todos },
    result: { isFailure: false, isCancelled: false, exitCode: null },
  };
}

function pressureIn(input: JsonObject) {
  const percent = percentOf(input['context_usage'] ?? input['context_usage_percent']);
  return percent === null ? null : { percent };
}

/** Why a turn stopped that the agent did not end itself. */
export function failureOf(error: unknown, details: unknown): TurnFailure {
  const parts = [error, details].map(
    (part) => textOf(part) ?? textOf(objectOf(part)['message']) ?? textOf(objectOf(part)['type']),
  );
  const message = parts.filter((part) => part !== null).join(': ') || 'no reason given';
  const isLimit = /rate.?limit|too many requests|\b429\b|overloaded|quota|usage limit|limit reached/i.test(message);
  return { reason: isLimit ? 'rate-limit' : 'error', message };
}
