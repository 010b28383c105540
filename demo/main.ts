import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { playFirstAgent, type Recorded } from './first-agent.ts';
import { type Outcome, playSecondAgent } from './second-agent.ts';
import { ask, bad, good, narrate, type } from './terminal.ts';

const PLAN = `steps:
  - key: p1
    title: Schema
    kind: phase
    steps:
      - { key: p1.1, title: Create the token table }
  - key: p2
    title: Rotating tokens
    kind: phase
    after: [p1]
    steps:
      - { key: p2.1, title: Write the refresh endpoint, checkpoints: [drafted, tested] }
      - { key: p2.2, title: Move production over, after: [p2.1], checkpoints: [rehearsed, migrated] }
      - { key: p2.3, title: Tell the client teams, after: [p2.2] }
`;

/** Two agents, a crash between them, and a check that the second really got the position of the first. */
async function show(): Promise<void> {
  const workspace = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
  let agent: ChildProcess | undefined;
  process.once('exit', () => {
    agent?.kill('SIGKILL');
    rmSync(workspace, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }

  writeFileSync(join(workspace, 'plan.yaml'), PLAN);
  const person = { workspace, variables: {} };
  await narrate('A person opens a run with a plan.');
  await type(person, 'init', '--title', 'User authentication', '--plan', 'plan.yaml');

  agent = spawn(process.execPath, [process.argv[1] ?? '', 'first-agent', workspace], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const dead = once(agent, 'exit');
  const recorded = await Promise.race([once(agent, 'message').then(([facts]) => facts as Recorded), dead]);
  if (Array.isArray(recorded)) throw new Error('The first agent ended before it could be killed.');
  agent.kill('SIGKILL');
  await dead;
  await narrate('The process of agent one is killed (SIGKILL). It has no chance to write anything down.');

  const outcome = await playSecondAgent(workspace, recorded.session);
  await narrate('What the journal says in the end.');
  await type(person, 'status');
  const { exitCode: doctor } = await type(person, 'doctor');
  const { steps } = ask(person, 'status') as { steps: { status: string }[] };
  judge(recorded, outcome, doctor === 0, steps);
}

function judge(recorded: Recorded, outcome: Outcome, isSound: boolean, steps: { status: string }[]): void {
  const { brief, shown, zombie } = outcome;
  const facts = [
    recorded.step,
    recorded.checkpoint,
    recorded.next,
    recorded.decision,
    recorded.constraint,
    recorded.effect,
  ];
  const verdicts: [holds: boolean, what: string][] = [
    [brief.position.step === recorded.step, `the step (${recorded.step})`],
    [brief.position.checkpoint === recorded.checkpoint, `the checkpoint (${recorded.checkpoint})`],
    [brief.headline.includes(recorded.checkpoint), 'a headline that names it'],
    [brief.nextAction.text === recorded.next, 'the next action'],
    [brief.decisions.some(({ decision }) => decision === recorded.decision), 'the decision'],
    [brief.constraints.some(({ text }) => text === recorded.constraint), 'the constraint'],
    [
      brief.uncertain.some((effect) => effect.name === recorded.effect && effect.class === 'irreversible'),
      'the effect whose outcome is unknown',
    ],
    [facts.every((fact) => shown.includes(fact)), 'all of it in the text of the brief'],
    [zombie.exitCode === 1 && zombie.stderr.includes('fenced'), 'the former session is refused with `fenced`'],
    [steps.length > 0 && steps.every(({ status }) => status === 'completed'), 'every step is completed'],
    [isSound, 'the journal is sound'],
  ];
  console.log('\nWhat agent two got from agent one, and the result:\n');
  for (const [holds, what] of verdicts) console.log(`  ${holds ? good('✓') : bad('✗ missing:')} ${what}`);
  console.log('');
  process.exitCode = verdicts.every(([holds]) => holds) ? 0 : 1;
}

const [role, folder] = process.argv.slice(2);
if (role === 'first-agent' && folder !== undefined) await playFirstAgent(folder);
else await show();
