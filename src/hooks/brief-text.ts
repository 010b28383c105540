import type { BriefForm } from '../core/brief/facts.ts';
import { writeBrief } from '../core/brief/write.ts';
import type { Field, Viewer } from '../core/choice/candidate.ts';
import type { State } from '../core/fold/state.ts';
import { type Line, line, shortened } from '../core/line.ts';
import { briefFor } from '../operations/brief/parts/compose.ts';
import { beginGitStatus } from '../operations/brief/parts/evidence.ts';
import { otherRuns } from '../operations/brief/parts/other-runs.ts';
import type { Context } from '../operations/context.ts';
import { lookAtHistory } from '../operations/journal/parts/known-heads.ts';
import { asSupervised } from '../operations/session/parts/gone-sessions.ts';
import type { GitStatus } from '../workspace/git/status.ts';

export interface Shown {
  form: BriefForm;
  state: State;
  /** The reader's session; null before it has one. */
  session: string | null;
  agent: string;
  conversation?: string | null;
  /** The other runs, where they are named. */
  others?: { field: Field; viewer: Viewer } | undefined;
}

const LIMIT_CHARS = 9500;
/** Names of other runs, and nothing else. */
const OTHERS_TOKENS = 450;

/** The brief of a run. */
export async function briefText(
  context: Context,
  { form, session, agent, conversation = null, others, ...shown }: Shown,
  status: Promise<GitStatus | null> = beginGitStatus(context),
): Promise<Line> {
  const { state, ended } = await asSupervised(context, shown.state);
  const run = state.run?.id ?? '';
  const role = (session === null ? undefined : state.sessions.get(session)?.role) ?? 'worker';
  const reader = { session, agent, role, conversation };
  const { text } = await briefFor({ ...context, run, isRunKnown: true }, state, status, {
    form,
    budget: 'hook',
    ended,
    others: others && (await otherRuns(await context.engine(), others.field, run)),
    isLastFinished: others?.field.candidates.length === 0 && others.field.finished[0]?.run === run,
    ...reader,
  });
  return text;
}

/** Other unfinished runs by name alone, and what is gone of the record; null where there is neither. */
export async function othersText(context: Context, field: Field, now: string): Promise<Line | null> {
  const others = await otherRuns(await context.engine(), field, null);
  const history = await lookAtHistory(context);
  if (others.lines.length === 0 && history === null) return null;
  const form = others.lines.length === 0 ? 'gone' : 'others';
  const facts = { now, form, run: null, others, role: 'worker', history } as const;
  return writeBrief(facts, { softTokens: OTHERS_TOKENS, hardTokens: OTHERS_TOKENS }).text;
}

export function withHint(text: Line | null, hint: Line | null): Line | null {
  if (hint === null) return text;
  return text === null ? hint : shortened(line`${hint}\n\n${text}`, LIMIT_CHARS);
}
