import { oneLine } from '../core/text.ts';

export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  facts?: Readonly<Record<string, unknown>>,
) => void;

/** One JSON object a line. What comes from outside is shortened and made harmless; secrets and queries are never passed here. */
export function createLog(write: (line: string) => void, now: () => string): Log {
  return (level, message, facts = {}) => {
    const safe = Object.entries(facts).map(([name, fact]) => [
      name,
      typeof fact === 'string' ? oneLine(fact, 300) : fact,
    ]);
    write(JSON.stringify({ at: now(), level, message, ...Object.fromEntries(safe) }));
  };
}
