import { join } from 'node:path';
import { composeBrief } from '../../../core/brief/compose.ts';
import { renderBrief, roughTokens } from '../../../core/brief/render.ts';
import type { State } from '../../../core/fold/state.ts';
import { writeAtomically } from '../../../workspace/write.ts';
import type { Context } from '../../context.ts';

/** `.holdfast/RESUME.md`, for a reader without the tool: rewritten whenever the place of the work moves. */
export async function writeResumeFile(context: Context, state: State): Promise<void> {
  const workspace = context.workspace();
  if (!workspace || !state.run) return;
  const engine = await context.engine();
  const brief = composeBrief(state, await engine.liveness(state), { budgetTokens: 2000 });
  saveResumeText(context, renderBrief(brief, roughTokens).text);
}

export function saveResumeText(context: Context, text: string): void {
  const workspace = context.workspace();
  if (!workspace) return;
  try {
    // Not synced to disk: it can be made again from the journal at any time.
    writeAtomically(join(workspace.folder, 'RESUME.md'), text, false);
  } catch (thrown) {
    context.warn(`RESUME.md could not be written: ${(thrown as Error).message}. The journal has everything.`);
  }
}
