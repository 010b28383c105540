import { roughTokens } from '../../../core/brief/render.ts';
import type { State } from '../../../core/fold/state.ts';
import type { Context } from '../../context.ts';
import { briefFor } from './compose.ts';
import { beginGitStatus } from './evidence.ts';
import { saveResumeText } from './save-resume.ts';

/** Composes RESUME.md. It is written after many commands, so it does not look at the working tree unless asked to. */
export async function writeResumeFile(context: Context, state: State, withEvidence: boolean): Promise<void> {
  const status = withEvidence ? beginGitStatus(context) : null;
  const reader = { session: null, agent: null };
  const { text } = await briefFor(context, state, status, { ...reader, countTokens: roughTokens });
  saveResumeText(context, text, state);
}
