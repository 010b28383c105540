import { evolve } from '../../../core/fold/evolve.ts';
import type { Session, State } from '../../../core/fold/state.ts';
import { forkState } from '../../../core/fold/state-tables.ts';
import { provisionalEvent } from '../../../core/rules/rule-context.ts';
import { supervise } from '../../../core/rules/session.ts';
import { isGone } from '../../../core/views/liveness.ts';
import type { Done } from '../../../engine/execute.ts';
import type { GitStatus } from '../../../workspace/git/status.ts';
import { act, currentState } from '../../act.ts';
import { type Findings, findEvidence } from '../../brief/parts/evidence.ts';
import type { Context } from '../../context.ts';

/**
 * Ends sessions that are gone and records the evidence of what they may have finished. It never completes a step. Returns
 * null when every session is alive.
 */
export async function superviseRun(
  context: Context,
  status?: Promise<GitStatus | null>,
  known?: State,
): Promise<(Done & { run: string }) | null> {
  // Where nothing may be recorded, the brief shows the same.
  if (context.identity.scope === 'read' || context.workspace()?.canWrite === false) return null;
  const state = known ?? (await currentState(context));
  if (state.run?.status !== 'active' && state.run?.status !== 'completed') return null;
  const gone = await goneSessions(context, state);
  if (gone.length === 0) return null;
  const findings = await findEvidence(context, state, { status });
  const evidence = new Map(gone.map((session) => [session.id, evidenceFor(state, session, findings)]));
  // The key belongs to the user's command, not to what it records on the way.
  const identity = { ...context.identity, key: null };
  return act({ ...context, identity }, { type: 'run.supervise', evidence });
}

async function goneSessions(context: Context, state: State): Promise<Session[]> {
  if (state.sessions.size === 0) return [];
  const engine = await context.engine();
  const liveness = await engine.liveness(state);
  return [...state.sessions.values()].filter((session) => isGone(session, liveness));
}

/** Evidence for or against the steps of a session being finished, in sentences. */
function evidenceFor(state: State, session: Session, { files, commitsSince, dirty }: Findings): string[] {
  const steps = [...state.steps.values()].filter((step) => step.holder?.session === session.id);
  const lines = steps.map(({ key, checkpoint, artifacts }) => {
    const own = files.filter((file) => file.step === key || artifacts.some((artifact) => artifact.path === file.path));
    const holds = own.filter((file) => file.verdict === 'holds').length;
    const reached = checkpoint ? `reached checkpoint ${checkpoint.name}` : 'reached no checkpoint';
    const recorded = own.length > 0 ? `; ${holds} of ${own.length} recorded files are as recorded` : '';
    return `Step ${key} ${reached}${recorded}.`;
  });
  if (commitsSince !== null && commitsSince > 0)
    lines.push(`${commitsSince} commits were made since the last recorded event.`);
  if (dirty !== null && dirty > 0) lines.push(`${dirty} files are changed and not committed.`);
  return lines;
}

/** The state as it will be once the sessions that are gone are marked, and those sessions; nothing is recorded. */
export async function asSupervised(context: Context, state: State): Promise<{ state: State; ended: Session[] }> {
  const ended: Session[] = [];
  if ((await goneSessions(context, state)).length === 0) return { state, ended };
  const liveness = await (await context.engine()).liveness(state);
  const { actor, evidence } = context.identity;
  const seen = { ...liveness, state, actor, evidence, session: null, recall: () => null };
  const later = forkState(state);
  for (const draft of supervise(seen, { type: 'run.supervise' })) {
    const touches = evolve(later, provisionalEvent(draft, later, liveness.now, { actor, evidence, session: null }));
    for (const touch of touches) if (touch.kind === 'session' && touch.after) ended.push(touch.after);
  }
  return { state: later, ended };
}
