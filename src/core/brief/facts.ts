import type { ConflictKind } from '../views/conflict.ts';
import type { Left } from '../views/left.ts';
import type { Role } from '../words.ts';

/** Everything a brief says. It is collected elsewhere; `write.ts` makes the text of it and of nothing else. */
export interface BriefFacts {
  now: string;
  form: BriefForm;
  /** Null if only other runs are named. */
  run: RunFacts | null;
  others: OtherRuns;
  role: Role;
  /** Left out if nothing is gone. */
  history?: History | null | undefined;
}

/** What was recorded here and is gone, as far as this machine knows and nobody accepted it. */
export interface History {
  lost: { runs: readonly string[]; events: number; at: string; noticedAt: string } | null;
  /** The journal that was here before this one. */
  before: { store: string; runs: readonly string[]; usedAt: string; noticedAt: string } | null;
}

/**
 * Why the reader gets it: a session starts and may want the run; the run was chosen for this working tree; the session
 * continues the run; its context was compacted; its client resumes the conversation; only other runs are named; someone
 * asked for the run by name; there is no run, and something is gone.
 */
export type BriefForm = 'start' | 'chosen' | 'joined' | 'compacted' | 'returned' | 'others' | 'shown' | 'gone';

export interface RunFacts {
  id: string;
  title: string;
  isPlanned: boolean;
  /** It came with a copied folder, from someone else. */
  isCopied?: boolean;
  /** The six hexadecimal digits that name the run in a command. */
  suffix: string;
  /** Of planned runs. */
  resuming: Resuming | null;
  situation: Situation;
  place: Place | null;
  /** Commits in the working tree that were made outside the run. */
  commitsSince: number | null;
  requests: readonly Request[];
  /** The most important first. */
  uncertain: readonly Uncertain[];
  commands: readonly CommandFact[];
  files: FileFacts;
  reading: readonly { path: string; tokens: number }[];
  said: Said | null;
  steps: StepFacts | null;
  rules: readonly Rule[];
  /** Decisions that are not among them. */
  moreDecisions: number;
  open: readonly Open[];
  /** Keys of a program's state, the last set first. Left out where none was looked for. */
  values?: readonly ValueFact[];
  next: NextFacts;
}

export interface ValueFact {
  key: string;
  bytes: number;
  /** When it was set. */
  at: string;
}

/** The position in a plan: `Resuming from Phase 2, Plan 3, Task: …`. */
export interface Resuming {
  /** Numbers as the plan writes them. */
  phase: string | null;
  plan: string | null;
  kind: 'Phase' | 'Plan' | 'Task';
  title: string;
  checkpoint: string | null;
  nextCheckpoint: string | null;
  status: 'not started' | 'failed' | 'in progress' | 'interrupted';
}

/** The session that a sentence is about. */
export interface Who {
  agent: string;
  session: string;
}

export type Situation =
  | {
      is: 'cut-off';
      who: Who;
      at: string;
      because: 'process' | 'silence' | 'session-end';
      subagents: readonly string[];
    }
  | { is: 'stopped'; who: Who; at: string; by: 'rate-limit' | { error: string }; hasWindow: boolean }
  | { is: 'waiting'; who: Who; at: string; for: 'answer' | 'approval'; hasWindow: boolean }
  | { is: 'open'; who: Who; at: string; left: readonly Pick<Left, 'kind' | 'count'>[]; hasWindow: boolean }
  | { is: 'not-started'; at: string }
  /** A program keeps it, and no session has worked on it. */
  | { is: 'program'; source: string; at: string; reached: string | null }
  /** Nobody has worked on it, but something was recorded. */
  | { is: 'unattended'; at: string }
  | { is: 'finished'; who: Who | null; at: string; isLast: boolean }
  | { is: 'archived' | 'abandoned'; at: string; reason: string | null }
  | { is: 'working'; who: Who; seenAt: string; isShared: boolean; changed: readonly string[] }
  /** `since` is null between two turns. */
  | { is: 'own'; session: string; since: string | null };

/** Where the work is, seen from the reader. */
export type Place =
  | { is: 'here'; branch: string; branchNow: string | null }
  | { is: 'worktree'; tree: string; branch: string | null }
  | { is: 'host'; host: string }
  | { is: 'clone' };

export type Request =
  | { is: 'asked'; which: 'only' | 'first' | 'last'; at: string; text: string }
  | { is: 'answered'; at: string; text: string; question: string }
  | { is: 'meanwhile'; who: Who; at: string; text: string };

/** A side effect that began, and whose end is not recorded. */
export interface Uncertain {
  id: string;
  name: string;
  irreversible: boolean;
  at: string;
  process: ProcessFact;
}

export type ProcessFact =
  | { is: 'alive'; pid: number; since: string }
  /** The search found none. */
  | { is: 'none'; isClientGone: boolean }
  | { is: 'unlisted'; isClientGone: boolean }
  | { is: 'elsewhere'; host: string }
  /** Its session is alive. */
  | { is: 'in-session'; session: string };

export type CommandFact =
  | { is: 'failed'; name: string; exitCode: number | null; at: string; changedAfter: number }
  | { is: 'passed'; name: string; exitCode: number | null; at: string; changedAfter: number | null }
  | { is: 'running'; name: string }
  | { is: 'ended'; name: string; at: string };

export interface FileFacts {
  /** The most recent first. */
  files: readonly FileFact[];
  /** All of them, including those that are not listed. */
  total: number;
  commits: number;
  /** Uncommitted files that no session of this run changed. */
  othersDirty: number;
}

export interface FileFact {
  path: string;
  is:
    | 'changed'
    /** Changed, and nothing is known about commits. */
    | 'named'
    /** Changed while the session worked, not by a recorded edit. */
    | 'unrecorded'
    | 'committed'
    /** Recorded as changed, and now as in the last commit. */
    | 'as-before'
    /** Changed by others since. */
    | 'changed-again';
  lines: FileLines | null;
}

export type FileLines =
  | { is: 'edited'; added: number; deleted: number }
  | { is: 'new'; lines: number | null }
  | { is: 'deleted' };

export type Said =
  | { is: 'at-end' | 'turn-before'; at: string; text: string }
  | { is: 'before-cut'; text: string }
  | { is: 'meanwhile'; who: Who; at: string; text: string };

export interface StepFacts {
  kind: 'to-do' | 'plan';
  done: number;
  total: number;
  /** Titles in the order of completion; the last ones. */
  doneTitles: readonly string[];
  inProgress: readonly (PlannedStep & {
    /** The agent of another session that is alive. */
    heldBy: string | null;
  })[];
  left: readonly PlannedStep[];
}

export interface PlannedStep {
  key: string;
  title: string;
}

export type Rule =
  | { is: 'constraint'; id: string; at: string; text: string }
  | { is: 'dead-end'; id: string; text: string }
  | { is: 'decision'; id: string; text: string; reason: string; irreversible: boolean; clone: string | null }
  | { is: 'approved-plan' | 'proposed-plan'; at: string; text: string }
  | { is: 'built'; text: string };

export type Open =
  | { is: 'offer'; id: string; by: string; at: string; text: string | null }
  | { is: 'error'; id: string; alias?: string | undefined; at: string; text: string; step: string | null }
  | {
      is: 'blocker';
      id: string;
      alias?: string | undefined;
      at: string;
      text: string;
      affects: readonly string[];
      workaround: string | null;
    }
  | {
      is: 'question';
      id: string;
      alias?: string | undefined;
      at: string;
      text: string;
      to: 'user' | 'reader' | { name: string };
    }
  | {
      is: 'message';
      id: string;
      /** Its name in another tool's file. */
      alias?: string | undefined;
      at: string;
      text: string;
      from: string;
      toReader: boolean;
      priority: string;
      late: boolean;
      /** The subject of the reader's message that this one answers. */
      answers: string | null;
    }
  | {
      is: 'commitment';
      id: string;
      alias?: string | undefined;
      at: string;
      text: string;
      by: string;
      to: string | null;
      due: string | null;
      late: boolean;
    }
  | { is: 'finding'; id: string; alias?: string | undefined; at: string; text: string; severity: string | null }
  | { is: 'conflict'; id: string; at: string; path: string; kind: ConflictKind }
  | { is: 'session'; who: Who; at: string; steps: readonly string[]; files: readonly string[] };

/** What the next action is made of, in addition to the facts above. */
export interface NextFacts {
  /** In the words of an agent or a person, after the last request. */
  declared:
    | { by: string; session?: string | null; at: string; text: string }
    | { file: string; at: string; text: string }
    | null;
  failedStep: { key: string; title: string; retriesLeft: number } | null;
  ready: PlannedStep | null;
  /** If nothing is ready. */
  gate: { key: string; title: string } | null;
  blocker: { id: string; text: string } | null;
}

export interface OtherRuns {
  /** The most important first. */
  lines: readonly OtherRun[];
  /** Those that have no line. */
  more: number;
}

export type OtherRun =
  | {
      is: 'unfinished';
      id: string;
      isPlanned: boolean;
      title: string;
      state: 'cut off' | 'waiting' | 'open' | 'not started';
      at: string;
      agent: string | null;
      tree: string | null;
      host: string | null;
      /** Ids of effects. */
      uncertain: readonly string[];
    }
  | { is: 'working'; who: Who; title: string; seenAt: string; changed: readonly string[] };
