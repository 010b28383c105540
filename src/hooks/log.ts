import { redact } from '../core/redact/redact.ts';
import { oneLine, printable } from '../core/text.ts';
import { openStateFolder, thisUser } from '../workspace/state/folder.ts';

const LIMIT_BYTES = 256 * 1024;
const FILE = 'log/hook.log';

/** A hook prints nothing that the agent or its user would read: errors go to this file, if it can be written. */
export function log(root: string | null, sentence: string, stack?: string): void {
  try {
    const files = openStateFolder(thisUser());
    if (files === null) return;
    // One older file is kept, so the two together stay within twice the limit.
    if (files.size(FILE) > LIMIT_BYTES) files.rename(FILE, 'hook.old.log');
    const where = root === null ? '' : `${oneLine(root, 200)}: `;
    const line = `${new Date().toISOString()} ${where}${oneLine(redact(sentence).text, 500)}\n`;
    files.append(FILE, stack ? `${line}${printable(redact(stack).text)}\n` : line);
  } catch {
    // A log that cannot be written must not disturb the agent.
  }
}
