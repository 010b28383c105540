import * as v from 'valibot';
import { type Brief, composeBrief } from '../core/brief.ts';
import { type BriefText, renderBrief } from '../core/brief-text.ts';
import { ancestorsOf, planView } from '../core/derive.ts';
import { Role } from '../core/event.ts';
import { positionOf } from '../core/position.ts';
import type { Decision, Session, State } from '../core/state.ts';
import { probeOwner } from '../workspace/process.ts';
import { act, currentState, treeMark } from './act.ts';
import type { Context } from './context.ts';
import { defineOperation, described } from './operation.ts';
import { saveResumeText } from './resume-file.ts';

const List = v.array(v.looseObject({}));

export const resume = defineOperation({
  name: 'resume',
  summary: 'Say where the work stands, the next action and what must be known.',
  scope: 'read',
  examples: ['holdfast resume', 'holdfast resume --budget 1000 --json'],
  input: v.object({
    budget: v.optional(
      described(
        v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(100_000)),
        'Tokens for the whole text (default 2000).',
      ),
    ),
    role: v.optional(described(Role, 'Changes the emphasis.')),
    strict: v.optional(described(v.boolean(), 'Exit with 1 while conflicts are open.')),
  }),
  output: v.object({
    run: v.looseObject({ id: v.string(), title: v.string() }),
    headline: v.string(),
    freshness: v.looseObject({ text: v.string() }),
    uncertain: List,
    conflicts: List,
    position: v.looseObject({ step: v.nullable(v.string()), checkpoint: v.nullable(v.string()) }),
    nextAction: v.looseObject({ text: v.string(), basis: v.string() }),
    errors: List,
    blockers: List,
    mail: v.object({ unread: List, pendingAcks: List, unanswered: List }),
    commitments: List,
    others: List,
    owed: v.array(v.string()),
    decisions: List,
    decisionsTotal: v.number(),
    files: List,
    questions: List,
    findings: List,
    constraints: List,
    deadEnds: List,
    role: v.string(),
    budget: v.object({ limit: v.number(), used: v.number(), omitted: v.record(v.string(), v.number()) }),
    text: v.string(),
  }),
  async run(context, { budget, role }) {
    const state = await stateAfterSupervision(context);
    const { actor, session } = context.caller;
    const own = session ?? [...state.sessions.values()].find((one) => one.agent === actor.name)?.id ?? null;
    const { brief, text, usedTokens, omitted } = await briefFor(context, state, {
      session: own,
      agent: actor.name,
      role,
      budgetTokens: budget,
    });
    saveResumeText(context, text);
    const { budgetTokens, ...rest } = brief;
    return { data: { ...rest, budget: { limit: budgetTokens, used: usedTokens, omitted }, text } as never };
  },
  say: ({ text }) => text.trimEnd(),
  verdict: ({ conflicts }, { strict }) => (strict && conflicts.length > 0 ? 1 : 0),
});

interface BriefOptions {
  session: string | null;
  agent: string | null;
  role?: Role | undefined;
  budgetTokens?: number | undefined;
}

/** Resuming records the crashes it finds, and nothing else. */
async function stateAfterSupervision(context: Context): Promise<State> {
  const state = await currentState(context);
  if (state.sessions.size === 0 || (state.run?.status !== 'active' && state.run?.status !== 'completed')) return state;
  return (await act({ ...context, caller: { ...context.caller, key: null } }, { type: 'run.supervise' })).state;
}

export async function briefFor(
  context: Context,
  state: State,
  options: BriefOptions,
): Promise<BriefText & { brief: Brief }> {
  const engine = await context.engine();
  const effectOwners = new Map<string, 'alive' | 'dead'>();
  for (const effect of state.effects.values()) {
    const verdict = effect.owner ? probeOwner(effect.owner) : undefined;
    if (verdict) effectOwners.set(effect.id, verdict);
  }
  const brief = composeBrief(state, await engine.vitals(state), {
    budgetTokens: options.budgetTokens ?? 2000,
    role: options.role,
    session: options.session,
    agent: options.agent,
    decisions: await decisionsThatBear(context, state, options.session),
    previous: await previousSession(context, state, options.session),
    mark: treeMark(context),
    effectOwners,
  });
  return { brief, ...renderBrief(brief) };
}

/** Those on the step and its ancestors first, then the irreversible ones, then the newest. */
async function decisionsThatBear(context: Context, state: State, session: string | null): Promise<Decision[]> {
  const run = state.run?.id ?? '';
  if (state.totals.activeDecisions === 0) return [];
  const engine = await context.engine();
  const step = positionOf(state, planView(state), session).current?.step;
  const keys = step ? [step.key, ...ancestorsOf(state, step).map((above) => above.key)] : [];
  const active = { kind: 'decision', status: 'active', limit: 20 };
  const pages = await Promise.all([
    ...keys.map((key) => engine.records(run, { ...active, tag: `affects:${key}` })),
    engine.records(run, { ...active, tag: 'irreversible' }),
    engine.records(run, active),
  ]);
  const found = new Map(pages.flat().map((record) => [record.id, record.doc as Decision]));
  return [...found.values()];
}

/** The session that worked last on what is to be resumed. */
async function previousSession(context: Context, state: State, mine: string | null): Promise<Session | null> {
  const engine = await context.engine();
  const run = state.run?.id ?? '';
  const last = [...state.steps.values()].find(
    (step) => step.status === 'in_progress' && step.holder === null,
  )?.lastSession;
  const records = last ? await engine.recall(run, [last]) : await engine.records(run, { kind: 'session', limit: 2 });
  const sessions = records.filter((record) => record.kind === 'session').map((record) => record.doc as Session);
  return sessions.find((session) => session.id !== mine) ?? null;
}
