import { specificOutput, startSourceOf } from '../claude-events.ts';
import { countOf, type JsonObject, objectOf, textOf } from '../json-value.ts';
import type { ClientHooks, HookSource, Moment, MomentKind, UsageReport } from '../moment.ts';
import { modelIn, resultOf, toolCallOf } from '../tool-call.ts';

/**
 * Gemini CLI. Text at the start of a resumed session makes it drop the user's first prompt, so the brief waits for that
 * prompt. Its event before a compaction comes before every request; whether one took place shows in its transcript.
 */
export const hooks: ClientHooks = {
  read: readGeminiEvent,
  takesContext: new Set<MomentKind>(['prompt', 'tool-after']),
  answer: specificOutput,
  usageIn,
  showsCompaction: (text) => text.includes('{"$set":{"messages":'),
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
      return { ...source, kind: 'session-start', source: startSourceOf(input['source']), request: null };
    case 'BeforeAgent': {
      const request = withoutInjected(textOf(input['prompt']) ?? '');
      return request ? { ...source, kind: 'prompt', request } : null;
    }
    case 'BeforeTool':
      return { ...source, kind: 'tool-before', call: tool() };
    case 'AfterTool':
      return { ...source, kind: 'tool-after', call: tool(), result: resultOf(input['tool_response']) };
    case 'AfterAgent':
      return { ...source, kind: 'turn-end', lastMessage: textOf(input['prompt_response']), pressure: null };
    case 'PreCompress':
      return { ...source, kind: 'compact-before', isCertain: input['trigger'] === 'manual', pressure: null };
    case 'SessionEnd':
      return { ...source, kind: 'session-end', reason: textOf(input['reason']) ?? 'other' };
    default:
      return null;
  }
}

/** Removes what hooks put in front of the prompt. */
function withoutInjected(prompt: string): string {
  const end = prompt.lastIndexOf('</hook_context>');
  return (
    prompt.startsWith('<hook_context>') && end > 0 ? prompt.slice(end + '</hook_context>'.length) : prompt
  ).trim();
}

/** Its input includes tokens read from the cache; its thoughts are counted apart from the output. */
export function usageIn(entry: JsonObject): UsageReport | null {
  const role = entry['type'] ?? entry['role'];
  if ((role !== 'gemini' && role !== 'model') || entry['tokens'] === undefined) return null;
  const tokens = objectOf(entry['tokens']);
  const count = (field: string): number => countOf(tokens[field]) ?? 0;
  const spent = { input: count('input'), output: count('output') + count('thoughts'), cached: count('cached') };
  return { spent: { ...spent, ...modelIn(entry) }, id: textOf(entry['id']) };
}
