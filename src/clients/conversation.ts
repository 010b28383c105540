import { sha256 } from '../core/sha256.ts';

/** The agents' clients that are known here. */
export const clientNames = ['claude', 'codex', 'gemini', 'qwen', 'copilot', 'vscode', 'cursor', 'opencode'] as const;
export type ClientName = (typeof clientNames)[number];

/** A client's conversation, or that of a subagent inside it. */
export interface Conversation {
  client: ClientName;
  /** The client's own id of it; null where it gives none. */
  conversation: string | null;
  subagent: { id: string; type: string | null } | null;
}

/** The id under which a conversation is recorded; a subagent's is below that of its parent. */
export function conversationOf(moment: Conversation): string {
  const own = moment.conversation ?? `${moment.client}, no id`;
  return label(moment.subagent === null ? own : `${own}/${moment.subagent.id}`);
}

/** A label has its limits, and the ids are what a client sends. */
function label(id: string): string {
  const isFit = id.length <= 120 && /^[\x20-\x7e]+$/.test(id);
  return isFit ? id : sha256(id).slice(0, 32);
}

/** The name an agent is recorded under: its client's, and for a subagent its kind. */
export function agentName(client: ClientName, subagent: Conversation['subagent']): string {
  if (subagent === null) return client;
  const type = (subagent.type ?? '').replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  return `${client}.${type.slice(0, 40) || 'subagent'}`;
}

/** The key of the effect of a tool call: by the id of the call where there is one, else by the words of the command. */
export function callKey({ conversation, subagent }: Omit<Conversation, 'client'>, call: string): string {
  return `tool:${sha256(JSON.stringify([conversation, subagent?.id ?? null, call])).slice(0, 24)}`;
}
