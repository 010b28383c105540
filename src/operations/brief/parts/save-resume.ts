import type { Context } from '../../context.ts';

/** Puts a brief into `RESUME.md` in the data folder, for a reader without the tool. */
export function saveResumeText(context: Context, text: string): void {
  const workspace = context.workspace();
  if (!workspace) return;
  try {
    workspace.files.replace('RESUME.md', text, 'derived');
  } catch (thrown) {
    context.warn(`RESUME.md could not be written: ${(thrown as Error).message}. The journal has everything.`);
  }
}
