import { getNodeValue, type Node } from 'jsonc-parser';
import type { ModelDecision } from '../../core/model/run-model.ts';
import { asLabel, asText, asTime, asWho, asWords, defined } from './field-values.ts';
import { elements, member, members } from './state-file.ts';
import { stepKey } from './steps.ts';
import { titleFor } from './title.ts';

/**
 * Decisions are in two places: `decisions` holds values by key, `decision_log` holds entries in three shapes, all of
 * them official. Agents and the validator use A, the command line wrote B, one page of the manual shows C.
 */
export type LogShape = 'A' | 'B' | 'C';

export type DecisionOrigin =
  | { in: 'decisions'; key: string; node: Node }
  | { in: 'log'; shape: LogShape; node: Node; keyed?: Node };

export interface ReadDecisions {
  decisions: ModelDecision[];
  /** The origin of each decision, in the same order. */
  origins: DecisionOrigin[];
}

export function readDecisions(root: Node, steps: ReadonlySet<string>): ReadDecisions {
  const decisions: ModelDecision[] = [];
  const origins: DecisionOrigin[] = [];
  const newestByKey = new Map<string, number>();
  for (const node of elements(member(root, 'decision_log'))) {
    const shape = shapeOf(node);
    const decision = readEntry(node, shape, steps);
    if (decision.key !== undefined) {
      const before = newestByKey.get(decision.key);
      const older = before === undefined ? undefined : decisions[before];
      if (older?.status === 'active') older.status = 'superseded';
      newestByKey.set(decision.key, decisions.length);
    }
    decisions.push(decision);
    origins.push({ in: 'log', shape, node });
  }
  linkSuperseded(decisions, origins);
  for (const [written, node] of members(member(root, 'decisions'))) {
    const words = asWords(getNodeValue(node));
    const key = asLabel(written);
    if (words === undefined || key === undefined) continue;
    const logged = newestByKey.get(key);
    const origin = logged === undefined ? undefined : origins[logged];
    if (logged !== undefined && origin?.in === 'log' && decisions[logged]?.decision === words) {
      origin.keyed = node;
      continue;
    }
    const older = logged === undefined ? undefined : decisions[logged];
    if (older?.status === 'active') older.status = 'superseded';
    decisions.push({ key, decision: words, status: 'active' });
    origins.push({ in: 'decisions', key: written, node });
  }
  return { decisions, origins };
}

export function shapeOf(node: Node): LogShape {
  if (member(node, 'choice') || member(node, 'title') || member(node, 'id')) return 'A';
  return member(node, 'value') || (member(node, 'key') && !member(node, 'decision')) ? 'C' : 'B';
}

/** Returns null for a step that is not one of the run's: `0` means the time before the first. */
export function stepReference(value: unknown, steps: ReadonlySet<string>): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const key = stepKey(String(value));
  return steps.has(key) ? key : undefined;
}

function readEntry(node: Node, shape: LogShape, steps: ReadonlySet<string>): ModelDecision {
  if (node.type !== 'object') return { decision: asText(getNodeValue(node)), status: 'active' };
  const entry = getNodeValue(node) as Record<string, unknown>;
  const said = shape === 'C' ? entry['value'] : (entry['choice'] ?? entry['decision'] ?? entry['title']);
  const status = typeof entry['status'] === 'string' ? entry['status'].toLowerCase() : '';
  const context = asWords(entry['title'] ?? entry['context']);
  const impacts = (Array.isArray(entry['impact']) ? entry['impact'] : [entry['impact']]).flatMap(
    (impact) => asWords(impact) ?? [],
  );
  const alternatives = Array.isArray(entry['alternatives'])
    ? entry['alternatives'].map(asText).filter((text) => text.trim() !== '')
    : entry['alternatives']
      ? [asText(entry['alternatives'])]
      : [];
  return defined({
    alias: asLabel(entry['id']),
    key: asLabel(entry['key']),
    context:
      context === undefined || context === asWords(said) || context === titleFor(asText(said)) ? undefined : context,
    decision: asWords(said) ?? context ?? asText(entry),
    reason: asWords(entry['rationale'] ?? entry['reason']),
    alternatives: alternatives.length > 0 ? alternatives : undefined,
    affects: impacts.length > 0 ? impacts : undefined,
    step: stepReference(entry['step'], steps),
    by: asWho(entry['agent'] ?? entry['decided_by']),
    at: asTime(entry['timestamp']),
    status:
      status === 'superseded' || entry['superseded_by']
        ? ('superseded' as const)
        : /^(retracted|rejected|withdrawn)$/.test(status)
          ? ('retracted' as const)
          : ('active' as const),
    supersedes: asLabel(entry['supersedes']),
  }) as ModelDecision;
}

/** The file names the newer decision on the older one; a run model does it the other way round. */
function linkSuperseded(decisions: ModelDecision[], origins: DecisionOrigin[]): void {
  const byAlias = new Map(decisions.map((decision) => [decision.alias, decision]));
  for (const [index, older] of decisions.entries()) {
    const by = asLabel(member(origins[index]?.node, 'superseded_by')?.value);
    const newer = by === undefined ? undefined : byAlias.get(by);
    if (newer && older.alias !== undefined && newer !== older) newer.supersedes ??= older.alias;
  }
}
