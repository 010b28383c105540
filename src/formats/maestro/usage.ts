import type { ModelUsage } from '../../core/model/run-model.ts';
import { at, type Node, plain } from '../text/node.ts';
import { count, who } from './field-values.ts';
import type { Complain } from './phase.ts';

/** The name for tokens in the totals that belong to no listed agent. */
export const UNATTRIBUTED = '(unattributed)';

export const measures = ['input', 'output', 'cached'] as const;
export type Measure = (typeof measures)[number];

/**
 * Zeros with an empty `by_agent` come from the template and mean that nothing was counted; an agent's figure is taken
 * as written. What the totals have beyond the agents' sums is kept under a separate name.
 */
export function readUsage(node: Node | null, complain: Complain): ModelUsage[] {
  const byAgent = at(node, 'by_agent');
  const usage: ModelUsage[] = [];
  const named = new Set<string>();
  for (const pair of byAgent?.type === 'map' ? byAgent.pairs : []) {
    const agent = who(pair.key);
    if (agent === undefined || named.has(agent)) continue;
    named.add(agent);
    const entry: ModelUsage = { agent };
    for (const measure of measures) {
      // Of an agent that is listed twice, the entry that is edited counts.
      const figure = at(at(byAgent, pair.key), measure);
      const value = count(plain(figure));
      if (value !== undefined) entry[measure] = value;
      else if (figure && plain(figure) !== null)
        complain('not_a_count', 'warning', figure.start, 'This is not a token count.');
    }
    usage.push(entry);
  }
  const rest: ModelUsage = { agent: UNATTRIBUTED };
  for (const measure of measures) {
    const figure = at(node, `total_${measure}`);
    const total = count(plain(figure));
    if (figure && total === undefined && plain(figure) !== null)
      complain('not_a_count', 'warning', figure.start, 'This is not a token count.');
    const sum = sumOf(usage, measure) ?? 0;
    if (total === undefined || total === sum) continue;
    if (total > sum) rest[measure] = total - sum;
    if (usage.length > 0)
      complain(
        'totals_disagree',
        'warning',
        figure?.start ?? 0,
        `"total_${measure}" is ${total}; the agents' sum is ${sum}.`,
      );
  }
  if (Object.keys(rest).length > 1) usage.push(rest);
  return usage;
}

/** Null when nothing was counted. */
export function sumOf(usage: readonly ModelUsage[], measure: Measure): number | null {
  let sum: number | null = null;
  for (const entry of usage) {
    const value = entry[measure];
    if (value !== undefined) sum = Math.min(Number.MAX_SAFE_INTEGER, (sum ?? 0) + value);
  }
  return sum;
}
