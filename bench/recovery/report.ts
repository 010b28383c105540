import type { Tool } from './adapter.ts';
import type { Kill } from './run.ts';
import type { Score } from './score.ts';

export interface Result {
  tool: Tool;
  kills: readonly Kill[];
  /** Why the tool was left out, or null. */
  left: string | null;
}

export type Total = Score & { tokensMost: number };

/** The sums over all kills, but for tokens, calls and time, of which it is the median. */
export function totalOf(kills: readonly Kill[]): Total {
  const sum = (name: keyof Score): number => kills.reduce((total, { score }) => total + score[name], 0);
  // A resume that failed tells nothing cheaply.
  const told = kills.filter(({ score }) => score.failed === 0);
  const middle = (name: keyof Score): number => medianOf(told.map(({ score }) => score[name]));
  return {
    failed: sum('failed'),
    workTwice: sum('workTwice'),
    effectsRepeated: sum('effectsRepeated'),
    staleActions: sum('staleActions'),
    leftUndone: sum('leftUndone'),
    factsLost: sum('factsLost'),
    conflictsMissed: sum('conflictsMissed'),
    facts: sum('facts'),
    conflicts: sum('conflicts'),
    tokens: middle('tokens'),
    tokensMost: Math.max(0, ...told.map(({ score }) => score.tokens)),
    calls: middle('calls'),
    took: middle('took'),
  };
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
export function renderRecovery(results: readonly Result[]): string {
  return results.map((r) => r.tool.name + ' ' + r.kills.length + ' ' + JSON.stringify(totalOf(r.kills))).join('\n');
}
export function writeRecoveryReport(_results: readonly Result[], _sweeps: number): void {}
