import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRODUCTION } from './first-agent.ts';
import { type Answer, ask, narrate, type Shell, type } from './terminal.ts';

/** The parts of a brief that the second agent goes by. */
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
  /** The brief as text, as the agent was shown it when it sat down. */
  shown: string;
  /** What the first agent's session was told when it came back. */
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

  await narrate('It takes the step over, and looks before it repeats what may have happened already.');
  await type(shell, 'start', step);
  for (const { id, name } of brief.uncertain) {
    const done = readFileSync(join(workspace, PRODUCTION), 'utf8').split('\n').length - 1;
    console.log(`  (codex looks: "${name}" happened ${done === 1 ? 'once' : `${done} times`}; it is not repeated)`);
    await type(shell, 'effect', 'end', id, '--outcome', 'succeeded', '--note', `${PRODUCTION} shows it`);
  }

  await narrate('A process of agent one turns out to be alive and writes on. It is refused.');
  const zombie = await type({ workspace, variables: {} }, 'checkpoint', 'migrated', '--session', formerSession);

  await narrate('Agent two finishes the plan.');
  await type(shell, 'checkpoint', 'migrated');
  await type(shell, 'complete', '--summary', 'Migration 42 is applied; the row counts agree');
  await finishRemaining(shell);
  await type(shell, 'session', 'end', '--reason', 'completed');
  return { brief, shown: stdout, zombie };
}

/** Goes on with whatever the journal names as ready, until nothing is. */
async function finishRemaining(shell: Shell): Promise<void> {
  for (;;) {
    const { position } = ask(shell, 'resume') as { position: { ready: string[] } };
    const [ready] = position.ready;
    if (ready === undefined) return;
    await type(shell, 'start', ready);
    await type(shell, 'complete');
  }
}
