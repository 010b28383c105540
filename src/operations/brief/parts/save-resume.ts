import { isPageOfOther, isSamePage, pageAfterCheckpoint } from '../../../core/brief/resume-page.ts';
import { reasonOf } from '../../../core/fault.ts';
import type { State } from '../../../core/fold/state.ts';
import type { Context } from '../../context.ts';

export const RESUME_FILE = 'RESUME.md';
/** Longer than any page of ours. */
const LIMIT_BYTES = 256 * 1024;

/** RESUME.md in the data folder, for a reader without the tool. */
export const readResumePage = (context: Context): string | null =>
  context.workspace()?.files.read(RESUME_FILE, LIMIT_BYTES) ?? null;

/**
 * Brings RESUME.md up to date after checkpoints; the page of another run is left alone. False if there is no page to
 * change: the whole must be composed.
 */
export function saveCheckpoint(context: Context, state: State, checkpointed: ReadonlySet<string>): boolean {
  const page = readResumePage(context);
  if (page !== null && isPageOfOther(page, state)) return true;
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
    const before = readResumePage(context);
    if (before === null || !isSamePage(before, page)) workspace.files.replace(RESUME_FILE, page, 'derived');
  } catch (thrown) {
    context.warn(`RESUME.md could not be written: ${reasonOf(thrown)}. The journal has everything.`);
  }
}
