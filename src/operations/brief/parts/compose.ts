import { type Brief, composeBrief } from '../../../core/brief/compose.ts';
import { type BriefText, renderBrief } from '../../../core/brief/render.ts';
import type { Decision, Session, State, Step } from '../../../core/fold/state.ts';
import type { SeenEvidence } from '../../../core/views/conflict.ts';
import { ancestorsOf, planView } from '../../../core/views/plan.ts';
import { positionOf } from '../../../core/views/position.ts';
import type { Role } from '../../../core/words.ts';
import type { GitStatus } from '../../../workspace/git-status.ts';
import { probeOwner } from '../../../workspace/process.ts';
import { treeMark } from '../../act.ts';
import type { Context } from '../../context.ts';
import { findEvidence } from './evidence.ts';
import { readingList } from './reading-list.ts';

export interface BriefOptions {
  session: string | null;
  agent: string | null;
  person?: boolean | undefined;
  role?: Role | undefined;
  budgetTokens?: number | undefined;
  /** What others did to mirrors, as it was found. */
  edits?: SeenEvidence['edits'];
}

export async function briefFor(
  context: Context,
  state: State,
  status: Promise<GitStatus | null>,
  options: BriefOptions,
): Promise<BriefText & { brief: Brief }> {
  const engine = await context.engine();
  const effectOwners = new Map<string, 'alive' | 'dead'>();
  for (const effect of state.effects.values()) {
    const verdict = effect.owner ? probeOwner(effect.owner) : undefined;
    if (verdict) effectOwners.set(effect.id, verdict);
  }
  const budgetTokens = options.budgetTokens ?? 2000;
  const position = positionOf(state, planView(state), options.session);
  const brief = composeBrief(state, await engine.liveness(state), {
    budgetTokens,
    role: options.role,
    session: options.session,
    agent: options.agent,
    person: options.person,
    decisions: await decisionsThatBear(context, state, options.session),
    previous: await previousSession(context, state, options.session),
    mark: treeMark(context),
    seen: await findEvidence(context, state, status, options.edits),
    files: await readingList(context, state, position, budgetTokens),
    effectOwners,
  });
  return { brief, ...renderBrief(brief) };
}

/** All of them are to be told; more than these no budget holds. */
const IRREVERSIBLE_LIMIT = 60;

/** Those on the step, its ancestors and its files first, then the irreversible ones, then what replaces others, then the newest. */
async function decisionsThatBear(context: Context, state: State, session: string | null): Promise<Decision[]> {
  const run = state.run?.id ?? '';
  if (state.totals.activeDecisions === 0) return [];
  const engine = await context.engine();
  const step = positionOf(state, planView(state), session).current?.step;
  const keys = step ? [step.key, ...ancestorsOf(state, step).map((above) => above.key), ...filesOf(step)] : [];
  const active = { kind: 'decision', status: 'active', limit: 12 };
  const pages = await Promise.all([
    ...keys.map((key) => engine.rows(run, { ...active, tag: `affects:${key}` })),
    engine.rows(run, { ...active, tag: 'irreversible', limit: IRREVERSIBLE_LIMIT }),
    engine.rows(run, active),
  ]);
  const newest = (pages.at(-1) ?? []).map((record) => record.doc as Decision);
  const replacing = newest.filter((decision) => decision.supersedes);
  const bearing = pages.slice(0, -1).flatMap((page) => page.map((record) => record.doc as Decision));
  return [...new Map([...bearing, ...replacing, ...newest].map((decision) => [decision.id, decision])).values()];
}

/** Each costs a query; a step should name few. */
const FILES_LIMIT = 3;

function filesOf({ context, artifacts }: Step): string[] {
  return [...new Set([...context, ...artifacts.map((artifact) => artifact.path)])].slice(0, FILES_LIMIT);
}

/** The session that worked last on what is to be resumed. */
async function previousSession(context: Context, state: State, mine: string | null): Promise<Session | null> {
  const engine = await context.engine();
  const run = state.run?.id ?? '';
  const last = [...state.steps.values()].find(
    (step) => step.status === 'in_progress' && step.holder === null,
  )?.lastSession;
  const records = last ? await engine.recall(run, [last]) : await engine.rows(run, { kind: 'session', limit: 2 });
  const sessions = records.filter((record) => record.kind === 'session').map((record) => record.doc as Session);
  return sessions.find((session) => session.id !== mine) ?? null;
}
