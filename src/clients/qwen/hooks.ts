import { readClaudeEvent, specificOutput } from '../claude-events.ts';
import { countOf, type JsonObject, objectOf, textOf } from '../json-value.ts';
import type { ClientHooks, MomentKind, UsageReport } from '../moment.ts';
import { modelIn } from '../tool-call.ts';

/**
 * Qwen Code: Claude's events. Its prompt event comes with every request to the model, usually without a prompt, and is
 * ignored then; its stop event reports how full the context is. Text at a start goes into the system prompt of that process.
 */
export const hooks: ClientHooks = {
  read(event, input) {
    const moment = readClaudeEvent(event, input, 'qwen');
    // Its list of background tasks leaves out commands.
    return moment?.kind === 'turn-end' ? { ...moment, background: null } : moment;
  },
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  answer: specificOutput,
  forgetsStarts: true,
  repeatsPrompts: true,
  usageIn,
};

/** Its input includes tokens read from the cache; its thoughts are counted apart from the output. */
export function usageIn(entry: JsonObject): UsageReport | null {
  if (entry['type'] !== 'assistant' || entry['usageMetadata'] === undefined) return null;
  const usage = objectOf(entry['usageMetadata']);
  const count = (field: string): number => countOf(usage[field]) ?? 0;
  const output = count('candidatesTokenCount') + count('thoughtsTokenCount');
  const spent = { input: count('promptTokenCount'), output, cached: count('cachedContentTokenCount') };
  return { spent: { ...spent, ...modelIn(entry) }, id: textOf(entry['uuid']) };
}
