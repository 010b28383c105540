import { oneLine } from '../core/text.ts';

export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  facts?: Readonly<Record<string, unknown>>,
) => void;

/**
 * One JSON object per line. Text from requests is shortened and made harmless; callers never pass secrets or queries. At a
 * terminal a person has read what the command printed: only warnings and errors follow.
 */
export function createLog(write: (line: string) => void, now: () => string, isTerminal = false): Log {
  return (level, message, facts = {}) => {
    if (isTerminal && level === 'info') return;
    const safe = Object.entries(facts).map(([name, fact]) => [
      name,
      typeof fact === 'string' ? oneLine(fact, 300) : fact,
    ]);
    write(JSON.stringify({ at: now(), level, message, ...Object.fromEntries(safe) }));
  };
}
