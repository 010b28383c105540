import type { Session, State } from '../../../core/fold/state.ts';
import type { Done } from '../../../engine/execute.ts';
import type { GitStatus } from '../../../workspace/git/status.ts';
import { act, currentState } from '../../act.ts';
import { type Findings, findEvidence } from '../../brief/parts/evidence.ts';
import type { Context } from '../../context.ts';
import { goneSessions } from './gone-sessions.ts';

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
