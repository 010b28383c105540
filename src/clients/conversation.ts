import { sha256 } from '../core/sha256.ts';

/** A client's conversation, or that of a subagent inside it. */
export interface Conversation {
  /** Its name in the list of clients. */
  client: string;
  /** The client's own id of it; null where it sends none. */
  conversation: string | null;
  subagent: { id: string; type: string | null } | null;
}

/** The id under which a conversation is recorded; a subagent's starts with that of its parent. */
export function conversationOf(moment: Conversation): string {
  const own = moment.conversation ?? `${moment.client}, no id`;
  return label(moment.subagent === null ? own : `${own}/${moment.subagent.id}`);
}

/** A client's ids may have any form; a label may not. */
export function label(id: string): string {
  const isFit = id.length <= 120 && /^[\x20-\x7e]+$/.test(id);
  return isFit ? id : sha256(id).slice(0, 32);
}

/** The name an agent is recorded under: its client's, and for a subagent its kind. */
export function agentName(client: string, subagent: Conversation['subagent']): string {
  if (subagent === null) return client;
  const type = (subagent.type ?? '').replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  return `${client}.${type.slice(0, 40) || 'subagent'}`;
}

/** The key of the effect of a tool call: `call` is its id where there is one, else the text of the command. */
export function callKey({ conversation, subagent }: Omit<Conversation, 'client'>, call: string): string {
  return `tool:${sha256(JSON.stringify([conversation, subagent?.id ?? null, call])).slice(0, 24)}`;
}
