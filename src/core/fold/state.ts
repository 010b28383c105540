import type { Evidence } from '../evidence.ts';
import type { Artifact, EventBody, ImportedRange, Owner, TreeMark } from '../journal/event.ts';
import type { TreeName } from '../tree-name.ts';
import type { Counted } from '../views/phase-progress.ts';
import type { Actor, MessageSide, Role, RunKind, StepKind } from '../words.ts';
import type { Commands, Excerpt, LastRecord, Requests, ShownPlan, Tally, Turn } from './conversation.ts';

/**
 * Folded state: what the rules need and nothing more. It holds the plan and what is open; what is settled, ended or
 * informational (old sessions, decisions, notes, closed mail) is in the store's projection, so that the cost of a command
 * does not grow with history. State is a set of tables; a row is never changed, only replaced.
 */
export interface State {
  version: number;
  run: Run | null;
  /** The last id number by prefix: `D` for decisions, `L` for claims and so on. */
  counters: Record<string, number>;
  steps: Map<string, Step>;
  /** Active ones only. */
  sessions: Map<string, Session>;
  /** Claims on files; a claim on a step is in the step. */
  claims: Map<string, Claim>;
  /** Open, active and bypassed ones. */
  items: Map<string, Item>;
  /** Started and not ended. */
  effects: Map<string, Effect>;
  /** All but the closed ones. */
  messages: Map<string, Message>;
  /** Offered, in clarification, or accepted and not finished. */
  handoffs: Map<string, Handoff>;
  /** Constraints and dead ends; they are in every brief. */
  notes: Map<string, Note>;
  usage: Map<string, Usage>;
  mirrors: Map<string, Mirror>;
  acceptedConflicts: Map<string, string>;
  next: NextAction | null;
  /** The current step according to a file, until a step is worked on here. */
  stand: string | null;
  /** The tasks of a phase that a file counts without naming them. */
  counted: Counted | null;
  /** The last requests to the last two sessions, and the last answer at the end of a turn. */
  asked: readonly Excerpt[];
  said: Excerpt | null;
  /** The plan that was shown to the user last. */
  plan: ShownPlan | null;
  /** The turn that began last, in any session. */
  turn: Turn | null;
  requests: Requests;
  commands: Commands;
  /** What tells a trivial run from real work, and what a later prompt may name. */
  tally: Tally;
  last: LastRecord;
  /** By working tree; the main one has the empty name. */
  lastWork: Map<string, LastWork>;
  /** How many there have been of each, for briefs that say what they leave out. */
  totals: { decisions: number; activeDecisions: number; notes: number; sessions: number; events: number };
  lastSnapshot: { id: string; session: string; agent: string; version: number; at: string } | null;
  /** The last snapshot's number, by agent. */
  snapshotSequences: Map<string, number>;
  worklog: Worklog;
}

/** The size of the worklog, and its archives. */
export interface Worklog {
  /** Lines of entries only, without status block and decision index. */
  lines: number;
  entries: number;
  archives: readonly WorklogArchive[];
}

export interface WorklogArchive {
  number: number;
  at: string;
  by: string;
  entries: number;
  lines: number;
  proof: string;
}

/** Values exactly as a file wrote them, to be written back unchanged; mostly times. */
export type Verbatim = Readonly<Record<string, string>>;

export interface Run {
  id: string;
  /** The id in another tool's file. */
  alias?: string | undefined;
  branch?: string | undefined;
  stated?: Verbatim | undefined;
  title: string;
  kind: RunKind;
  /** The program that keeps it, and where that said it is. */
  source?: string | undefined;
  reached?: { name: string; at: string } | undefined;
  /** A person's title is not changed by hooks. */
  titledBy: Actor['kind'];
  goal: string | null;
  workspace: string;
  status: 'active' | 'completed' | 'abandoned' | 'archived' | 'moved';
  design: { path: string; approvedBy?: string | undefined } | null;
  plan: { path: string; sha256?: string | null | undefined } | null;
  openedAt: string;
  openedBy: Actor;
  updatedAt: string;
  /** The run that its only session was moved to. */
  movedTo?: string | undefined;
  /** When it was abandoned or archived; null while work can continue. */
  endedAt: string | null;
  reason: string | null;
  /** What was imported from files. */
  imported: readonly ImportedRange[];
  /** It was imported, and nothing was recorded in it here since: it is not chosen by default. */
  isUntouched: boolean;
  /** It came with a copied folder, from someone else. */
  isCopied?: true;
}

export type StepStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'skipped';

export interface Step {
  key: string;
  stated?: Verbatim | undefined;
  title: string;
  kind: StepKind;
  parent: string | null;
  after: readonly string[];
  wave: number | null;
  agents: readonly string[];
  parallel: boolean;
  /** An imported open gate counts as closed until a person confirms it here. */
  gate: ({ state: 'closed' | 'open'; name?: string; at?: string } & Partial<Act>) | null;
  context: readonly string[];
  checkpoints: readonly string[];
  alias: string | null;
  /** For leaves. The status of a step with children is derived from them. */
  status: StepStatus;
  /** Null while in progress means interrupted. */
  holder: Holder | null;
  /** The session that held it last, kept when it is interrupted. */
  lastSession: string | null;
  lastAgent: string | null;
  checkpoint: Checkpoint | null;
  /** Files that were read between its start and its first checkpoint. */
  contextRead?: readonly string[];
  /** Files recorded while in progress. The projection keeps them when the step ends. */
  artifacts: readonly Artifact[];
  /** What was implemented, told while in progress. The projection keeps it when the step ends. */
  built: readonly string[];
  startedAt: string | null;
  endedAt: string | null;
  startedVersion: number;
  reopenedVersion: number;
  confirmedVersion: number;
  retries: number;
  /** Crashes in a row. */
  crashes: number;
  /** The open error that failing it raised. */
  error: string | null;
  reason: string | null;
  /** Who skipped it; null if it was not skipped, or only a file says so. */
  skipped: Act | null;
  /** The start of the summary; the projection has all of it. */
  summary: string | null;
  verified: Verified | null;
}

export interface Verified {
  result: 'pass' | 'fail';
  basis: 'declared' | 'verified';
  at: string;
  probe: string | null;
  session: string | null;
}

/** Who did what only a person may do, and what the name rests on. */
export interface Act {
  by: string;
  /** Null for an event of version 0.1. */
  evidence: Evidence | null;
  version: number;
  /** It was imported: only a claim, until a person confirms it here. */
  isClaim?: boolean;
}

export interface Holder {
  session: string;
  agent: string;
  /** The claim; its number is the fencing number. */
  claim: string;
  since: string;
}

export interface Checkpoint {
  name: string;
  /** The next action declared with the checkpoint; one declared on another step may be newer. */
  next: string | null;
  at: string;
  session: string | null;
  mark: TreeMark | null;
}

export interface Session {
  id: string;
  stated?: Verbatim | undefined;
  workingOn?: string | undefined;
  /** What it completed, in words: `Phase 1, Plan 1: Database setup`. */
  finished?: readonly string[] | undefined;
  agent: string;
  kind: 'agent' | 'person';
  role: Role;
  status: 'active' | 'moved' | EventBody<'session.ended'>['reason'];
  leaseMs: number;
  startedAt: string;
  startedVersion: number;
  /** What the name of its agent rests on; null for a session of version 0.1 or of a file. */
  startedWith: Evidence | null;
  /** The time of the last event it caused. */
  seenAt: string;
  /** Its turn is over and it has done nothing since. */
  isResting: boolean;
  /** Its last turn; null for a session without turns, which counts as one turn from its start to its end. */
  turn: Turn | null;
  continues: string | null;
  /** The session that continues it. */
  continuedBy: string | null;
  returns: boolean;
  parent: string | null;
  client: { name: string; id: string; inferred?: boolean | undefined } | null;
  owner: Owner | null;
  mark: TreeMark | null;
  /** Steps it has held, for the lineage and for fencing. */
  held: readonly string[];
  completed: readonly string[];
  /** Steps it held when it ended. */
  left: readonly string[];
  /** File claims it held when it ended. */
  leftClaims: readonly Pick<Claim, 'files' | 'reason'>[];
  endedAt: string | null;
  endReason: string | null;
  /** Why the work was in that state, as told at its end or by a file. */
  why?: string | undefined;
  /** Its client did not report the end. */
  unannounced?: boolean | undefined;
  notes: readonly string[];
  issues: readonly string[];
  contextUsage: number | null;
  evidence: readonly string[];
  /** The worklog archive it was moved to. */
  archive?: number | undefined;
  alias: string | null;
}

export interface Claim {
  id: string;
  session: string;
  agent: string;
  files: readonly string[];
  reason: string | null;
  since: string;
  status: 'held' | 'released';
  alias: string | null;
}

export type ItemStatus = 'active' | 'bypassed' | 'open' | 'resolved' | 'deferred' | 'withdrawn';

export interface Item extends EventBody<'item.raised'> {
  stated?: Verbatim | undefined;
  status: ItemStatus;
  raisedAt: string;
  by: string;
  session: string | null;
  settledAt?: string | undefined;
  resolution?: string | null | undefined;
  basis: 'declared' | 'verified';
}

export interface Decision extends EventBody<'decision.made'> {
  stated?: Verbatim | undefined;
  status: 'active' | 'retracted' | 'superseded';
  at: string;
  by: string;
  session: string | null;
  basis: 'declared' | 'verified';
  supersededBy?: string;
  retractedBecause?: string;
}

export interface Note extends EventBody<'note.added'> {
  /** When the user approved the plan in it. */
  approvedAt?: string | undefined;
  stated?: Verbatim | undefined;
  at: string;
  by: string;
  session: string | null;
  /** The worklog archive it was moved to. */
  archive?: number | undefined;
}

export interface Effect extends EventBody<'effect.began'> {
  status: 'began' | 'ended';
  at: string;
  by: string;
  session: string | null;
  outcome?: string;
  exitCode?: number | null;
  endedAt?: string;
  result?: EventBody<'effect.ended'>['result'];
  /** The key of an effect that succeeded, so that it can be found by it. */
  alias?: string;
}

/** A key of a program's state. `kept`: it was replaced, and its bytes stay. */
export interface Value extends Omit<EventBody<'value.put'>['entries'][number], 'nonce' | 'keep'> {
  id: string;
  status: 'current' | 'kept' | 'erased' | 'removed';
  /** The event that set it. */
  version: number;
  at: string;
  by: string;
  session: string | null;
}

export interface Message extends EventBody<'message.sent'> {
  stated?: Verbatim | undefined;
  status: EventBody<'message.moved'>['to'];
  at: string;
  session: string | null;
  /** A person sent it. */
  person?: true;
  acks: readonly (ReplyStamp & { by: string; to: Message['status']; note: string })[];
  replies: readonly (ReplyStamp & { from: string; body: string })[];
  /** The version up to which each side has read the replies. */
  heard: Readonly<Record<MessageSide, number>>;
  /** Whether a session of the receiver ended without reading it: 1, one that was active when it came; 2, a later one. */
  passed: 0 | 1 | 2;
  escalated: Escalation | null;
  disposition?: EventBody<'message.moved'>['disposition'];
}

/** When and by which side of a message; null is neither sender nor receiver. */
interface ReplyStamp {
  at: string;
  version: number;
  side: MessageSide | null;
}

export interface Escalation {
  at: string;
  why: string;
  /** The message that informs the maintainer. */
  notice: string | null;
  /** How many sessions the run had by then. */
  sessions: number;
}

export interface Handoff extends EventBody<'handoff.offered'> {
  status: 'offered' | 'clarifying' | 'accepted' | 'declined' | 'withdrawn' | 'finished';
  at: string;
  by: string;
  version: number;
  acceptedBy: string | null;
  /** When the receiver first made progress; until then the handoff is not used up. */
  progressAt: string | null;
  question: string | null;
  outcome: string | null;
}

/** Tokens; null if unknown, which is not zero. `input` includes the cached ones. */
export interface Usage {
  agent: string;
  input: number | null;
  output: number | null;
  cached: number | null;
  /** The same by model, of the reports that name one. */
  models?: readonly ({ model: string } & Pick<Usage, 'input' | 'output' | 'cached'>)[];
}

export interface Mirror {
  format: string;
  path: string;
}

export interface NextAction {
  text: string;
  session: string | null;
  step: string | null;
  at: string;
  /** The file that it was read from. */
  file?: string;
}

/** The last work in a working tree. Without git there is no commit. */
export interface LastWork extends TreeName {
  head: string | null;
  branch: string | null;
  step: string | null;
  session: string | null;
  at: string;
  version: number;
}

/** The text is only in the event. */
export interface Snapshot extends Omit<EventBody<'snapshot.taken'>, 'text'> {
  at: string;
  version: number;
}

/** The file as it was last recorded. */
export interface FileRow extends Artifact {
  id: string;
  step: string | null;
  session: string | null;
  /** The linked working tree it was recorded in; null is the main one. */
  tree: string | null;
  clone?: string | undefined;
  at: string;
  version: number;
  read: boolean;
  /** Named in the sentence on what was built. */
  built: boolean;
  basis: 'declared' | 'verified';
}

/** The complete result of a step. */
export interface Result {
  id: string;
  step: string;
  summary: string | null;
  built: readonly string[];
  artifacts: readonly Artifact[];
  session: string | null;
  by: string;
  at: string;
}

/** Folded state keeps the items that still need attention, and the handoffs that can still change. */
export const isOpenItem = (status: ItemStatus): boolean =>
  status === 'open' || status === 'active' || status === 'bypassed';
export const isOpenHandoff = (status: Handoff['status']): boolean =>
  status === 'offered' || status === 'clarifying' || status === 'accepted';
