import { sourceOf, specificOutput } from '../claude/hooks.ts';
import type { JsonObject } from '../json-value.ts';
import { objectOf, textOf } from '../json-value.ts';
import type { Dialect, HookSource, Moment, MomentKind } from '../moment.ts';
import { resultOf, toolCallOf } from '../tool-call.ts';

/**
 * Gemini CLI. What is said at the start of a session makes it drop the user's first prompt when the session is resumed,
 * so the brief waits for the first prompt. Its event before a compaction comes before every request.
 */
export const gemini: Dialect = {
  read: readGeminiEvent,
  takesContext: new Set<MomentKind>(['prompt', 'tool-after']),
  tellsCompacted: false,
  answer: specificOutput,
};

function readGeminiEvent(event: string, input: JsonObject): Moment | null {
  const source: HookSource = {
    client: 'gemini',
    conversation: textOf(input['session_id']),
    id: textOf(input['timestamp']),
    cwd: textOf(input['cwd']),
    transcript: textOf(input['transcript_path']),
    subagent: null,
    pid: null,
  };
  const tool = () =>
    toolCallOf(textOf(input['tool_name']) ?? '', objectOf(input['tool_input']), input['tool_response']);
  switch (event) {
    case 'SessionStart':
      return { ...source, kind: 'session-start', source: sourceOf(input['source']), request: null };
    case 'BeforeAgent': {
      const request = withoutInjected(textOf(input['prompt']) ?? '');
      return request ? { ...source, kind: 'prompt', request } : null;
    }
    case 'BeforeTool':
      return { ...source, kind: 'tool-before', call: tool() };
    case 'AfterTool':
      return { ...source, kind: 'tool-after', call: tool(), result: resultOf(input['tool_response']) };
    case 'AfterAgent':
      return { ...source, kind: 'turn-end', said: textOf(input['prompt_response']), pressure: null };
    case 'PreCompress':
      return { ...source, kind: 'compact-before', isCertain: input['trigger'] === 'manual', pressure: null };
    case 'SessionEnd':
      return { ...source, kind: 'session-end', reason: textOf(input['reason']) ?? 'other' };
    default:
      return null;
  }
}

/** What hooks have put in front of the prompt is no request. */
function withoutInjected(prompt: string): string {
  const end = prompt.lastIndexOf('</hook_context>');
  return (
    prompt.startsWith('<hook_context>') && end > 0 ? prompt.slice(end + '</hook_context>'.length) : prompt
  ).trim();
}
