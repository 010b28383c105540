import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRODUCTION } from './first-agent.ts';
import { type Answer, ask, narrate, type Shell, type } from './terminal.ts';

/** The parts of a brief that the second agent uses. */
export interface Brief {
  headline: string;
  position: { step: string; checkpoint: string | null };
  nextAction: { text: string };
  decisions: { decision: string }[];
  constraints: { text: string }[];
  uncertain: { id: string; name: string; class: string }[];
}

export interface Outcome {
  brief: Brief;
  /** The brief as text, as the agent got it at the start of its session. */
  shown: string;
  /** The answer to the first agent's session when it came back. */
  zombie: Answer;
}

/** Plays an agent that knows nothing but the brief: every key and id it uses is from there. */
export async function playSecondAgent(workspace: string, formerSession: string): Promise<Outcome> {
  const variables: Record<string, string> = { HOLDFAST_PID: String(process.pid) };
  const shell = { workspace, variables };
  await narrate('Agent two, codex, another program, has never heard of this work. It asks once.');
  const { stdout } = await type(shell, 'session', 'start', '--agent', 'codex');
  variables['HOLDFAST_SESSION'] = /S-\d+/.exec(stdout)?.[0] ?? '';
  const brief = ask(shell, 'resume') as Brief;
  const { step } = brief.position;

  await narrate('It takes over the step, and checks before it repeats what may have happened already.');
  await type(shell, 'start', step);
  for (const { id, name } of brief.uncertain) {
    const done = readFileSync(join(workspace, PRODUCTION), 'utf8').split('\n').length - 1;
    console.log(`  (codex checks: "${name}" happened ${done === 1 ? 'once' : `${done} times`}; it is not repeated)`);
    await type(shell, 'effect', 'end', id, '--outcome', 'succeeded', '--note', `${PRODUCTION} shows it`);
  }

  await narrate('A process of agent one turns out to be alive and keeps writing. It is refused.');
  const zombie = await type({ workspace, variables: {} }, 'checkpoint', 'migrated', '--session', formerSession);

  await narrate('Agent two finishes the plan.');
  await type(shell, 'checkpoint', 'migrated');
  await type(shell, 'complete', '--summary', 'Migration 42 is applied; the row counts agree');
  await finishRemaining(shell);
  await type(shell, 'session', 'end', '--reason', 'completed');
  return { brief, shown: stdout, zombie };
}

/** Does the steps that the journal names as ready, until there are none. */
async function finishRemaining(shell: Shell): Promise<void> {
  for (;;) {
    const { position } = ask(shell, 'resume') as { position: { ready: string[] } };
    const [ready] = position.ready;
    if (ready === undefined) return;
    await type(shell, 'start', ready);
    await type(shell, 'complete');
  }
}
