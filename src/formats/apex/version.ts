import { isObject } from '../is-object.ts';
import type { Editor } from '../text/editor.ts';
import { at, itemsOf, type MapNode, type Node, pairsOf } from '../text/node.ts';

/**
 * Migrates 1.0 and 2.0 to 3.0 exactly as the authors do: sets the version and removes `lock`, `stale_threshold_ms` and
 * the `claim` of every step. Nothing else changes: later keys are not added and `3.5` keeps its name.
 */
export const CURRENT_VERSION = '3.0';

export function migrate(editor: Editor, root: MapNode): void {
  editor.set(root, 'schema_version', CURRENT_VERSION, 'first');
  for (const key of ['lock', 'stale_threshold_ms']) editor.removeKey(root, key);
  for (const step of stepNodes(root)) if (step.type === 'map') editor.removeKey(step, 'claim');
}

const stepNodes = (root: MapNode): readonly Node[] => {
  const steps = at(root, 'steps');
  return steps?.type === 'list' ? itemsOf(steps) : pairsOf(steps).map(({ value }) => value);
};

export interface Version {
  /** For display: `3.0`, `session-state/v2`, or null when the file has none. */
  name: string | null;
  /** Null for a foreign variant, which has its own numbering. */
  number: number | null;
}

export function versionOf(state: Readonly<Record<string, unknown>>): Version {
  const written = state['schema_version'];
  if (written === undefined || written === null || written === '') {
    // A separate variant, neither older nor newer; `session-state-v1` with the usual keys is a plain old file.
    const schema = state['$schema'];
    const foreign = typeof schema === 'string' && /session-state\/v\d/.test(schema) && isObject(state['gates']);
    return foreign ? { name: schema, number: null } : { name: null, number: 1 };
  }
  const name = typeof written === 'string' ? written : JSON.stringify(written);
  if (/^session-state[-/]v3/.test(name)) return { name, number: 3 };
  const number = Number.parseFloat(name.replace(/^v/i, ''));
  return { name, number: Number.isFinite(number) ? number : 1 };
}

export const needsMigration = ({ number }: Version): boolean => number !== null && number < 3;
export const isNewer = ({ number }: Version): boolean => number !== null && number >= 4;
