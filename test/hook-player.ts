import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Folder, newFolder, program } from './command-line.ts';

/** Runs hooks with the input of real clients, each in a process of its own. */

const fixtures = fileURLToPath(new URL('./fixtures/hooks/', import.meta.url));

/** What a client sets in the environment of its hooks. */
export const environments: Record<string, Record<string, string>> = {
  claude: { CLAUDECODE: '1' },
  gemini: { GEMINI_SESSION_ID: 'g', CLAUDE_PROJECT_DIR: '/' },
  qwen: { QWEN_PROJECT_DIR: '/', GEMINI_PROJECT_DIR: '/', CLAUDE_PROJECT_DIR: '/' },
  copilot: { COPILOT_CLI: '1', CLAUDE_PROJECT_DIR: '/' },
  cursor: { CURSOR_VERSION: '3.12.17', CLAUDE_PROJECT_DIR: '/' },
};

export interface Said {
  code: number | null;
  out: string;
  err: string;
  /** The one object on the standard output; null if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
  answer: any;
}

export interface HookInput {
  event: string;
  input: Record<string, unknown>;
}

/** A whole session as a client reports it: the start, a request, to-dos, edits, commands, the end of the turn. */
export function inputsOf(client: string, folder: Folder): HookInput[] {
  return readdirSync(join(fixtures, client))
    .sort()
    .map((name) => {
      const text = readFileSync(join(fixtures, client, name), 'utf8');
      const filled = text.replaceAll('{cwd}', folder.path).replaceAll('{home}', folder.path);
      return { event: name.slice(3, -5), input: JSON.parse(filled) as Record<string, unknown> };
    });
}

/** The same without commands. */
export function turnOf(client: string, folder: Folder): HookInput[] {
  const command = /"(npm test|node check\.js)"/;
  return inputsOf(client, folder).filter(
    ({ event, input }) => !/tool|shell/i.test(event) || !command.test(JSON.stringify(input)),
  );
}

export const startOf = (folder: Folder, source = 'startup', session = 'conversation-1') => ({
  session_id: session,
  cwd: folder.path,
  hook_event_name: 'SessionStart',
  source,
});

/** A process that an agent's session belongs to, until it is killed. */
export function newAgent(): { pid: string; kill(): Promise<void> } {
  const agent = spawn('sleep', ['600'], { stdio: 'ignore' });
  return {
    pid: String(agent.pid),
    async kill() {
      const gone = once(agent, 'exit');
      agent.kill('SIGKILL');
      await gone;
    },
  };
}

export function hook(
  folder: Folder,
  client: string,
  event: string,
  input: unknown,
  env: Record<string, string> = {},
): Said {
  const ran = spawnSync(process.execPath, [program, 'hook', client, event], {
    cwd: folder.path,
    env: { ...folder.env, ...environments[client], ...env },
    input: typeof input === 'string' ? input : JSON.stringify(input),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 25_000,
  });
  return {
    code: ran.status,
    out: ran.stdout,
    err: ran.stderr,
    get answer() {
      return ran.stdout === '' ? null : JSON.parse(ran.stdout);
    },
  };
}

/** Plays a whole session or its first inputs, and returns the answers. */
export function play(folder: Folder, client: string, count = Number.POSITIVE_INFINITY): Said[] {
  return inputsOf(client, folder)
    .slice(0, count)
    .map(({ event, input }) => hook(folder, client, event, input));
}

/** A git repository with the files that the sessions change, and no plan. */
export function newRepository(): Folder {
  const folder = newFolder();
  spawnSync('git', ['init', '--quiet'], { cwd: folder.path });
  writeFileSync(join(folder.path, 'login.ts'), 'export const remember = true;\n');
  writeFileSync(join(folder.path, 'notes.md'), 'notes\n');
  return folder;
}

/** The text for the model in any client's form of answer. */
export function contextIn(said: Said | undefined): string {
  const { answer } = said ?? { answer: null };
  return (
    answer?.hookSpecificOutput?.additionalContext ??
    answer?.additionalContext ??
    answer?.additional_context ??
    answer?.context ??
    ''
  );
}

export interface LoggedEvent {
  type: string;
  agent: string | null;
  session: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: events of all kinds
  body: any;
}

export function journal(folder: Folder, ...flags: string[]): LoggedEvent[] {
  return folder.data('log', '--limit', '1000', ...flags)['events'] as LoggedEvent[];
}

export const ofType = (events: readonly LoggedEvent[], type: string): LoggedEvent[] =>
  events.filter((one) => one.type === type);
