import { writeSync } from 'node:fs';
import { cutToColumns } from '../core/columns.ts';
import { Fault } from '../core/fault.ts';
import { type Quoted, quoteChars } from '../core/line.ts';
import { oneLine, printable } from '../core/text.ts';
import type { Pen } from '../operations/operation.ts';

export interface TerminalPen extends Pen {
  paints: boolean;
}

/** Below this a title says nothing any more: then the line wraps. */
const LEAST_COLUMNS = 24;

/** The width is asked for where a line must fit: finding it out loads a part of Node that most commands do without. */
export function penFor(color: boolean, columns: () => number = () => Number.POSITIVE_INFINITY): TerminalPen {
  const paint =
    (code: number) =>
    <Text extends string>(text: Text): Text =>
      color ? (`\u001b[${code}m${text}\u001b[0m` as Text) : text;
  return {
    bold: paint(1),
    dim: paint(2),
    good: paint(32),
    bad: paint(31),
    warn: paint(33),
    quote: (text, kind = 'text', mostChars = quoteChars[kind]) =>
      oneLine(text, Math.min(quoteChars[kind], mostChars)) as Quoted,
    fit: (text, taken) => cutToColumns(oneLine(text, 80), Math.max(LEAST_COLUMNS, columns() - taken - 1)) as Quoted,
    whole: (text) => printable(text) as Quoted,
    pad: (text, width) => text.padEnd(width) as typeof text,
    paints: color,
  };
}

/** One line of JSON that is safe to show: characters that a terminal could interpret are escaped. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g,
    (characters) =>
      Array.from({ length: characters.length }, (_, unit) => escapeOf(characters.charCodeAt(unit))).join(''),
  );
}

const escapeOf = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;

/** Writes synchronously, so that nothing is lost when the process exits, even to a pipe. */
export function print(stream: 1 | 2, text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(stream, bytes, offset);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === 'EPIPE') return;
      // The pipe is full: wait a moment and continue.
      if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      else {
        throw new Fault('unavailable', `The output could not be written: ${(thrown as Error).message}.`, {
          hints: ['The command itself took effect: see `holdfast log`.'],
          cause: thrown,
        });
      }
    }
  }
}
