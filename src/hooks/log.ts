import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { redact } from '../core/redact.ts';
import { oneLine, printable } from '../core/text.ts';

const LIMIT_BYTES = 256 * 1024;

/** A hook prints nothing that the agent or its user would read: errors go to this file, if it can be written. */
export function log(folder: string | null, sentence: string, stack?: string): void {
  if (folder === null) return;
  const file = join(folder, 'hook.log');
  try {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    // One older file is kept, so the two together stay within twice the limit.
    if (size > LIMIT_BYTES) renameSync(file, join(folder, 'hook.old.log'));
    const line = `${new Date().toISOString()} ${oneLine(redact(sentence).text, 500)}\n`;
    appendFileSync(file, stack ? `${line}${printable(redact(stack).text)}\n` : line, { mode: 0o600 });
  } catch {
    // A log that cannot be written must not disturb the agent.
  }
}
