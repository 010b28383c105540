import { emptyPage, type LastEnded, originOf, resumePage } from '../../../core/brief/resume-page.ts';
import { inForm, writeBrief } from '../../../core/brief/write.ts';
import {
  type Candidate,
  type Field,
  fieldOf,
  type KnownRun,
  runOfPage,
  type Viewer,
} from '../../../core/choice/candidate.ts';
import type { Run, State } from '../../../core/fold/state.ts';
import { type Line, quote } from '../../../core/line.ts';
import type { GitStatus } from '../../../workspace/git/status.ts';
import { readTreeMark } from '../../../workspace/git/tree-mark.ts';
import { chosenRun } from '../../../workspace/run-presence.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import type { Context } from '../../context.ts';
import { knownRuns, viewerOf } from '../../run/parts/known-runs.ts';
import { asSupervised } from '../../session/parts/gone-sessions.ts';
import { type BriefAnswer, briefFor } from './compose.ts';
import { beginGitStatus } from './evidence.ts';
import { otherRuns } from './other-runs.ts';
import { readResumePage, saveResumePage } from './save-resume.ts';

/** What a reader in the main working tree would continue first, and the rest as it looks from there. */
interface Outlook {
  viewer: Viewer;
  field: Field;
  first: Candidate | null;
}

/**
 * Composes RESUME.md. It is written after many commands, so it does not look at the working tree unless asked to.
 * `state` is that of the run in which something was recorded; null if nothing was. Returns that of the run it is about.
 */
export async function writeResumeFile(
  context: Context,
  state: State | null,
  withEvidence: boolean,
): Promise<State | null> {
  const workspace = context.workspace();
  if (!workspace) return null;
  const { first, ...around } = outlookOf(context, workspace, await knownRuns(context));
  if (!first) {
    saveResumePage(context, emptyPage(lastEnded(state?.run ?? null, around.field), context.now()));
    return null;
  }
  const shown = state?.run?.id === first.run ? state : await (await context.engine()).load(first.run);
  const status = withEvidence ? beginGitStatus(context) : null;
  saveResumePage(context, resumePage(await textFor(context, workspace, shown, around.field, { status }), shown));
  return shown;
}

const SHORT_TOKENS = 450;

/** The same in a form that fits into every conversation; null if nothing is unfinished. */
export async function shortBrief(context: Context): Promise<Line | null> {
  const workspace = context.workspace();
  if (!workspace) return null;
  const { first, field } = outlookOf(context, workspace, await knownRuns(context));
  if (!first) return null;
  const shown = await (await context.engine()).load(first.run);
  const status = beginGitStatus(context);
  return textFor(context, workspace, shown, field, { status, budget: SHORT_TOKENS });
}

/** The brief that a reader has just got, as a file for the next one, if it is of the run that the file is about. */
export async function saveBrief(
  context: Context,
  state: State,
  runs: readonly KnownRun[],
  { answer, isWhole }: { answer: BriefAnswer; isWhole: boolean },
): Promise<void> {
  const workspace = context.workspace();
  if (!workspace) return;
  const { first } = outlookOf(context, workspace, runs);
  if (first?.run !== state.run?.id || workspace.tree !== workspace.root) {
    const page = originOf(readResumePage(context) ?? '');
    const isCurrent = page !== null && page.run === quote(first?.run ?? '', 'title');
    if (!isCurrent) await writeResumeFile(context, state, false);
    return;
  }
  const { facts, parts, reader } = answer;
  // The file speaks of a session by its name, never as the reader's own.
  const text =
    isWhole && reader.session === null
      ? inForm('start', facts, parts)
      : writeBrief(answer.forAnyone(), { ...BUDGET, countTokens: roughTokens }).text;
  saveResumePage(context, resumePage(text, state));
}

const BUDGET = { softTokens: 2000, hardTokens: 2000 };

function outlookOf(context: Context, { root, files }: Workspace, runs: readonly KnownRun[]): Outlook {
  const branch = readTreeMark(root)?.branch ?? null;
  const viewer = { ...viewerOf(context), tree: '', branch, chosen: chosenRun(files, '') };
  const field = fieldOf(runs, viewer);
  return { viewer, field, first: runOfPage(field, viewer) };
}

async function textFor(
  context: Context,
  { root }: Workspace,
  recorded: State,
  field: Field,
  { status, budget }: { status: Promise<GitStatus | null> | null; budget?: number },
): Promise<Line> {
  const { state, ended } = await asSupervised(context, recorded);
  const run = state.run?.id ?? '';
  const { text } = await briefFor({ ...context, run, isRunKnown: true }, state, status, {
    session: null,
    agent: null,
    form: 'start',
    ended,
    others: await otherRuns(await context.engine(), field, run),
    mark: readTreeMark(root),
    // Where a limit applies, the estimate is the exact one.
    ...(budget === undefined ? { countTokens: roughTokens } : { budget }),
  });
  return text;
}

/** The run that was just ended, or the one that was finished last. */
function lastEnded(run: Run | null, { finished }: Field): LastEnded | null {
  if (run?.status === 'archived' || run?.status === 'abandoned')
    return { title: run.title, at: run.endedAt ?? run.updatedAt, as: run.status };
  const last = finished.find(({ facts }) => !facts.isTrivial);
  return last ? { title: last.title, at: last.updatedAt, as: 'finished' } : null;
}

/** Accurate enough for a file that every command writes, where no token limit applies. */
const roughTokens = (text: string): number => Math.ceil(text.length / 3);
