import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { JsonObject } from '../clients/json-value.ts';
import { countOf, objectOf, textOf } from '../clients/json-value.ts';
import type { HookSource, Pressure } from '../clients/moment.ts';
import type { Spent } from '../clients/tool-call.ts';
import type { Memory } from './memory.ts';

/** A turn's part of a transcript; of a longer one only the end is read. */
const READ_BYTES = 8 * 1024 * 1024;

export interface UsageRead {
  spent: Spent | null;
  pressure: Pressure | null;
  memory: Memory;
}

/**
 * The tokens a client's transcript tells of since it was read last. The clients count differently: Claude's input is
 * without what came from the cache, the others' with it; Gemini's and Qwen's output is without the thoughts.
 */
export function readUsage(source: HookSource, memory: Memory): UsageRead {
  const nothing = { spent: null, pressure: null, memory };
  const path = source.transcript;
  if (path === null) return nothing;
  const before = memory.transcript?.path === path ? memory.transcript : { path, offset: 0 };
  const piece = readFrom(path, before.offset);
  if (piece === null) return nothing;
  const count = { ...none, lastId: before.lastId, total: before.total, window: null as number | null, used: 0 };
  for (const line of piece.text.split('\n')) {
    // Most lines are long and say nothing about tokens.
    if (!/usage|"tokens"|token_count/i.test(line)) continue;
    const record = parsed(line);
    if (record) counters[source.client]?.(record, count);
  }
  const { input, output, cached, window, used } = count;
  return {
    spent: input + output > 0 ? { input, output, cached } : null,
    pressure: window && used > 0 ? { percent: Math.min(100, (used / window) * 100) } : null,
    memory: { ...memory, transcript: { path, offset: piece.end, lastId: count.lastId, total: count.total } },
  };
}

const none: Spent = { input: 0, output: 0, cached: 0 };

interface Count extends Spent {
  lastId: string | undefined;
  /** What a client that tells sums told last. */
  total: number[] | undefined;
  window: number | null;
  used: number;
}

const at = (value: unknown): number => countOf(value) ?? 0;

function add(count: Count, spent: Spent, id: string | null): void {
  // A message is written in several lines, each with the same figures.
  if (id !== null && id === count.lastId) return;
  if (id !== null) count.lastId = id;
  count.input += spent.input;
  count.output += spent.output;
  count.cached += spent.cached;
}

const counters: Partial<Record<HookSource['client'], (record: JsonObject, count: Count) => void>> = {
  claude(record, count) {
    const message = objectOf(record['message']);
    const usage = objectOf(message['usage']);
    if (record['type'] !== 'assistant' || message['model'] === '<synthetic>') return;
    const cached = at(usage['cache_read_input_tokens']);
    const input = at(usage['input_tokens']) + cached + at(usage['cache_creation_input_tokens']);
    add(count, { input, output: at(usage['output_tokens']), cached }, textOf(message['id']));
  },
  codex(record, count) {
    const payload = objectOf(record['payload']);
    const info = objectOf(payload['info']);
    if (payload['type'] !== 'token_count' || info['total_token_usage'] === undefined) return;
    const total = objectOf(info['total_token_usage']);
    const sums = [at(total['input_tokens']), at(total['output_tokens']), at(total['cached_input_tokens'])];
    const last = count.total ?? [0, 0, 0];
    const [input = 0, output = 0, cached = 0] = sums.map((sum, index) => Math.max(0, sum - (last[index] ?? 0)));
    count.total = sums;
    add(count, { input, output, cached }, null);
    const recent = objectOf(info['last_token_usage']);
    count.used = at(recent['total_tokens']) || at(recent['input_tokens']) + at(recent['output_tokens']);
    count.window = countOf(info['model_context_window']);
  },
  gemini(record, count) {
    const tokens = objectOf(record['tokens']);
    if (record['type'] !== 'gemini' || record['tokens'] === undefined) return;
    const output = at(tokens['output']) + at(tokens['thoughts']);
    add(count, { input: at(tokens['input']), output, cached: at(tokens['cached']) }, textOf(record['id']));
  },
  qwen(record, count) {
    const usage = objectOf(record['usageMetadata']);
    if (record['type'] !== 'assistant' || record['usageMetadata'] === undefined) return;
    const output = at(usage['candidatesTokenCount']) + at(usage['thoughtsTokenCount']);
    add(
      count,
      { input: at(usage['promptTokenCount']), output, cached: at(usage['cachedContentTokenCount']) },
      textOf(record['uuid']),
    );
  },
  copilot(record, count) {
    const usage = objectOf(objectOf(record['data'])['usage']);
    if (record['type'] !== 'session.usage_record') return;
    const spent = {
      input: at(usage['inputTokens']),
      output: at(usage['outputTokens']),
      cached: at(usage['cacheReadTokens']),
    };
    add(count, spent, textOf(record['id']));
  },
};

/** Gemini announces a compaction before every request; that one took place since the last look shows in its transcript. */
export function lookForCompaction(path: string | null, memory: Memory): { wasCompacted: boolean; memory: Memory } {
  if (path === null) return { wasCompacted: false, memory };
  const { looked } = memory;
  const piece = looked?.path === path ? readFrom(path, looked.offset) : null;
  // A conversation that goes on in another file, named by the minute, was loaded anew, and what it was told may be gone.
  const isMoved = looked !== undefined && looked.path !== path;
  const wasCompacted = isMoved || (piece?.text.includes('{"$set":{"messages":') ?? false);
  return { wasCompacted, memory: { ...memory, looked: { path, offset: piece?.end ?? sizeOf(path) } } };
}

/** How full the context is by the last lines of a transcript: cheap enough for every use of a tool. */
export function pressureAtEnd(source: HookSource): Pressure | null {
  if (source.client !== 'codex' || source.transcript === null) return null;
  const size = sizeOf(source.transcript);
  const tail = readFrom(source.transcript, Math.max(0, size - 64 * 1024));
  const line = tail?.text.split('\n').findLast((one) => one.includes('"token_count"'));
  const record = line ? parsed(line) : null;
  if (!record) return null;
  const count: Count = { ...none, lastId: undefined, total: undefined, window: null, used: 0 };
  counters.codex?.(record, count);
  return count.window && count.used > 0 ? { percent: Math.min(100, (count.used / count.window) * 100) } : null;
}

function sizeOf(path: string): number {
  return withFile(path, (handle) => fstatSync(handle).size) ?? 0;
}

/** Whole lines after a place; a line that is still being written is left for the next time. */
function readFrom(path: string, offset: number): { text: string; end: number } | null {
  return withFile(path, (handle) => {
    const { size } = fstatSync(handle);
    // A file that became shorter is another one.
    const begin = Math.max(offset > size ? 0 : offset, size - READ_BYTES);
    const bytes = Buffer.allocUnsafe(Math.min(size - begin, READ_BYTES));
    const length = readSync(handle, bytes, 0, bytes.length, begin);
    const end = bytes.subarray(0, length).lastIndexOf(0x0a) + 1;
    return { text: bytes.toString('utf8', 0, end), end: begin + end };
  });
}

function withFile<T>(path: string, work: (handle: number) => T): T | null {
  try {
    const handle = openSync(path, 'r');
    try {
      return fstatSync(handle).isFile() ? work(handle) : null;
    } finally {
      closeSync(handle);
    }
  } catch {
    return null;
  }
}

function parsed(line: string): JsonObject | null {
  try {
    return objectOf(JSON.parse(line));
  } catch {
    return null;
  }
}
