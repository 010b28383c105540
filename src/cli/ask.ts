import { createInterface } from 'node:readline/promises';
import { printable } from '../core/text.ts';

/** Shows a text on the terminal and asks; anything but yes is no. Standard output is for the answer of the command. */
export async function ask(text: string, question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    process.stderr.write(`${printable(text)}\n`);
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
