import type { ClientInstall } from './installation.ts';
import type { ClientHooks } from './moment.ts';
import type { ClientTranscript } from './transcript.ts';

/** The agent clients. Adding one takes a folder here and an entry in this list; a client without a part leaves it out. */
export const clients = {
  claude: {
    title: 'Claude Code',
    program: { names: ['claude'], packages: ['@anthropic-ai/claude-code'] },
    variables: {
      rank: 7,
      hooks: ['CLAUDE_PID', 'CLAUDE_CODE_SESSION_ID', 'CLAUDECODE'],
      shells: ['CLAUDECODE'],
      conversation: 'CLAUDE_CODE_SESSION_ID',
    },
    hooks: () => import('./claude/hooks.ts'),
    install: () => import('./claude/install.ts'),
    transcript: () => import('./claude/transcript.ts'),
  },
  codex: {
    title: 'Codex CLI',
    program: { names: ['codex'], packages: ['@openai/codex'] },
    variables: { rank: 6, shells: ['CODEX_THREAD_ID', 'CODEX_SANDBOX'], conversation: 'CODEX_THREAD_ID' },
    hooks: () => import('./codex/hooks.ts'),
    install: () => import('./codex/install.ts'),
    transcript: () => import('./codex/transcript.ts'),
  },
  gemini: {
    title: 'Gemini CLI',
    program: { names: ['gemini'], packages: ['@google/gemini-cli'] },
    variables: {
      rank: 4,
      hooks: ['GEMINI_SESSION_ID'],
      shells: ['GEMINI_CLI', 'GEMINI_SESSION_ID'],
      conversation: 'GEMINI_SESSION_ID',
    },
    hooks: () => import('./gemini/hooks.ts'),
    install: () => import('./gemini/install.ts'),
    transcript: () => import('./gemini/transcript.ts'),
  },
  qwen: {
    title: 'Qwen Code',
    program: { names: ['qwen'], packages: ['@qwen-code/qwen-code'] },
    variables: {
      rank: 1,
      hooks: ['QWEN_PROJECT_DIR', 'QWEN_CODE_SESSION_ID'],
      shells: ['QWEN_CODE_SESSION_ID', 'QWEN_PROJECT_DIR'],
      conversation: 'QWEN_CODE_SESSION_ID',
    },
    hooks: () => import('./qwen/hooks.ts'),
    install: () => import('./qwen/install.ts'),
    transcript: () => import('./qwen/transcript.ts'),
  },
  copilot: {
    title: 'Copilot CLI',
    program: { names: ['copilot'], packages: ['@github/copilot'] },
    variables: {
      rank: 2,
      hooks: ['COPILOT_CLI', 'COPILOT_PROJECT_DIR'],
      shells: ['COPILOT_CLI', 'COPILOT_AGENT_SESSION_ID', 'COPILOT_PROJECT_DIR'],
      conversation: 'COPILOT_AGENT_SESSION_ID',
    },
    hooks: () => import('./copilot/hooks.ts'),
    install: () => import('./copilot/install.ts'),
    transcript: () => import('./copilot/transcript.ts'),
  },
  vscode: {
    title: 'VS Code',
    variables: { rank: 8 },
    hooks: () => import('./vscode/hooks.ts'),
    install: () => import('./vscode/install.ts'),
  },
  cursor: {
    title: 'Cursor',
    program: { names: ['cursor-agent'], packages: [] },
    variables: { rank: 3, hooks: ['CURSOR_VERSION'], shells: ['CURSOR_VERSION', 'CURSOR_AGENT'] },
    hooks: () => import('./cursor/hooks.ts'),
    install: () => import('./cursor/install.ts'),
    transcript: () => import('./cursor/transcript.ts'),
  },
  opencode: {
    title: 'OpenCode',
    program: { names: ['opencode'], packages: ['opencode-ai'] },
    variables: { rank: 5, shells: ['OPENCODE'] },
    hooks: () => import('./opencode/hooks.ts'),
    install: () => import('./opencode/install.ts'),
    transcript: () => import('./opencode/transcript.ts'),
  },
} as const satisfies Readonly<Record<string, ClientEntry>>;

/** The parts are loaded when they are needed: a hook loads no install code. */
interface ClientEntry {
  title: string;
  /** How its processes are recognised, where it is a command line. A window with a terminal in it is not an agent. */
  program?: ClientProgram;
  variables: ClientVariables;
  hooks(): Promise<{ hooks: ClientHooks }>;
  install(): Promise<{ install: ClientInstall }>;
  transcript?(): Promise<{ transcript: ClientTranscript }>;
}

export interface ClientProgram {
  names: readonly string[];
  /** The npm packages that hold it. */
  packages: readonly string[];
}

/** The environment variables of a client. */
export interface ClientVariables {
  /** Clients set and inherit one another's variables: of several that match, the one with the lowest rank is running. */
  rank: number;
  /** Set for its hooks. */
  hooks?: readonly string[];
  /** Set in the shells it starts. */
  shells?: readonly string[];
  /** Holds the client's own id of the conversation. */
  conversation?: string;
}

type Clients = typeof clients;
export type ClientName = keyof Clients;
export const clientNames = Object.keys(clients) as ClientName[];

export const isClient = (name: string): name is ClientName => Object.hasOwn(clients, name);

export type TranscriptClientName = {
  [Name in ClientName]: Clients[Name] extends { transcript: unknown } ? Name : never;
}[ClientName];
export const transcriptClients = clientNames.filter(
  (name): name is TranscriptClientName => 'transcript' in clients[name],
);

export async function hooksOf(name: ClientName): Promise<ClientHooks> {
  return (await clients[name].hooks()).hooks;
}

export async function installOf(name: ClientName): Promise<ClientInstall> {
  return (await clients[name].install()).install;
}

export async function transcriptOf(name: TranscriptClientName): Promise<ClientTranscript> {
  return (await clients[name].transcript()).transcript;
}
