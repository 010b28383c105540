import type { Touch } from '../fold/touch.ts';

/** A measured change: the value at a path before and after. */
export interface Change {
  path: string;
  before: unknown;
  after: unknown;
}

/** What a batch of events changed, field by field; empty for a no-op. */
export function changesOf(touches: readonly Touch[]): Change[] {
  const span = new Map<string, { before: object | null; after: object | null }>();
  for (const { kind, id, before, after } of touches) {
    const path = `${kind}.${id}`;
    span.set(path, { before: span.has(path) ? (span.get(path)?.before ?? null) : before, after });
  }
  return [...span].flatMap(([path, { before, after }]) => fieldChanges(path, before, after));
}

/** Internal fields that follow from others. */
const silent = new Set([
  'seenAt',
  'updatedAt',
  'startedVersion',
  'reopenedVersion',
  'confirmedVersion',
  'held',
  'lastSession',
  'lastAgent',
  'passed',
]);

function fieldChanges(path: string, before: object | null, after: object | null): Change[] {
  if (before === null || after === null) {
    return [{ path, before: before === null ? null : stateOf(before), after: after === null ? null : stateOf(after) }];
  }
  const changes: Change[] = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (silent.has(name)) continue;
    const was = (before as Record<string, unknown>)[name];
    const is = (after as Record<string, unknown>)[name];
    if (was !== is && JSON.stringify(was) !== JSON.stringify(is))
      changes.push({ path: `${path}.${name}`, before: was ?? null, after: is ?? null });
  }
  return changes.length > 0 ? changes : confirmation(path, before, after);
}

/** Confirming a step changes only this field, so it is shown. */
function confirmation(path: string, before: object, after: object): Change[] {
  const [was, is] = [before, after].map((row) => ('confirmedVersion' in row ? row.confirmedVersion : undefined));
  return was === is ? [] : [{ path: `${path}.confirmedVersion`, before: was, after: is }];
}

function stateOf(row: object): unknown {
  return 'status' in row ? row.status : 'exists';
}
