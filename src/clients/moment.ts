import type { JsonObject } from './json-value.ts';
import type { Spent, ToolCall, ToolResult } from './tool-call.ts';

/** What a client reports through one hook, in one form for all clients. */
export type Moment = HookSource &
  (
    | { kind: 'session-start'; source: StartSource; request: string | null; parent?: string | null }
    | { kind: 'prompt'; request: string }
    | { kind: 'tool-before'; call: ToolCall }
    | { kind: 'tool-after'; call: ToolCall; result: ToolResult }
    | { kind: 'subagent-start' }
    | { kind: 'subagent-stop'; lastMessage: string | null }
    /** `background`: how many tasks the client lists as still running; left out where it lists none. */
    | { kind: 'turn-end'; lastMessage: string | null; pressure: Pressure | null; background?: number | null }
    | ({ kind: 'turn-failed' } & TurnFailure)
    | { kind: 'compact-before'; isCertain: boolean; pressure: Pressure | null }
    | { kind: 'usage'; spent: Spent; pressure: Pressure | null }
    | { kind: 'session-end'; reason: string }
  );

export type ToolMoment = Extract<Moment, { kind: 'tool-before' | 'tool-after' }>;
export type MomentKind = Moment['kind'];
export type StartSource = 'startup' | 'resume' | 'clear' | 'compact' | 'fork';

export interface TurnFailure {
  reason: 'rate-limit' | 'error';
  message: string;
}

/** Where a moment comes from. */
export interface HookSource {
  /** The client's name in the list of clients. */
  client: string;
  /** The client's own id of the conversation; null where it sends none. */
  conversation: string | null;
  /** Distinguishes occurrences of the same event: a tool call's id, a turn's, a time. Null where the client sends none. */
  id: string | null;
  cwd: string | null;
  transcript: string | null;
  /** The model at work, where the client names it. */
  model?: string | null;
  /** Set when it happened inside a subagent. */
  subagent: { id: string; type: string | null } | null;
  /** The agent's process, where the client names it. */
  pid: number | null;
}

/** How full the context is, in percent. */
export interface Pressure {
  percent: number;
}

export function pressureOf(usedTokens: number, windowTokens: number | null): Pressure | null {
  return windowTokens && usedTokens > 0 ? { percent: Math.min(100, (usedTokens / windowTokens) * 100) } : null;
}

/** What one line of a transcript reports about tokens. */
export interface UsageReport {
  spent: Spent;
  /** Lines of one message repeat its figures under the same id. */
  id: string | null;
  /** The figures are sums since the conversation began. */
  isTotal?: boolean;
  pressure?: Pressure | null;
}

export interface CommandEnd {
  /** The client's id of the tool call. */
  call: string;
  result: ToolResult;
}

/** One client's hooks: turns hook input into a moment, and a text for the model into the client's form of answer. */
export interface ClientHooks {
  /** Returns null for an event that reports nothing worth recording. */
  read(event: string, input: JsonObject): Moment | null;
  /** The moments whose answer may carry text to the model. */
  takesContext: ReadonlySet<MomentKind>;
  /** The answer that carries a text to the model. */
  answer(event: string, context: string): object;
  /** Text that it took at a start is not part of the conversation: another process of it does not have that any more. */
  forgetsStarts?: boolean;
  /** Its prompt event comes with every request of a turn; only the first needs an answer. */
  repeatsPrompts?: boolean;
  /** Other clients run the hooks in this client's file. */
  areRunByOthers?: boolean;
  /** Whether input that came through another client's hook is from this client. */
  recognises?(input: JsonObject): boolean;
  /** The environment variable with the agent's process id. */
  pidVariable?: string;
  /** The tokens that one line of its transcript reports; null for other lines. */
  usageIn?(entry: JsonObject): UsageReport | null;
  /** The end of a command that one line of its transcript reports, for a client whose hooks leave out the exit status. */
  commandEndIn?(entry: JsonObject): CommandEnd | null;
  /** Why the turn stopped, if this line of its transcript is the last message: its hook for that may be killed with it. */
  failureIn?(entry: JsonObject): TurnFailure | null;
  /** Its transcript reports how full the context is after each request, so tool hooks look there. */
  hasPressureInTranscript?: boolean;
  /** Whether a piece of its transcript shows a compaction, for a client that does not report which ones took place. */
  showsCompaction?(text: string): boolean;
}
