import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from './adapter.ts';
import { PAGE } from './page.ts';
import type { Kill } from './run.ts';
import type { Score } from './score.ts';

export interface Result {
  tool: Pick<Tool, 'name' | 'durability' | 'packages'>;
  kills: readonly Kill[];
  /** Moments at which it cannot be killed. */
  impossible: number;
  /** Why the tool was left out, or null. */
  left: string | null;
}

export type Total = Score & { tokensMost: number };

/** The sums over all kills; of tokens, calls and time the median. */
export function totalOf(kills: readonly Kill[]): Total {
  const sum = (name: keyof Score): number => kills.reduce((total, { score }) => total + score[name], 0);
  // A failed resume is cheap but useless, so it does not count.
  const answered = kills.filter(({ score }) => score.failed === 0);
  const middle = (name: keyof Score): number => medianOf(answered.map(({ score }) => score[name]));
  return {
    failed: sum('failed'),
    workTwice: sum('workTwice'),
    effectsRepeated: sum('effectsRepeated'),
    staleActions: sum('staleActions'),
    leftUndone: sum('leftUndone'),
    factsLost: sum('factsLost'),
    shown: sum('shown'),
    shownOver: sum('shownOver'),
    claims: sum('claims'),
    claimsFalse: sum('claimsFalse'),
    conflictsMissed: sum('conflictsMissed'),
    facts: sum('facts'),
    conflicts: sum('conflicts'),
    tokens: middle('tokens'),
    tokensMost: Math.max(0, ...answered.map(({ score }) => score.tokens)),
    calls: middle('calls'),
    took: middle('took'),
  };
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const HEAD = [
  ...['tool', 'kills (between calls + inside)', 'without a fault (95 %)', 'resume failed', 'work done twice'],
  ...['effects repeated', 'stale actions', 'left undone', 'facts lost', 'shown and over', 'false claims'],
  ...['conflicts missed', 'tokens to resume (most)', 'calls', 'time'],
];

export function renderRecovery(results: readonly Result[]): string {
  const first = results.find(({ kills }) => kills.length > 0);
  const unit = first ? totalOf(first.kills).took : 1;
  const rows = results.map(({ tool, kills, left }) => {
    if (left !== null) return [tool.name, `left out: ${left}`, ...HEAD.slice(2).map(() => '')];
    const total = totalOf(kills);
    const between = kills.filter(({ kind }) => kind === 'between').length;
    return [
      tool.name,
      `${between} + ${kills.length - between}`,
      shareOf(kills.filter(({ score }) => isFlawless(score)).length, kills.length),
      String(total.failed),
      String(total.workTwice),
      String(total.effectsRepeated),
      String(total.staleActions),
      String(total.leftUndone),
      `${total.factsLost} of ${total.facts}`,
      `${total.shownOver} of ${total.shown}`,
      `${total.claimsFalse} of ${total.claims}`,
      `${total.conflictsMissed} of ${total.conflicts}`,
      `${total.tokens} (${total.tokensMost})`,
      String(total.calls),
      total.took === 0 ? '' : times(total.took / unit),
    ];
  });
  return renderLines(HEAD, rows);
}

const FAULTS = [
  ...(['failed', 'workTwice', 'effectsRepeated', 'staleActions', 'leftUndone', 'factsLost'] as const),
  ...(['claimsFalse', 'conflictsMissed'] as const),
];
const isFlawless = (score: Score): boolean => FAULTS.every((name) => score[name] === 0);

/** A share in percent with its interval after Wilson, which holds for few kills and for shares near 0 and 1 too. */
export function shareOf(hits: number, of: number): string {
  if (of === 0) return '';
  const z = 1.96;
  const share = hits / of;
  const middle = (share + z ** 2 / (2 * of)) / (1 + z ** 2 / of);
  const half = (z / (1 + z ** 2 / of)) * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  const percent = (value: number): string => Math.max(0, 100 * value).toFixed(0);
  return `${percent(share)} % (${percent(middle - half)}–${percent(middle + half)})`;
}

/** A ratio with two significant digits. */
export function times(ratio: number): string {
  return `${ratio >= 100 ? ratio.toFixed(0) : ratio.toPrecision(2)}×`;
}

export function renderLines(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Fills the tables into the page. */
export function writeRecoveryReport(results: readonly Result[]): void {
  const levels = results.map(({ tool, kills, impossible }) => [
    tool.name,
    tool.durability,
    `${kills.length}${impossible > 0 ? `; ${impossible} inside a call are not possible` : ''}`,
  ]);
  const head = ['tool', 'what an acknowledged write survives', 'kills'];
  writePage('recovery.md', PAGE, { results: renderRecovery(results), levels: renderLines(head, levels) });
}

export function writePage(name: string, page: string, parts: Record<string, string>): void {
  const folder = join(process.cwd(), 'docs', 'proof');
  mkdirSync(folder, { recursive: true });
  const text = Object.entries(parts).reduce((whole, [key, part]) => whole.replace(`{{${key}}}`, () => part), page);
  writeFileSync(join(folder, name), text);
}
