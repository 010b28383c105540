import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { oneLine } from '../core/text.ts';
import type { Progress } from '../operations/context.ts';

/** A shorter command ends before a bar could be read. */
const DELAY_MS = 200;
const REDRAW_MS = 80;
const CELLS = 20;

export interface ProgressBar {
  update(progress: Progress): void;
  /** Leaves the line as it was before. */
  clear(): void;
}

/** One line that is overwritten, on a terminal only: in a pipe or a log it would be noise. */
export function openProgressBar(
  write: (text: string) => void = (text) => void writeSync(2, text),
  now: () => number = Date.now,
  columns: number = process.stderr.columns ?? 80,
): ProgressBar {
  const startMs = now();
  let drawn = 0;
  return {
    update(progress) {
      const at = now();
      if (at - startMs < DELAY_MS || at - drawn < REDRAW_MS) return;
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
  // The last column stays free: a terminal would wrap to the next line.
  const room = columns - head.length - 2;
  return room > 12 ? `${head} ${oneLine(at, room)}` : head.slice(0, columns - 1);
}
