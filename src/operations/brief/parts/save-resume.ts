import { pageAfterCheckpoint, resumePage } from '../../../core/brief/resume-page.ts';
import type { State } from '../../../core/fold/state.ts';
import type { Context } from '../../context.ts';

const FILE = 'RESUME.md';
/** Longer than any page of ours. */
const LIMIT_BYTES = 256 * 1024;

/** Puts a brief into RESUME.md in the data folder, for a reader without the tool. */
export function saveResumeText(context: Context, text: string, state: State): void {
  save(context, resumePage(text, state));
}

/** Brings RESUME.md up to date after checkpoints. False if there is no page to change: the whole must be composed. */
export function saveCheckpoint(context: Context, state: State, checkpointed: ReadonlySet<string>): boolean {
  const page = context.workspace()?.files.read(FILE, LIMIT_BYTES);
  const changed = page ? pageAfterCheckpoint(page, state, checkpointed) : null;
  if (changed === null) return false;
  save(context, changed);
  return true;
}

function save(context: Context, page: string): void {
  const workspace = context.workspace();
  if (!workspace) return;
  try {
    workspace.files.replace(FILE, page, 'derived');
  } catch (thrown) {
    context.warn(`RESUME.md could not be written: ${(thrown as Error).message}. The journal has everything.`);
  }
}
