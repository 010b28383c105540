import { type Brief, composeBrief } from '../../../core/brief/compose.ts';
import { type BriefText, type CountTokens, renderBrief } from '../../../core/brief/render.ts';
import type { Decision, Session, State, Step } from '../../../core/fold/state.ts';
import type { SeenEvidence } from '../../../core/views/conflict.ts';
import { ancestorsOf, planView } from '../../../core/views/plan.ts';
import { positionOf } from '../../../core/views/position.ts';
import type { Role } from '../../../core/words.ts';
import type { GitStatus } from '../../../workspace/git-status.ts';
import { probeOwner } from '../../../workspace/process.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';
import { findEvidence } from './evidence.ts';
import { readingList } from './reading-list.ts';

export interface BriefOptions {
  session: string | null;
  agent: string | null;
  person?: boolean | undefined;
  role?: Role | undefined;
  budgetTokens?: number | undefined;
  /** Edits of mirrored files that were just found. */
  edits?: SeenEvidence['edits'];
  countTokens?: CountTokens | undefined;
}

/** The brief of a run. With `status` null it is composed from the journal alone, without a look at the working tree. */
export async function briefFor(
  context: Context,
  state: State,
  status: Promise<GitStatus | null> | null,
  { edits, countTokens, budgetTokens = 2000, ...reader }: BriefOptions,
): Promise<BriefText & { brief: Brief }> {
  const engine = await context.engine();
  const position = positionOf(state, planView(state), reader.session);
  const brief = composeBrief(state, await engine.liveness(state), {
    ...reader,
    budgetTokens,
    decisions: await decisionsAbout(context, state, position.current?.step),
    previous: await previousSession(context, state, reader.session),
    ...(status && {
      mark: treeMark(context),
      seen: await findEvidence(context, state, status, edits),
      files: await readingList(context, state, position, budgetTokens),
      effectOwners: probeOwners(state),
    }),
  });
  return { brief, ...renderBrief(brief, countTokens) };
}

function probeOwners({ effects }: State): Map<string, 'alive' | 'dead'> {
  const owners = new Map<string, 'alive' | 'dead'>();
  for (const { id, owner } of effects.values()) {
    const verdict = owner ? probeOwner(owner) : undefined;
    if (verdict) owners.set(id, verdict);
  }
  return owners;
}

/** Every irreversible decision belongs in the brief; no budget holds more than these. */
const IRREVERSIBLE_LIMIT = 60;
const NEWEST_LIMIT = 12;

/** Decisions about the step, its ancestors and its files first, then irreversible ones, then those that replace others, then the newest. */
async function decisionsAbout(context: Context, state: State, step: Step | undefined): Promise<Decision[]> {
  const run = state.run?.id ?? '';
  const total = state.totals.activeDecisions;
  if (total === 0) return [];
  const engine = await context.engine();
  const keys = step ? [step.key, ...ancestorsOf(state, step).map((above) => above.key), ...filesOf(step)] : [];
  const active = { kind: 'decision', status: 'active' };
  // Few are read with one query instead of one per tag: RESUME.md needs them after most commands.
  const all = total <= IRREVERSIBLE_LIMIT ? await engine.rows(run, { ...active, limit: total }) : null;
  const page = async (limit: number, tag?: string) =>
    all
      ? all.filter(({ tags }) => tag === undefined || tags.includes(tag)).slice(0, limit)
      : engine.rows(run, { ...active, limit, ...(tag === undefined ? {} : { tag }) });
  const pages = await Promise.all([
    ...keys.map((key) => page(NEWEST_LIMIT, `affects:${key}`)),
    page(IRREVERSIBLE_LIMIT, 'irreversible'),
    page(NEWEST_LIMIT),
  ]);
  const newest = (pages.at(-1) ?? []).map((row) => row.doc as Decision);
  const replacing = newest.filter((decision) => decision.supersedes);
  const related = pages.slice(0, -1).flatMap((page) => page.map((row) => row.doc as Decision));
  return [...new Map([...related, ...replacing, ...newest].map((decision) => [decision.id, decision])).values()];
}

/** Each file costs a query; a step should name few. */
const FILES_LIMIT = 3;

function filesOf({ context, artifacts }: Step): string[] {
  return [...new Set([...context, ...artifacts.map((artifact) => artifact.path)])].slice(0, FILES_LIMIT);
}

/** The last session that worked on what is resumed. */
async function previousSession(context: Context, state: State, mine: string | null): Promise<Session | null> {
  const engine = await context.engine();
  const run = state.run?.id ?? '';
  const last = [...state.steps.values()].find(
    (step) => step.status === 'in_progress' && step.holder === null,
  )?.lastSession;
  const rows = last ? await engine.recall(run, [last]) : await engine.rows(run, { kind: 'session', limit: 2 });
  const sessions = rows.filter((row) => row.kind === 'session').map((row) => row.doc as Session);
  return sessions.find((session) => session.id !== mine) ?? null;
}
