import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A repository in which stories are played through the input of hooks, each in a process of its own. */

const program = fileURLToPath(new URL('../../dist/bin/holdfast.cjs', import.meta.url));

export type Client = 'claude' | 'codex' | 'qwen' | 'gemini';

/** What each client calls its moments, and what it sets in the environment of its hooks. */
const dialects = {
  claude: {
    prompt: 'UserPromptSubmit',
    before: 'PreToolUse',
    after: 'PostToolUse',
    stop: 'Stop',
    env: { CLAUDECODE: '1' },
  },
  codex: { prompt: 'UserPromptSubmit', before: 'PreToolUse', after: 'PostToolUse', stop: 'Stop', env: {} },
  qwen: {
    prompt: 'UserPromptSubmit',
    before: 'PreToolUse',
    after: 'PostToolUse',
    stop: 'Stop',
    env: { QWEN_PROJECT_DIR: '/', GEMINI_PROJECT_DIR: '/', CLAUDE_PROJECT_DIR: '/' },
  },
  gemini: {
    prompt: 'BeforeAgent',
    before: 'BeforeTool',
    after: 'AfterTool',
    stop: 'AfterAgent',
    env: { GEMINI_SESSION_ID: 'g', CLAUDE_PROJECT_DIR: '/' },
  },
} as const;

export interface Todo {
  content: string;
  status: 'pending' | 'in_progress' | 'completed';
}

/** A conversation of a client whose process can be killed. */
export interface Speaker {
  client: Client;
  start(source?: 'startup' | 'resume' | 'compact'): string;
  ask(prompt: string): string;
  write(path: string, text: string): void;
  run(command: string, exitCode: number): void;
  /** A command that is never reported to have ended. */
  begin(command: string): void;
  todos(list: readonly Todo[]): void;
  stop(words: string): void;
  kill(): Promise<void>;
}

export interface Stage {
  folder: string;
  git(...words: string[]): string;
  speaker(client: Client, id: string): Speaker;
  /** What Claude's own transcript of a conversation ends with. */
  transcript(id: string, request: string, words: string): void;
  close(): Promise<void>;
}

export function openStage(branch = 'main'): Stage {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-story-')));
  const state = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-story-state-')));
  const env = { PATH: process.env['PATH'] ?? '', HOME: state, HOLDFAST_STATE_HOME: state };
  const speakers: Speaker[] = [];
  const git = (...words: string[]): string => {
    const ran = spawnSync('git', words, { cwd: folder, env, encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(ran.stderr);
    return ran.stdout;
  };
  git('init', '--quiet', '--initial-branch', branch);
  git('config', 'user.name', 'story');
  git('config', 'user.email', 'story@localhost');
  writeFileSync(join(folder, 'README.md'), 'A story.\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  return {
    folder,
    git,
    speaker(client, id) {
      const made = openSpeaker(folder, env, client, id);
      speakers.push(made);
      return made;
    },
    transcript(id, request, words) {
      const place = join(state, '.claude/projects', folder.replace(/[^A-Za-z0-9]/g, '-'));
      mkdirSync(place, { recursive: true });
      const base = { sessionId: id, cwd: folder, timestamp: new Date().toISOString() };
      const lines = [
        { ...base, type: 'user', message: { role: 'user', content: request } },
        { ...base, type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: words }] } },
      ];
      writeFileSync(join(place, `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    },
    async close() {
      for (const one of speakers) await one.kill();
      for (const path of [folder, state]) rmSync(path, { recursive: true, force: true });
    },
  };
}

function openSpeaker(folder: string, home: Record<string, string>, client: Client, id: string): Speaker {
  const agent = spawn('sleep', ['600'], { stdio: 'ignore' });
  const { prompt, before, after, stop, env } = dialects[client];
  let calls = 0;
  const tell = (event: string, more: object): string => {
    calls += 1;
    const base = { session_id: id, cwd: folder, hook_event_name: event, timestamp: new Date().toISOString() };
    const ran = spawnSync(process.execPath, [program, 'hook', client, event], {
      cwd: folder,
      env: { ...home, ...env, HOLDFAST_PID: String(agent.pid) },
      input: JSON.stringify({ ...base, prompt_id: `${id}-${calls}`, turn_id: `${id}-${calls}`, ...more }),
      encoding: 'utf8',
    });
    if (ran.status !== 0 || ran.stderr !== '') throw new Error(`${client} ${event}: ${ran.stderr}`);
    if (ran.stdout === '') return '';
    const answer = JSON.parse(ran.stdout) as { hookSpecificOutput?: { additionalContext?: string } };
    return answer.hookSpecificOutput?.additionalContext ?? '';
  };
  const tool = (name: string, input: object) => ({
    tool_name: name,
    tool_input: input,
    tool_use_id: `${id}-${calls + 1}`,
  });
  const shell = client === 'qwen' || client === 'gemini' ? 'run_shell_command' : 'Bash';
  const response = (exitCode: number): unknown => {
    const output = exitCode === 0 ? 'ok' : `failed\nExit Code: ${exitCode}`;
    if (client === 'codex') return exitCode === 0 ? 'ok\n' : `Exit code: ${exitCode}\nOutput:\nfailed`;
    return client === 'claude' ? { stdout: 'ok', stderr: '', interrupted: false } : { llmContent: `Output: ${output}` };
  };
  return {
    client,
    start: (source = 'startup') => tell('SessionStart', { source }),
    ask: (words) => tell(prompt, { prompt: words }),
    write(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      const name = client === 'claude' ? 'Write' : 'write_file';
      if (client === 'codex') {
        const patch = `*** Begin Patch\n*** Update File: ${path}\n@@\n+x\n*** End Patch`;
        tell(after, { ...tool('apply_patch', { command: patch }), tool_response: 'Success' });
        return;
      }
      const input = { file_path: join(folder, path), content: text };
      tell(after, { ...tool(name, input), tool_response: { success: true, llmContent: 'Successfully wrote' } });
    },
    run(command, exitCode) {
      const call = tool(shell, { command });
      tell(before, call);
      // Claude reports a command that failed with another event.
      if (client === 'claude' && exitCode !== 0)
        tell('PostToolUseFailure', { ...call, error: `Exit code ${exitCode}\nfailed`, is_interrupt: false });
      else tell(after, { ...call, tool_response: response(exitCode) });
    },
    begin(command) {
      tell(before, tool(shell, { command }));
    },
    todos(list) {
      const todos = list.map((one, index) => ({ ...one, id: String(index + 1), activeForm: one.content }));
      const call =
        client === 'codex'
          ? tool('update_plan', { plan: list.map(({ content, status }) => ({ step: content, status })) })
          : tool(client === 'claude' ? 'TodoWrite' : 'todo_write', { todos });
      tell(after, { ...call, tool_response: { success: true, llmContent: 'Todos have been modified' } });
    },
    stop(words) {
      const said = client === 'gemini' ? { prompt_response: words } : { last_assistant_message: words };
      tell(stop, { ...said, stop_hook_active: false });
    },
    async kill() {
      if (agent.exitCode !== null || agent.signalCode !== null) return;
      const gone = once(agent, 'exit');
      agent.kill('SIGKILL');
      await gone;
    },
  };
}

/** Changes a file as a person or a command does, without a hook. */
export function changeBeside({ folder }: Stage, path: string, text: string): void {
  const file = join(folder, path);
  appendFileSync(file, text);
  // The clock of a file system may be some milliseconds behind: the change would seem older than the command before it.
  utimesSync(file, new Date(), new Date());
}
