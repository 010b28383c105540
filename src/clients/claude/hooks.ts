import type { Payload } from '../json-value.ts';
import { listOf, objectOf, percentOf, textOf } from '../json-value.ts';
import type { Dialect, Moment, MomentKind, Scene, StartSource } from '../moment.ts';
import { deedOf, resultOf } from '../tool-call.ts';

/** Claude Code. Codex and Qwen Code speak the same events with small differences, and are made from this. */
export const claude: Dialect = {
  read: (event, payload) => readClaudeEvent(event, payload, 'claude'),
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  tellsCompacted: true,
  answer: specificOutput,
};

/** The form that five of the clients take; none of them takes it at the end of a turn. */
export function specificOutput(event: string, context: string): object {
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context } };
}

export function readClaudeEvent(event: string, payload: Payload, client: Scene['client']): Moment | null {
  const scene = sceneOf(payload, client);
  switch (event) {
    case 'SessionStart':
      return { ...scene, kind: 'session-start', source: sourceOf(payload['source']), request: null };
    case 'UserPromptSubmit': {
      const request = textOf(payload['prompt'])?.trim();
      return request ? { ...scene, kind: 'prompt', request } : null;
    }
    case 'PreToolUse':
      return { ...scene, kind: 'tool-before', deed: toolIn(payload) };
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return {
        ...scene,
        kind: 'tool-after',
        deed: toolIn(payload),
        result: resultOf(answerIn(payload), event === 'PostToolUseFailure'),
      };
    case 'TaskCreated':
    case 'TaskCompleted':
      return taskMoment(scene, payload, event === 'TaskCompleted');
    case 'SubagentStart':
      return { ...scene, kind: 'subagent-start' };
    case 'SubagentStop':
      return {
        ...scene,
        transcript: textOf(payload['agent_transcript_path']),
        kind: 'subagent-stop',
        said: textOf(payload['last_assistant_message']),
      };
    case 'Stop':
      return {
        ...scene,
        kind: 'turn-end',
        said: textOf(payload['last_assistant_message']),
        pressure: pressureIn(payload),
        isBusy: listOf(payload['background_tasks']).length > 0,
      };
    case 'StopFailure':
      return { ...scene, kind: 'turn-failed', ...failureOf(payload['error'], payload['error_details']) };
    case 'PreCompact':
      return { ...scene, kind: 'compact-before', isCertain: true, pressure: pressureIn(payload) };
    case 'SessionEnd':
      return { ...scene, kind: 'session-end', reason: textOf(payload['reason']) ?? 'other' };
    default:
      return null;
  }
}

function sceneOf(payload: Payload, client: Scene['client']): Scene {
  const agent = textOf(payload['agent_id']);
  return {
    client,
    conversation: textOf(payload['session_id']),
    id:
      textOf(payload['tool_use_id']) ??
      textOf(payload['turn_id']) ??
      textOf(payload['prompt_id']) ??
      textOf(payload['timestamp']),
    cwd: textOf(payload['cwd']),
    transcript: textOf(payload['transcript_path']),
    subagent: agent === null ? null : { id: agent, type: textOf(payload['agent_type']) },
    pid: null,
  };
}

const sources: readonly string[] = ['startup', 'resume', 'clear', 'compact', 'fork'] satisfies StartSource[];

export function sourceOf(word: unknown): StartSource {
  return typeof word === 'string' && sources.includes(word) ? (word as StartSource) : 'startup';
}

function toolIn(payload: Payload) {
  const tool = textOf(payload['tool_name']) ?? '';
  return deedOf(tool, objectOf(payload['tool_input']), answerIn(payload));
}

/** Copilot, when it runs these hooks, calls it a result; a failure is an error. */
function answerIn(payload: Payload): unknown {
  return payload['tool_response'] ?? payload['tool_result'] ?? payload['error'];
}

function taskMoment(scene: Scene, payload: Payload, isDone: boolean): Moment | null {
  const id = textOf(payload['task_id']);
  const text = textOf(payload['task_subject']);
  if (id === null || text === null) return null;
  const status = isDone ? 'completed' : 'pending';
  const todos = { kind: 'entries', entries: [{ id, text, status }] } as const;
  return {
    ...scene,
    id: `task-${id}-${status}`,
    kind: 'tool-after',
    deed: { tool: 'task', command: null, files: [], todos },
    result: { isFailure: false, isCancelled: false, exitCode: null },
  };
}

function pressureIn(payload: Payload) {
  const percent = percentOf(payload['context_usage'] ?? payload['context_usage_percent']);
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
