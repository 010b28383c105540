import { writeSync } from 'node:fs';
import { Fault } from '../core/fault.ts';
import type { Pen } from '../operations/operation.ts';

export interface TerminalPen extends Pen {
  paints: boolean;
}

/** Colour on a terminal only, and not where the user does not want it. */
export function penFor(color: boolean): TerminalPen {
  const paint = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { bold: paint(1), dim: paint(2), good: paint(32), bad: paint(31), warn: paint(33), paints: color };
}

/** One line of JSON that is safe to show: what a terminal could take for a command is written as an escape. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g,
    (characters) =>
      Array.from({ length: characters.length }, (_, unit) => escapeOf(characters.charCodeAt(unit))).join(''),
  );
}

const escapeOf = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;

/** Writes all of it before the process ends, to a pipe too. */
export function print(stream: 1 | 2, text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(stream, bytes, offset);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === 'EPIPE') return;
      // A pipe whose reader is slow: wait a moment and go on.
      if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      else {
        throw new Fault('unavailable', `The answer could not be written: ${(thrown as Error).message}.`, {
          hints: ['What the command did stands all the same: look with `holdfast log`.'],
          cause: thrown,
        });
      }
    }
  }
}
