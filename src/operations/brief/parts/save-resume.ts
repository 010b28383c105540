import { join } from 'node:path';
import { writeAtomically } from '../../../workspace/write.ts';
import type { Context } from '../../context.ts';

/** Puts a brief into `.holdfast/RESUME.md`, for a reader without the tool. */
export function saveResumeText(context: Context, text: string): void {
  const workspace = context.workspace();
  if (!workspace) return;
  try {
    // Not synced to disk: it can be composed again from the journal at any time.
    writeAtomically(join(workspace.folder, 'RESUME.md'), text, false);
  } catch (thrown) {
    context.warn(`RESUME.md could not be written: ${(thrown as Error).message}. The journal has everything.`);
  }
}
