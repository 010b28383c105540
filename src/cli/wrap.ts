import { columnsOf } from '../core/columns.ts';

/** Text broken into lines of so many columns; every line but the first is indented, since the first stands beside something. */
export function wrapped(text: string, columns: number, indent = 0): string {
  const room = Math.max(20, columns - indent - 1);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && columnsOf(line) + 1 + columnsOf(word) > room) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`);
}
