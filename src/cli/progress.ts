import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { oneLine } from '../core/text.ts';
import type { Progress } from '../operations/context.ts';

/** What takes less is over before a bar could be read. */
const PATIENCE_MS = 200;
/** More often is more than an eye sees. */
const REDRAW_MS = 80;
const CELLS = 20;

export interface ProgressBar {
  tell(progress: Progress): void;
  /** Leaves the line as it was before. */
  clear(): void;
}

/** One line that is written over, on a terminal and nowhere else: in a pipe or a log it would be noise. */
export function openProgressBar(
  write: (text: string) => void = (text) => void writeSync(2, text),
  now: () => number = Date.now,
  columns: number = process.stderr.columns ?? 80,
): ProgressBar {
  const began = now();
  let drawn = 0;
  return {
    tell(progress) {
      const at = now();
      if (at - began < PATIENCE_MS || at - drawn < REDRAW_MS) return;
      drawn = at;
      write(`\r\u001b[K${lineOf(progress, columns)}`);
    },
    clear() {
      if (drawn > 0) write('\r\u001b[K');
      drawn = 0;
    },
  };
}

export const canShowProgress = (): boolean => isatty(2);

function lineOf({ doing, done, total, at }: Progress, columns: number): string {
  const cells = Math.round((CELLS * done) / Math.max(total, 1));
  const head = `${doing} ${'█'.repeat(cells)}${'░'.repeat(CELLS - cells)} ${done} of ${total}`;
  // The last column is left free: a terminal would go to the next line.
  const room = columns - head.length - 2;
  return room > 12 ? `${head} ${oneLine(at, room)}` : head.slice(0, columns - 1);
}
