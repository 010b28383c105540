import { getNodeValue, type Node } from 'jsonc-parser';
import type { ModelItem } from '../../core/model/run-model.ts';
import { stepReference } from './decisions.ts';
import { asLabel, asText, asTime, asWho, asWords, defined } from './field-values.ts';
import { elements, member } from './state-file.ts';

/**
 * By definition the titles of unresolved `must_fix` findings. Real files also have objects of six shapes, resolved ones
 * among them.
 */
export interface ReadFindings {
  items: ModelItem[];
  /** The node of each finding, in the same order. */
  origins: Node[];
}

export function readFindings(root: Node, steps: ReadonlySet<string>): ReadFindings {
  const origins = elements(member(root, 'open_findings')).filter((node) => node.value !== '' && node.type !== 'null');
  return {
    items: origins.map((node) =>
      node.type === 'object' ? readObject(node, steps) : readString(asText(getNodeValue(node))),
    ),
    origins: [...origins],
  };
}

/** One project writes `severity|action|id|title|note`; otherwise the whole text is the finding. */
function readString(text: string): ModelItem {
  const parts = text.split('|').map((part) => part.trim());
  const severity = parts.length >= 4 ? severityOf(parts[0]) : null;
  if (severity === null) return { kind: 'finding', text, severity: 'must_fix', status: 'open' };
  const [, action = '', id, title = '', ...note] = parts;
  return defined({
    alias: asLabel(id),
    kind: 'finding' as const,
    text: title || text,
    severity,
    status: statusOf(action),
    resolution: asWords(note.join(' | ')),
  }) as ModelItem;
}

function readObject(node: Node, steps: ReadonlySet<string>): ModelItem {
  const entry = getNodeValue(node) as Record<string, unknown>;
  const status = statusOf(
    entry['status'] ?? (entry['resolved'] === true || entry['resolved_at'] ? 'resolved' : 'open'),
  );
  const said =
    entry['description'] ?? entry['message'] ?? entry['title'] ?? entry['finding'] ?? entry['text'] ?? entry['summary'];
  const actions = entry['recommended_actions'] ?? entry['recommendation'];
  const resource = asWords(entry['resource']);
  return defined({
    alias: asLabel(entry['id'] ?? entry['finding_id']),
    kind: 'finding' as const,
    text: asWords(said) ?? asText(entry),
    status,
    severity: severityOf(entry['severity'] ?? entry['impact']) ?? ('must_fix' as const),
    affects: resource === undefined ? undefined : [resource],
    step: stepReference(entry['step'], steps),
    workaround: asWords(Array.isArray(actions) ? actions.map(asText).join('; ') : actions),
    by: asWho(entry['agent'] ?? entry['raised_by']),
    raisedAt: asTime(entry['timestamp'] ?? entry['raised_at']),
    settledAt: asTime(entry['resolved_at']),
    resolution: asWords(entry['resolution'] ?? (status === 'open' ? undefined : entry['resolved_by'])),
  }) as ModelItem;
}

function severityOf(value: unknown): NonNullable<ModelItem['severity']> | null {
  if (typeof value !== 'string') return null;
  const word = value
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  if (/^(must_fix|critical|high|blocker|severe)$/.test(word)) return 'must_fix';
  if (/^(should_fix|medium|moderate|major)$/.test(word)) return 'should_fix';
  return /^(suggestion|low|minor|info|nit)$/.test(word) ? 'suggestion' : null;
}

function statusOf(value: unknown): ModelItem['status'] {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (/^(resolved|closed|fixed|done|complete|completed|mitigated)$/.test(word)) return 'resolved';
  if (/^(deferred|accepted)$/.test(word)) return 'deferred';
  return /^(withdrawn|rejected|invalid|wont_fix|duplicate)$/.test(word) ? 'withdrawn' : 'open';
}
