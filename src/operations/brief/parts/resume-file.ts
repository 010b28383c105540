import type { BriefFacts } from '../../../core/brief/facts.ts';
import { emptyPage, type LastEnded } from '../../../core/brief/resume-page.ts';
import { type BriefText, inForm, writeBrief } from '../../../core/brief/write.ts';
import type { Run, State } from '../../../core/fold/state.ts';
import type { Context } from '../../context.ts';
import { briefFor } from './compose.ts';
import { beginGitStatus } from './evidence.ts';
import { saveResumePage, saveResumeText } from './save-resume.ts';

/** Composes RESUME.md. It is written after many commands, so it does not look at the working tree unless asked to. */
export async function writeResumeFile(context: Context, state: State, withEvidence: boolean): Promise<void> {
  const status = withEvidence ? beginGitStatus(context) : null;
  const shown = state.run?.status === 'active' ? state : await otherRun(context, state);
  if (shown === null) return saveResumePage(context, emptyPage(lastEnded(state.run), context.now()));
  const reader = { session: null, agent: null, form: 'start' as const };
  const { text } = await briefFor(context, shown, status, { ...reader, countTokens: roughTokens });
  saveResumeText(context, text, shown);
}

/** The brief that a reader has just got, as a file for the next one. Without its parts it is written again. */
export function saveBrief(context: Context, state: State, facts: BriefFacts, parts: BriefText['parts'] | null): void {
  if (state.run?.status !== 'active') return;
  const text = parts
    ? inForm('start', facts, parts)
    : writeBrief({ ...facts, form: 'start' }, { ...BUDGET, countTokens: roughTokens }).text;
  saveResumeText(context, text, state);
}

const BUDGET = { softTokens: 2000, hardTokens: 2000 };

/** The run of this workspace that was changed last, of those that go on. */
async function otherRun(context: Context, state: State): Promise<State | null> {
  const workspace = context.workspace();
  if (!workspace) return null;
  const engine = await context.engine();
  const heads = await engine.heads({ workspace: workspace.ids, status: 'active', limit: 2 });
  const other = heads.find((head) => head.run !== state.run?.id);
  return other ? engine.load(other.run) : null;
}

function lastEnded(run: Run | null): LastEnded | null {
  if (!run) return null;
  const as = run.status === 'archived' || run.status === 'abandoned' ? run.status : 'finished';
  return { title: run.title, at: run.endedAt ?? run.updatedAt, as };
}

/** Accurate enough for a file that every command writes, where no token limit applies. */
const roughTokens = (text: string): number => Math.ceil(text.length / 3);
