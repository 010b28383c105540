import type { ClientName } from './conversation.ts';
import type { JsonObject } from './json-value.ts';
import type { Spent, ToolCall, ToolResult } from './tool-call.ts';

/**
 * What an agent's client tells through its hooks, in one form for all of them. A dialect turns its client's payload into
 * a moment, and what is to be said back into its client's own form of answer.
 */
export type Moment = HookSource &
  (
    | { kind: 'session-start'; source: StartSource; request: string | null; parent?: string | null }
    | { kind: 'prompt'; request: string }
    | { kind: 'tool-before'; call: ToolCall }
    | { kind: 'tool-after'; call: ToolCall; result: ToolResult }
    | { kind: 'subagent-start' }
    | { kind: 'subagent-stop'; said: string | null }
    /** Busy: something that the agent started goes on in the background. */
    | { kind: 'turn-end'; said: string | null; pressure: Pressure | null; isBusy?: boolean }
    | { kind: 'turn-failed'; reason: 'rate-limit' | 'error'; told: string }
    | { kind: 'compact-before'; isCertain: boolean; pressure: Pressure | null }
    | { kind: 'usage'; spent: Spent; pressure: Pressure | null }
    | { kind: 'session-end'; reason: string }
  );

export type ToolMoment = Extract<Moment, { kind: 'tool-before' | 'tool-after' }>;
export type MomentKind = Moment['kind'];
export type StartSource = 'startup' | 'resume' | 'clear' | 'compact' | 'fork';

/** Whose moment it is. */
export interface HookSource {
  client: ClientName;
  /** The client's own id of the conversation; null where it gives none. */
  conversation: string | null;
  /** Tells one occurrence of the event from another: a tool call's id, a turn's, a time. Null where there is nothing. */
  id: string | null;
  cwd: string | null;
  transcript: string | null;
  /** Set when it happened inside a subagent. */
  subagent: { id: string; type: string | null } | null;
  /** The agent's process, where the client says which that is. */
  pid: number | null;
}

/** How full the context is, in percent. */
export interface Pressure {
  percent: number;
}

export interface Dialect {
  /** Null for an event that says nothing worth recording. */
  read(event: string, payload: JsonObject): Moment | null;
  /** The moments whose answer may carry text to the model. */
  takesContext: ReadonlySet<MomentKind>;
  /** Whether the client tells that a compaction is over, so that the brief can be given again there. */
  tellsCompacted: boolean;
  /** The answer that carries a text to the model, in the client's own form. */
  answer(event: string, context: string): object;
}
