import type { State } from '../../../core/fold/state.ts';
import { runShell } from '../../../workspace/program.ts';
import { actPart } from '../../act.ts';
import type { Context } from '../../context.ts';

const MOST_PROBES = 5;

export interface ProbeOutcome {
  step: string;
  probe: string;
  result: 'pass' | 'fail';
  exitCode: number | null;
}

/** Repeats the probes that last verified steps, the newest first, and records the outcomes. */
export async function repeatProbes(context: Context, state: State): Promise<ProbeOutcome[]> {
  const probed = [...state.steps.values()].flatMap(({ key, verified }) =>
    verified?.probe ? [{ key, probe: verified.probe, at: verified.at }] : [],
  );
  probed.sort((a, b) => (a.at < b.at ? 1 : -1));
  const outcomes: ProbeOutcome[] = [];
  for (const { key, probe } of probed.slice(0, MOST_PROBES)) {
    const exitCode = await runProbe(context, probe);
    const result = exitCode === 0 ? 'pass' : 'fail';
    await actPart(context, `probe of ${key}`, {
      type: 'step.verify',
      step: key,
      result,
      probe: { command: probe, exitCode },
    });
    outcomes.push({ step: key, probe, result, exitCode });
  }
  return outcomes;
}

/** The probe's output goes to standard error, so that the command's own output stays readable. */
export function runProbe(context: Context, command: string): Promise<number | null> {
  return runShell(command, context.workspace()?.tree ?? context.dir);
}
