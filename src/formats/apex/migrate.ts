/**
 * The way from 1.0 and 2.0 to 3.0, exactly as its authors wrote it: the version is set; `lock`, `stale_threshold_ms` and
 * the `claim` of every step go. Nothing else moves: the keys that came later are not added and `3.5` keeps its name.
 */
export const CURRENT_VERSION = '3.0';

export function migrate(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (!needsMigration(versionOf(state))) return { ...state };
  const { lock: _, stale_threshold_ms: _s, schema_version: _v, ...others } = state;
  const rest: Record<string, unknown> = others;
  const { steps } = rest;
  if (isRecord(steps))
    rest['steps'] = Object.fromEntries(Object.entries(steps).map(([key, step]) => [key, withoutClaim(step)]));
  // A version that was there keeps its place; one that is new stands first.
  const entries = Object.entries(rest);
  const at =
    'schema_version' in state
      ? Object.keys(state)
          .filter((key) => key in rest || key === 'schema_version')
          .indexOf('schema_version')
      : 0;
  entries.splice(at, 0, ['schema_version', CURRENT_VERSION]);
  return Object.fromEntries(entries);
}

export interface Version {
  /** As it is shown: `3.0`, `session-state/v2`, or null when the file says none. */
  name: string | null;
  /** Null for a dialect of others, which has its own numbers. */
  number: number | null;
}

export function versionOf(state: Readonly<Record<string, unknown>>): Version {
  const written = state['schema_version'];
  if (written === undefined || written === null || written === '') {
    // A dialect of its own that is neither older nor newer; `session-state-v1` beside the usual keys is a plain old file.
    const schema = state['$schema'];
    const foreign = typeof schema === 'string' && /session-state\/v\d/.test(schema) && isRecord(state['gates']);
    return foreign ? { name: schema, number: null } : { name: null, number: 1 };
  }
  const name = String(written);
  if (/^session-state[-/]v3/.test(name)) return { name, number: 3 };
  const number = Number.parseFloat(name.replace(/^v/i, ''));
  return { name, number: Number.isFinite(number) ? number : 1 };
}

export const needsMigration = ({ number }: Version): boolean => number !== null && number < 3;
export const isNewer = ({ number }: Version): boolean => number !== null && number >= 4;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function withoutClaim(step: unknown): unknown {
  if (!isRecord(step)) return step;
  const { claim: _, ...rest } = step;
  return rest;
}
