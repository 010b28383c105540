import type { EventBody } from '../journal/event.ts';
import type { TurnKind, TurnOutcome } from '../words.ts';

/** What folded state keeps of conversations: turns, requests, commands, and who recorded last. */

export interface Excerpt {
  text: string;
  session: string | null;
  at: string;
}

export interface ShownPlan {
  note: string;
  text: string;
  session: string | null;
  at: string;
  /** The client's process: a conversation after a cleared context has the same. */
  pid: number | null;
  approvedAt: string | null;
}

/** One request to a session, and what the agent does until it stops. */
export interface Turn {
  session: string;
  agent: string;
  kind: TurnKind;
  request: string | null;
  beganAt: string;
  /** Of the event that began it. */
  version: number;
  /** Null while it is open. */
  endedAt: string | null;
  outcome: TurnOutcome | null;
  said: string | null;
  /** The last words ask the user something. */
  asks: boolean;
  failure: EventBody<'turn.ended'>['failure'] | null;
  /** Effects that went on after it. */
  background: readonly string[];
  /** How its session ended while the turn was open. */
  cutBy: EventBody<'session.ended'>['reason'] | null;
}

export interface Request extends Excerpt {
  kind: TurnKind;
  version: number;
  /** The question that it answers. */
  question: string | null;
}

/** Null until there is one. The current one opened the run, or came when it was finished; what is left counts from there. */
export interface Requests {
  first: Request | null;
  current: Request | null;
  latest: Request | null;
}

export interface EndedCommand {
  effect: string;
  name: string;
  class: EventBody<'effect.began'>['class'];
  outcome: EventBody<'effect.ended'>['outcome'];
  exitCode: number | null;
  session: string | null;
  at: string;
  version: number;
}

/** Commands that only read are not among them. */
export interface Commands {
  last: EndedCommand | null;
  /** The last one that failed and has not succeeded since. */
  failed: EndedCommand | null;
}

export interface Tally {
  /** Tool uses, as far as they were recorded. */
  tools: number;
  /** Names of changed files, the last ones. */
  changed: readonly string[];
  /** Something was declared: a decision, item, note, message, handoff or claim. */
  declared: boolean;
  /** Sessions that count, without subagents. */
  sessions: number;
}

/** Who recorded last, and where; and the conversations that recorded here, the last ones. */
export interface LastRecord {
  session: { session: string; agent: string } | null;
  place: Place;
  conversations: readonly string[];
}

/** Null where it is not known: no git, or no session yet. An empty tree is the main one. */
export interface Place {
  machine: string | null;
  clone?: string | undefined;
  tree: string | null;
  branch: string | null;
}

const EXCERPT_CHARS = 600;

/** As much of a text as a brief quotes. */
export function firstWords(text: string): string {
  return text.length > EXCERPT_CHARS ? `${text.slice(0, EXCERPT_CHARS - 1)}…` : text;
}

/** The same of words that may end with what matters most, such as a question. */
export function firstAndLastWords(text: string): string {
  const half = EXCERPT_CHARS / 2;
  return text.length > EXCERPT_CHARS ? `${text.slice(0, half - 3)} … ${text.slice(-half)}` : text;
}
