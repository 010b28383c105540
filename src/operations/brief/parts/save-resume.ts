import { isSamePage, pageAfterCheckpoint, resumePage } from '../../../core/brief/resume-page.ts';
import type { State } from '../../../core/fold/state.ts';
import type { Context } from '../../context.ts';

export const RESUME_FILE = 'RESUME.md';
/** Longer than any page of ours. */
const LIMIT_BYTES = 256 * 1024;

/** Puts a brief into RESUME.md in the data folder, for a reader without the tool. */
export function saveResumeText(context: Context, text: string, state: State): void {
  saveResumePage(context, resumePage(text, state));
}

/** Brings RESUME.md up to date after checkpoints. False if there is no page to change: the whole must be composed. */
export function saveCheckpoint(context: Context, state: State, checkpointed: ReadonlySet<string>): boolean {
  const page = context.workspace()?.files.read(RESUME_FILE, LIMIT_BYTES);
  const changed = page ? pageAfterCheckpoint(page, state, checkpointed, context.now()) : null;
  if (changed === null) return false;
  saveResumePage(context, changed);
  return true;
}

/** Written only if it says something else than before. */
export function saveResumePage(context: Context, page: string): void {
  const workspace = context.workspace();
  if (!workspace) return;
  try {
    const before = workspace.files.read(RESUME_FILE, LIMIT_BYTES);
    if (before === null || !isSamePage(before, page)) workspace.files.replace(RESUME_FILE, page, 'derived');
  } catch (thrown) {
    context.warn(`RESUME.md could not be written: ${(thrown as Error).message}. The journal has everything.`);
  }
}
