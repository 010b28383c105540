import type { State } from '../../../core/fold/state.ts';
import { oneLine, printable } from '../../../core/text.ts';
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

/**
 * Repeats the probes that last verified steps, the newest first, and records the outcomes. A record may come from anyone, so
 * its commands run only after a person at the terminal has seen them and agreed.
 */
export async function repeatProbes(context: Context, state: State): Promise<ProbeOutcome[]> {
  const probed = [...state.steps.values()].flatMap(({ key, verified }) =>
    verified?.probe ? [{ key, probe: verified.probe, at: verified.at }] : [],
  );
  probed.sort((a, b) => (a.at < b.at ? 1 : -1));
  const chosen = probed.slice(0, MOST_PROBES);
  if (chosen.length === 0 || !(await areAgreed(context, chosen))) return [];
  const outcomes: ProbeOutcome[] = [];
  for (const { key, probe } of chosen) {
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

async function areAgreed(context: Context, probes: readonly { key: string; probe: string }[]): Promise<boolean> {
  if (context.ask && context.identity.evidence === 'terminal') {
    const shown = probes.map(({ key, probe }) => `  ${oneLine(key)}: ${printable(probe)}`);
    return context.ask(['These commands are recorded and would be run here:', ...shown].join('\n'), 'Run them?');
  }
  context.warn(
    'The recorded commands were not run: that needs a person at a terminal who has seen them. `holdfast verify KEY --probe COMMAND` runs a command that you name.',
  );
  return false;
}

/** The probe's output goes to standard error, so that the command's own output stays readable. */
export function runProbe(context: Context, command: string): Promise<number | null> {
  return runShell(command, context.workspace()?.tree ?? context.dir);
}
