import { oneLine } from '../core/text.ts';

export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  facts?: Readonly<Record<string, unknown>>,
) => void;

/** One JSON object per line. Text from requests is shortened and made harmless; callers never pass secrets or queries. */
export function createLog(write: (line: string) => void, now: () => string): Log {
  return (level, message, facts = {}) => {
    const safe = Object.entries(facts).map(([name, fact]) => [
      name,
      typeof fact === 'string' ? oneLine(fact, 300) : fact,
    ]);
    write(JSON.stringify({ at: now(), level, message, ...Object.fromEntries(safe) }));
  };
}
