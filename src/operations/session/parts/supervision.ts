import type { Session, State } from '../../../core/fold/state.ts';
import { isGone } from '../../../core/views/liveness.ts';
import type { Done } from '../../../engine/execute.ts';
import type { GitStatus } from '../../../workspace/git-status.ts';
import { act, currentState } from '../../act.ts';
import { type Findings, findEvidence } from '../../brief/parts/evidence.ts';
import type { Context } from '../../context.ts';

/**
 * Marks sessions that are gone, after a look for what they may have finished: what was found is recorded with the crash.
 * It never completes a step by itself. Null when every session is alive.
 */
export async function superviseRun(
  context: Context,
  status?: Promise<GitStatus | null>,
): Promise<(Done & { run: string }) | null> {
  // Whoever may only look marks nobody; what it sees is all the same.
  if (context.identity.scope === 'read') return null;
  const state = await currentState(context);
  if (state.run?.status !== 'active' && state.run?.status !== 'completed') return null;
  const gone = await goneSessions(context, state);
  if (gone.length === 0) return null;
  const findings = await findEvidence(context, state, status);
  const evidence = new Map(gone.map((session) => [session.id, tellEvidence(state, session, findings)]));
  // A key belongs to the command that was given, not to what it finds on its way.
  const identity = { ...context.identity, key: null };
  return act({ ...context, identity: identity }, { type: 'run.supervise', evidence });
}

async function goneSessions(context: Context, state: State): Promise<Session[]> {
  if (state.sessions.size === 0) return [];
  const engine = await context.engine();
  const liveness = await engine.liveness(state);
  return [...state.sessions.values()].filter((session) => isGone(session, liveness));
}

/** What speaks for or against the steps of a session having been finished, in sentences. */
function tellEvidence(state: State, session: Session, { files, commitsSince, dirty }: Findings): string[] {
  const steps = [...state.steps.values()].filter((step) => step.holder?.session === session.id);
  const told = steps.map(({ key, checkpoint, artifacts }) => {
    const own = files.filter((file) => file.step === key || artifacts.some((artifact) => artifact.path === file.path));
    const holds = own.filter((file) => file.verdict === 'holds').length;
    const reached = checkpoint ? `reached checkpoint ${checkpoint.name}` : 'reached no checkpoint';
    const recorded = own.length > 0 ? `; ${holds} of ${own.length} recorded files are as recorded` : '';
    return `Step ${key} ${reached}${recorded}.`;
  });
  if (commitsSince !== null && commitsSince > 0) told.push(`${commitsSince} commits were made since the last record.`);
  if (dirty !== null && dirty > 0) told.push(`${dirty} files are changed and not committed.`);
  return told;
}
