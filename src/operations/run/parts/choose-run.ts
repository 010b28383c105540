import { keepChosenRun } from '../../../workspace/run-presence.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';

/** Makes a run the one of this working tree; null for none. RESUME.md is about the chosen run first. */
export async function chooseForTree(context: Context, run: string | null): Promise<void> {
  const workspace = context.workspace();
  if (!workspace) return;
  keepChosenRun(workspace.files, treeMark(context)?.tree ?? '', run);
  const { writeResumeFile } = await import('../../brief/parts/resume-file.ts');
  await writeResumeFile(context, null, false);
}
