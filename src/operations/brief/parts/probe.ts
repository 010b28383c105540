import type { State } from '../../../core/fold/state.ts';
import { runShell } from '../../../workspace/program.ts';
import { act } from '../../act.ts';
import type { Context } from '../../context.ts';

/** How many probes are run again at most. */
const AGAIN = 5;

export interface ProbeOutcome {
  step: string;
  probe: string;
  result: 'pass' | 'fail';
  exitCode: number | null;
}

/** Runs again what steps were last verified by, the newest first, and records what comes of it. */
export async function repeatProbes(context: Context, state: State): Promise<ProbeOutcome[]> {
  const probed = [...state.steps.values()].flatMap(({ key, verified }) =>
    verified?.probe ? [{ key, probe: verified.probe, at: verified.at }] : [],
  );
  probed.sort((a, b) => (a.at < b.at ? 1 : -1));
  const outcomes: ProbeOutcome[] = [];
  for (const { key, probe } of probed.slice(0, AGAIN)) {
    const exitCode = await runProbe(context, probe);
    const result = exitCode === 0 ? 'pass' : 'fail';
    await act(context, { type: 'step.verify', step: key, result, probe: { command: probe, exitCode } });
    outcomes.push({ step: key, probe, result, exitCode });
  }
  return outcomes;
}

/** What a probe prints goes to the standard error stream: the answer of the command itself stays readable. */
export function runProbe(context: Context, command: string): Promise<number | null> {
  return runShell(command, context.workspace()?.tree ?? context.dir);
}
