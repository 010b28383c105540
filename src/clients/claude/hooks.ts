import { readClaudeEvent, specificOutput } from '../claude-events.ts';
import { countOf, type JsonObject, objectOf, textOf } from '../json-value.ts';
import type { ClientHooks, MomentKind, UsageReport } from '../moment.ts';

/** Claude Code. */
export const hooks: ClientHooks = {
  read: (event, input) => readClaudeEvent(event, input, 'claude'),
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  answer: specificOutput,
  areRunByOthers: true,
  pidVariable: 'CLAUDE_PID',
  usageIn,
};

/** Its input excludes tokens read from a cache or written to it. */
export function usageIn(entry: JsonObject): UsageReport | null {
  const message = objectOf(entry['message']);
  if (message['usage'] === undefined || message['model'] === '<synthetic>') return null;
  if (entry['type'] !== 'assistant' && entry['type'] !== undefined) return null;
  const usage = objectOf(message['usage']);
  const count = (field: string): number => countOf(usage[field]) ?? 0;
  const cached = count('cache_read_input_tokens');
  const input = count('input_tokens') + cached + count('cache_creation_input_tokens');
  return { spent: { input, output: count('output_tokens'), cached }, id: textOf(message['id']) };
}
