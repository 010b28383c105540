import { readClaudeEvent, specificOutput } from '../claude-events.ts';
import { countOf, type JsonObject, objectOf, textOf } from '../json-value.ts';
import { type ClientHooks, type CommandEnd, type MomentKind, pressureOf, type UsageReport } from '../moment.ts';
import { resultOf, type Spent } from '../tool-call.ts';

/** Codex CLI: Claude's events. It drops an answer with any field it does not know. */
export const hooks: ClientHooks = {
  read: (event, input) => readClaudeEvent(event, input, 'codex'),
  takesContext: new Set<MomentKind>(['session-start', 'prompt', 'tool-after']),
  answer: specificOutput,
  recognises: (input) =>
    input['turn_id'] !== undefined || /[\\/]\.codex[\\/]sessions[\\/]/.test(textOf(input['transcript_path']) ?? ''),
  usageIn,
  commandEndIn,
  hasPressureInTranscript: true,
};

/** Its hooks report the output of a command only, and nothing at all of one that runs on after its tool call. */
function commandEndIn(entry: JsonObject): CommandEnd | null {
  const payload = objectOf(entry['payload']);
  const item = objectOf(payload['item']);
  if (payload['type'] === 'item_completed' && item['type'] === 'CommandExecution') {
    const call = textOf(item['id']);
    return call === null ? null : { call, result: resultOf(item, item['status'] !== 'completed') };
  }
  const call = textOf(payload['call_id']);
  if (payload['type'] !== 'function_call_output' || call === null) return null;
  const text = textOf(payload['output']) ?? '';
  if (/^Process running with session ID /m.test(text)) return null;
  const exitCode = /^Process exited with code (\d{1,5})$/m.exec(text)?.[1];
  if (exitCode !== undefined) return { call, result: resultOf({ exit_code: Number(exitCode) }) };
  return { call, result: { ...resultOf(null), isCancelled: true } };
}

export function usageIn(entry: JsonObject): UsageReport | null {
  const payload = objectOf(entry['payload']);
  const info = objectOf(payload['info']);
  const total = info['total_token_usage'];
  if (payload['type'] !== 'token_count' || typeof total !== 'object' || total === null) return null;
  const last = objectOf(info['last_token_usage']);
  const { input, output } = spentOf(last);
  const pressure = pressureOf(countOf(last['total_tokens']) || input + output, countOf(info['model_context_window']));
  return { spent: spentOf(objectOf(total)), id: null, isTotal: true, pressure };
}

/** Its input includes tokens read from the cache, its output the reasoning. */
export function spentOf(usage: JsonObject): Spent {
  const count = (field: string): number => countOf(usage[field]) ?? 0;
  return { input: count('input_tokens'), output: count('output_tokens'), cached: count('cached_input_tokens') };
}
