import type { JsonObject } from '../json-value.ts';
import { listOf, objectOf, percentOf, textOf } from '../json-value.ts';
import type { Dialect, HookSource, Moment, MomentKind, StartSource } from '../moment.ts';
import { resultOf, toolCallOf } from '../tool-call.ts';

/** Claude Code. Codex and Qwen Code speak the same events with small differences, and are made from this. */
export const claude: Dialect = {
  read: (event, input) => readClaudeEvent(event, input, 'claude'),
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  tellsCompacted: true,
  answer: specificOutput,
};

/** The form that five of the clients take; none of them takes it at the end of a turn. */
export function specificOutput(event: string, context: string): object {
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context } };
}

export function readClaudeEvent(event: string, input: JsonObject, client: HookSource['client']): Moment | null {
  const source = sceneOf(input, client);
  switch (event) {
    case 'SessionStart':
      return { ...source, kind: 'session-start', source: sourceOf(input['source']), request: null };
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
        said: textOf(input['last_assistant_message']),
      };
    case 'Stop':
      return {
        ...source,
        kind: 'turn-end',
        said: textOf(input['last_assistant_message']),
        pressure: pressureIn(input),
        isBusy: listOf(input['background_tasks']).length > 0,
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

function sceneOf(input: JsonObject, client: HookSource['client']): HookSource {
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
    subagent: agent === null ? null : { id: agent, type: textOf(input['agent_type']) },
    pid: null,
  };
}

const sources: readonly string[] = ['startup', 'resume', 'clear', 'compact', 'fork'] satisfies StartSource[];

export function sourceOf(word: unknown): StartSource {
  return typeof word === 'string' && sources.includes(word) ? (word as StartSource) : 'startup';
}

function toolIn(input: JsonObject) {
  const tool = textOf(input['tool_name']) ?? '';
  return toolCallOf(tool, objectOf(input['tool_input']), answerIn(input));
}

/** Copilot, when it runs these hooks, calls it a result; a failure is an error. */
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

/** A stop that was not the agent's wish. */
export function failureOf(error: unknown, details: unknown): { reason: 'rate-limit' | 'error'; told: string } {
  const told = [error, details].map(
    (part) => textOf(part) ?? textOf(objectOf(part)['message']) ?? textOf(objectOf(part)['type']),
  );
  const text = told.filter((part) => part !== null).join(': ') || 'no reason was given';
  const isLimit = /rate.?limit|too many requests|\b429\b|overloaded|quota|usage limit|limit reached/i.test(text);
  return { reason: isLimit ? 'rate-limit' : 'error', told: text };
}
