import { sourceOf, specificOutput } from '../claude/hooks.ts';
import type { Payload } from '../json-value.ts';
import { objectOf, textOf } from '../json-value.ts';
import type { Dialect, Moment, MomentKind, Scene } from '../moment.ts';
import { deedOf, resultOf } from '../tool-call.ts';

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

function readGeminiEvent(event: string, payload: Payload): Moment | null {
  const scene: Scene = {
    client: 'gemini',
    conversation: textOf(payload['session_id']),
    id: textOf(payload['timestamp']),
    cwd: textOf(payload['cwd']),
    transcript: textOf(payload['transcript_path']),
    subagent: null,
    pid: null,
  };
  const tool = () =>
    deedOf(textOf(payload['tool_name']) ?? '', objectOf(payload['tool_input']), payload['tool_response']);
  switch (event) {
    case 'SessionStart':
      return { ...scene, kind: 'session-start', source: sourceOf(payload['source']), request: null };
    case 'BeforeAgent': {
      const request = withoutInjected(textOf(payload['prompt']) ?? '');
      return request ? { ...scene, kind: 'prompt', request } : null;
    }
    case 'BeforeTool':
      return { ...scene, kind: 'tool-before', deed: tool() };
    case 'AfterTool':
      return { ...scene, kind: 'tool-after', deed: tool(), result: resultOf(payload['tool_response']) };
    case 'AfterAgent':
      return { ...scene, kind: 'turn-end', said: textOf(payload['prompt_response']), pressure: null };
    case 'PreCompress':
      return { ...scene, kind: 'compact-before', isCertain: payload['trigger'] === 'manual', pressure: null };
    case 'SessionEnd':
      return { ...scene, kind: 'session-end', reason: textOf(payload['reason']) ?? 'other' };
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
