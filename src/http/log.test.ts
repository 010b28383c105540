import { expect, it } from 'vitest';
import { createLog } from './log.ts';

it.each([
  [false, ['info', 'error']],
  [true, ['error']],
])('at a terminal (%s) it writes %j', (isTerminal, levels) => {
  const lines: string[] = [];
  const log = createLog(
    (line) => lines.push(line),
    () => '2026-11-18T00:00:00.000Z',
    isTerminal,
  );
  log('info', 'listening', { url: 'http://x' });
  log('error', 'failed', { text: 'a\u001b[31mb' });
  expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(levels);
  expect(lines.join()).not.toContain('\\u001b');
});
