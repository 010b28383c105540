import { failureOf, readClaudeEvent, specificOutput } from '../claude-events.ts';
import { answerText, countOf, type JsonObject, objectOf, textOf } from '../json-value.ts';
import type { ClientHooks, MomentKind, TurnFailure, UsageReport } from '../moment.ts';
import { modelIn } from '../tool-call.ts';

/** Claude Code. */
export const hooks: ClientHooks = {
  read: (event, input) => readClaudeEvent(event, input, 'claude'),
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  answer: specificOutput,
  areRunByOthers: true,
  pidVariable: 'CLAUDE_PID',
  usageIn,
  failureIn,
};

function failureIn(entry: JsonObject): TurnFailure | null {
  if (entry['isApiErrorMessage'] !== true) return null;
  return failureOf(entry['error'], answerText(objectOf(entry['message'])['content'], 400));
}

/** Its input excludes tokens read from a cache or written to it. */
export function usageIn(entry: JsonObject): UsageReport | null {
  const message = objectOf(entry['message']);
  if (message['usage'] === undefined || message['model'] === '<synthetic>') return null;
  if (entry['type'] !== 'assistant' && entry['type'] !== undefined) return null;
  const usage = objectOf(message['usage']);
  const count = (field: string): number => countOf(usage[field]) ?? 0;
  const cached = count('cache_read_input_tokens');
  const input = count('input_tokens') + cached + count('cache_creation_input_tokens');
  const spent = { input, output: count('output_tokens'), cached, ...modelIn(message) };
  return { spent, id: textOf(message['id']) };
}
