import type { Owner } from '../core/journal/event.ts';
import { sha256 } from '../core/sha256.ts';
import { isName } from '../core/text.ts';

/** Who calls a tool: an agent, in a conversation of its client, living in a process. */
export interface McpIdentity {
  agent: string;
  /** The client's own id of the conversation; null where it tells none. */
  conversation: string | null;
  owner: Owner | undefined;
}

export interface Clues {
  /** What the client calls itself. */
  client: string | undefined;
  /** What it sends along with one call. */
  meta: Readonly<Record<string, unknown>> | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** An agent that was named when the server was started. */
  named: string | undefined;
  owner: Owner | undefined;
}

/** Recognised anew with every call: nothing depends on what this connection saw before. */
export function recogniseIdentity({ client = '', meta, environment, named, owner }: Clues): McpIdentity {
  const known = clients.find((one) => one.is.test(client));
  const told = known?.variable === undefined ? undefined : environment[known.variable];
  const sent = known?.meta?.map((name) => meta?.[name]).find((value) => typeof value === 'string' && value !== '');
  const conversation = told || (sent as string | undefined);
  const agent = named ?? known?.agent ?? agentFrom(client);
  return { agent, conversation: conversation === undefined ? null : label(conversation), owner };
}

interface KnownClient {
  agent: string;
  /** The name it introduces itself by. */
  is: RegExp;
  /** The variable it gives the server its session's id in. */
  variable?: string;
  /** The fields of `_meta` it sends it in. */
  meta?: readonly string[];
}

/** Gemini and OpenCode tell no id, and Cursor and VS Code none that is documented. */
const clients: readonly KnownClient[] = [
  { agent: 'claude', is: /^claude-code\b/, variable: 'CLAUDE_CODE_SESSION_ID' },
  { agent: 'codex', is: /^codex\b/, meta: ['sessionId', 'threadId'] },
  { agent: 'gemini', is: /^gemini-cli\b/ },
  { agent: 'qwen', is: /^qwen\b/, variable: 'QWEN_CODE_SESSION_ID' },
  { agent: 'copilot', is: /^(github-)?copilot\b/, variable: 'COPILOT_AGENT_SESSION_ID' },
  { agent: 'vscode', is: /^visual studio code\b/i },
  { agent: 'cursor', is: /^cursor\b/i },
  { agent: 'opencode', is: /^opencode\b/ },
];

/** A client that is not known goes by the name it gives, as far as that can be a name. */
function agentFrom(client: string): string {
  const name = client
    .toLowerCase()
    .replace(/[^a-z\d._@+-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
  return isName(name, '._@+-', 64) ? name : 'agent';
}

/** A label has its limits, and the ids are what a client sends. */
function label(id: string): string {
  return id.length <= 120 && /^[\x20-\x7e]+$/.test(id) ? id : sha256(id).slice(0, 32);
}
