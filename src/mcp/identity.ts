import { label } from '../clients/conversation.ts';
import type { Owner } from '../core/journal/event.ts';
import { isName } from '../core/text.ts';

/** The sender of a tool call: an agent, the conversation of its client, and its process. */
export interface McpIdentity {
  agent: string;
  /** The client's own id of the conversation; null if it sends none. */
  conversation: string | null;
  owner: Owner | undefined;
}

export interface Clues {
  /** The name the client gives itself. */
  client: string | undefined;
  /** The `_meta` of one call. */
  meta: Readonly<Record<string, unknown>> | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** The agent named when the server was started. */
  named: string | undefined;
  owner: Owner | undefined;
}

/** Recognised with every call: nothing depends on earlier calls of the connection. */
export function recogniseIdentity({ client = '', meta, environment, named, owner }: Clues): McpIdentity {
  const known = clients.find((one) => one.is.test(client));
  const given = known?.variable === undefined ? undefined : environment[known.variable];
  const sent = known?.meta?.map((name) => meta?.[name]).find((value) => typeof value === 'string' && value !== '');
  const conversation = given || (sent as string | undefined);
  const agent = named ?? known?.agent ?? agentFrom(client);
  return { agent, conversation: conversation === undefined ? null : label(conversation), owner };
}

interface KnownClient {
  agent: string;
  /** Matches the name the client gives itself. */
  is: RegExp;
  /** The environment variable with the id of the conversation. */
  variable?: string;
  /** The fields of `_meta` with that id. */
  meta?: readonly string[];
}

/** Gemini and OpenCode send no id; Cursor and VS Code document none. */
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

/** An unknown client is called by its own name, reduced to allowed characters. */
function agentFrom(client: string): string {
  const name = client
    .toLowerCase()
    .replace(/[^a-z\d._@+-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
  return isName(name, '._@+-', 64) ? name : 'agent';
}
