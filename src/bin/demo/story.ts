import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Shell, Stage } from './stage.ts';

/** Whether what the second agent got, and what became of it, is right. */
export interface Verdict {
  holds: boolean;
  what: string;
}

const PLAN = `# User login
## Tokens
- [x] Create the token table
- [ ] Rotate tokens on every use
- [ ] Move the clients over (after 1.2)
`;
const REQUEST = 'Rotate tokens on every use. Deploy to staging when the tests pass.';
const NEXT = 'check staging, then wire the router';
const DECISION = 'httpOnly cookie';
const DEPLOY = './deploy.sh staging';
/** Stands for the world outside: each deploy leaves a line. */
const STAGING = 'staging.log';

/** Two scripted agents and a kill between them, played through the real hooks and commands. */
export async function playStory(stage: Stage, root: string): Promise<Verdict[]> {
  const folder = join(root, 'shop');
  mkdirSync(join(folder, 'src'), { recursive: true });
  mkdirSync(join(root, 'home'), { mode: 0o700 });
  // Without git the data is in the state folder; nothing else changes.
  spawnSync('git', ['init', '-q', folder], { stdio: 'ignore' });
  writeFileSync(join(folder, 'plan.md'), PLAN);
  const agent = inertProcess();
  try {
    await work(stage, { folder, variables: { HOLDFAST_AGENT: 'claude', HOLDFAST_PID: String(agent.pid) } });
  } finally {
    const gone = once(agent, 'exit');
    agent.kill('SIGKILL');
    await gone;
  }
  await stage.say('caption', '2  It is killed');
  await stage.say('bad', 'kill -9: claude had no chance to write anything down');
  return goOn(stage, { folder, variables: { HOLDFAST_AGENT: 'codex', HOLDFAST_PID: String(process.pid) } });
}

/** Plays the client's process: the hooks name it, and it is what gets killed. It ends with this one. */
function inertProcess(): ChildProcess {
  return spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
}

async function work(stage: Stage, shell: Shell): Promise<void> {
  const you = { folder: shell.folder, variables: {} };
  await stage.say('caption', '1  An agent works');
  await stage.type(you, 'init', '--title', 'User login', '--plan', 'plan.md');
  stage.hook(shell, 'claude', 'SessionStart', { source: 'startup' });
  stage.hook(shell, 'claude', 'UserPromptSubmit', { prompt: REQUEST });
  await stage.say('you', `you > ${REQUEST}`);
  await stage.type(shell, 'start', 'p1.2');
  writeFileSync(join(shell.folder, 'src/refresh.ts'), 'export const rotate = true;\n');
  const edit = {
    tool_name: 'Write',
    tool_use_id: 'e1',
    tool_input: { file_path: join(shell.folder, 'src/refresh.ts') },
  };
  stage.hook(shell, 'claude', 'PostToolUse', edit);
  await stage.say('agent', 'claude > Write src/refresh.ts');
  bash(stage, shell, 'npm test', 'b1', 0);
  await stage.say('agent', 'claude > Bash npm test: passed');
  await stage.type(shell, 'decide', DECISION, '--why', 'scripts cannot read it');
  await stage.type(shell, 'checkpoint', 'drafted', '--next', NEXT);
  bash(stage, shell, DEPLOY, 'b2', null);
  appendFileSync(join(shell.folder, STAGING), 'deployed\n');
  await stage.say('agent', `claude > Bash ${DEPLOY} …`);
}

/** A command as the client reports it: its beginning, and its end if it has one. */
function bash(stage: Stage, shell: Shell, command: string, id: string, exit: number | null): void {
  const call = { tool_name: 'Bash', tool_use_id: id, tool_input: { command } };
  stage.hook(shell, 'claude', 'PreToolUse', call);
  if (exit === null) return;
  stage.hook(shell, 'claude', 'PostToolUse', { ...call, tool_response: { stdout: '', exit_code: exit } });
}

async function goOn(stage: Stage, shell: Shell): Promise<Verdict[]> {
  await stage.say('caption', '3  Another agent starts, with this brief');
  const brief = stage.hook(shell, 'codex', 'SessionStart', { source: 'startup' });
  await stage.say('brief', brief.trimEnd());
  await stage.say('caption', '4  It continues after the checkpoint');
  stage.hook(shell, 'codex', 'UserPromptSubmit', { prompt: 'continue' });
  await stage.say('you', 'you > continue');
  const started = await stage.type(shell, 'start', 'p1.2');
  const deploys = readFileSync(join(shell.folder, STAGING), 'utf8').split('\n').length - 1;
  await stage.say(
    'agent',
    `codex > looks at staging: deployed ${deploys === 1 ? 'once' : `${deploys} times`}, not again`,
  );
  const effect = /\b(X-\d+)\b[^\n]*deploy/.exec(brief)?.[1] ?? 'X-1';
  const settled = await stage.type(shell, 'settle', effect, 'succeeded');
  const done = await stage.type(shell, 'done', '--summary', 'Tokens rotate; staging runs it');
  const has = (text: string, what: string): Verdict => ({ holds: brief.includes(text), what });
  return [
    has(REQUEST, 'what was asked'),
    has('p1.2', 'the step'),
    has('drafted', 'the checkpoint'),
    has(NEXT, 'the next action'),
    has(DECISION, 'the decision'),
    has('src/refresh.ts', 'the changed file'),
    has(DEPLOY, 'the deploy whose outcome is unknown'),
    { holds: started.code === 0 && started.text.includes('drafted'), what: 'the step continues after its checkpoint' },
    { holds: deploys === 1 && settled.code === 0 && done.code === 0, what: 'nothing was done twice' },
  ];
}
