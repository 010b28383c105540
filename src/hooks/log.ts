import { redact } from '../core/redact/redact.ts';
import { oneLine, printable } from '../core/text.ts';
import type { OwnFiles } from '../workspace/own-files.ts';

const LIMIT_BYTES = 256 * 1024;
const FILE = 'hook.log';

/** A hook prints nothing that the agent or its user would read: errors go to this file, if it can be written. */
export function log(files: OwnFiles | null, sentence: string, stack?: string): void {
  if (files === null) return;
  try {
    // One older file is kept, so the two together stay within twice the limit.
    if (files.size(FILE) > LIMIT_BYTES) files.rename(FILE, 'hook.old.log');
    const line = `${new Date().toISOString()} ${oneLine(redact(sentence).text, 500)}\n`;
    files.append(FILE, stack ? `${line}${printable(redact(stack).text)}\n` : line);
  } catch {
    // A log that cannot be written must not disturb the agent.
  }
}
