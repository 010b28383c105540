import { type JsonObject, objectOf } from '../clients/json-value.ts';
import type { ClientHooks, HookSource, Pressure, TurnFailure, UsageReport } from '../clients/moment.ts';
import type { Spent, ToolResult } from '../clients/tool-call.ts';
import { readLinesFrom, sizeOf } from '../workspace/file-tail.ts';
import type { Memory } from './memory.ts';

export interface UsageRead {
  /** One for each model. */
  spent: readonly Spent[];
  pressure: Pressure | null;
  memory: Memory;
}

/** The tokens that a client's transcript reports since it was read last. */
export function readUsage({ usageIn }: ClientHooks, source: HookSource, memory: Memory): UsageRead {
  const { transcript: path, model: current } = source;
  const nothing = { spent: [], pressure: null, memory };
  if (path === null || !usageIn) return nothing;
  const before = memory.transcript?.path === path ? memory.transcript : { path, offset: 0 };
  const piece = readLinesFrom(path, before.offset);
  if (piece === null) return nothing;
  const byModel = new Map<string, Spent>();
  let { lastId, total } = before;
  let pressure: Pressure | null = null;
  for (const line of piece.text.split('\n')) {
    const report = reportIn(line, usageIn);
    if (report === null) continue;
    // The lines of one message repeat its figures.
    if (report.id !== null && report.id === lastId) continue;
    lastId = report.id ?? lastId;
    const sums = [report.spent.input, report.spent.output, report.spent.cached];
    const [input = 0, output = 0, cached = 0] = report.isTotal
      ? sums.map((sum, index) => Math.max(0, sum - (total?.[index] ?? 0)))
      : sums;
    if (report.isTotal) total = sums;
    const model = report.spent.model ?? current ?? '';
    const spent = byModel.get(model) ?? { input: 0, output: 0, cached: 0, ...(model ? { model } : {}) };
    byModel.set(model, {
      ...spent,
      input: spent.input + input,
      output: spent.output + output,
      cached: spent.cached + cached,
    });
    pressure = report.pressure ?? null;
  }
  return {
    spent: [...byModel.values()].filter((spent) => spent.input + spent.output > 0),
    pressure,
    memory: { ...memory, transcript: { path, offset: piece.end, lastId, total } },
  };
}

function reportIn(line: string, usageIn: NonNullable<ClientHooks['usageIn']>): UsageReport | null {
  // Most lines are long and hold no tokens.
  const entry = /usage|"tokens"|token_count/i.test(line) ? parsed(line) : null;
  return entry && usageIn(entry);
}

/** Whether the transcript shows a compaction since it was looked at last. */
export function lookForCompaction(
  { showsCompaction }: ClientHooks,
  path: string | null,
  memory: Memory,
): { wasCompacted: boolean; memory: Memory } {
  if (path === null || !showsCompaction) return { wasCompacted: false, memory };
  const { looked } = memory;
  const piece = looked?.path === path ? readLinesFrom(path, looked.offset) : null;
  // A conversation that continues in another file was loaded again, perhaps without the brief.
  const isMoved = looked !== undefined && looked.path !== path;
  const wasCompacted = isMoved || (piece !== null && showsCompaction(piece.text));
  return { wasCompacted, memory: { ...memory, looked: { path, offset: piece?.end ?? sizeOf(path) } } };
}

/**
 * How commands ended by the last lines of a transcript, by the client's ids of their tool calls; the first line of each
 * counts. Null where there is no transcript, or the client's hooks report it themselves.
 */
export function commandEnds(
  { commandEndIn }: ClientHooks,
  path: string | null,
): ReadonlyMap<string, ToolResult> | null {
  const tail = path === null || !commandEndIn ? null : readLinesFrom(path, Math.max(0, sizeOf(path) - ENDS_BYTES));
  if (tail === null) return null;
  const ends = new Map<string, ToolResult>();
  for (const line of tail.text.split('\n')) {
    const entry = /CommandExecution|_call_output/.test(line) ? parsed(line) : null;
    const end = entry && commandEndIn?.(entry);
    if (end && !ends.has(end.call)) ends.set(end.call, end.result);
  }
  return ends;
}

const ENDS_BYTES = 2 * 1024 * 1024;

/** Why the last turn stopped, by the last message in a transcript; null if it did not fail. */
export function failureAtEnd({ failureIn }: ClientHooks, path: string | null): TurnFailure | null {
  const tail = path === null || !failureIn ? null : readLinesFrom(path, Math.max(0, sizeOf(path) - TAIL_BYTES));
  for (const line of tail?.text.split('\n').reverse() ?? []) {
    const entry = /"type":"(?:assistant|user)"/.test(line) ? parsed(line) : null;
    if (entry?.['type'] === 'assistant' || entry?.['type'] === 'user') return failureIn?.(entry) ?? null;
  }
  return null;
}

const TAIL_BYTES = 256 * 1024;

/** How full the context is by the last lines of a transcript: cheap enough for every tool call. */
export function pressureAtEnd({ usageIn }: ClientHooks, path: string): Pressure | null {
  const tail = readLinesFrom(path, Math.max(0, sizeOf(path) - 64 * 1024));
  if (!usageIn || tail === null) return null;
  for (const line of tail.text.split('\n').reverse()) {
    const report = reportIn(line, usageIn);
    if (report) return report.pressure ?? null;
  }
  return null;
}

function parsed(line: string): JsonObject | null {
  try {
    return objectOf(JSON.parse(line));
  } catch {
    return null;
  }
}
