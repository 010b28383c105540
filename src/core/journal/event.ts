import * as v from 'valibot';
import type { Evidence } from '../evidence.ts';
import { Count, RunModelPart } from '../model/run-model.ts';
import { ActorName, FilePath, Instant, Label, Sentence, StepKey, Text } from '../text.ts';
import {
  type Actor,
  type Basis,
  CloseReason,
  DecisionType,
  Disposition,
  EffectClass,
  EffectOutcome,
  EndReason,
  ErrorType,
  ItemKind,
  MessageSide,
  MessageStatus,
  MessageType,
  Priority,
  RecordedNoteKind,
  Role,
  RunKind,
  SettledAs,
  Severity,
  StepKind,
  TurnKind,
  TurnOutcome,
} from '../words.ts';
import { Erasable, ValueEntry } from './value.ts';

/**
 * Every event of the journal, with the schema of its body. Events are facts in the past tense and never change. A new kind
 * of event is a new line here, a case in `evolve` and a rule in `decide`.
 */

const Percent = v.pipe(v.number(), v.minValue(0), v.maxValue(100));

/** A file as it was when it was recorded. Without a hash it was named but not read. */
export const Artifact = v.object({
  path: FilePath,
  sha256: v.optional(v.nullable(v.string())),
  bytes: v.optional(v.nullable(Count)),
  /** The modification time: while it and the size are the same, the file need not be read again. */
  stamp: v.optional(v.nullable(v.number())),
  change: v.optional(v.picklist(['created', 'modified', 'deleted'])),
});
export type Artifact = v.InferOutput<typeof Artifact>;

/** Commit, branch and changed files of the working tree. */
export const TreeMark = v.object({
  head: v.optional(v.nullable(v.string())),
  branch: v.optional(v.nullable(v.string())),
  tree: v.optional(v.nullable(Text)),
  dirty: v.optional(v.array(FilePath)),
  clone: v.optional(Label),
});
export type TreeMark = v.InferOutput<typeof TreeMark>;

/** The process that owns a session; the start time distinguishes it from a later process with the same pid. */
export const Owner = v.object({
  pid: Count,
  host: Label,
  startedAt: v.optional(v.nullable(v.string())),
  machine: v.optional(Label),
  clone: v.optional(Label),
});
export type Owner = v.InferOutput<typeof Owner>;

export const StepPlan = v.object({
  title: Sentence,
  kind: StepKind,
  parent: v.optional(v.nullable(StepKey)),
  after: v.optional(v.array(StepKey)),
  wave: v.optional(v.nullable(Count)),
  agents: v.optional(v.array(ActorName)),
  parallel: v.optional(v.boolean()),
  gate: v.optional(v.boolean()),
  /** What its gate is called; a gate of this name is one for all its steps. */
  gateName: v.optional(Label),
  context: v.optional(v.array(FilePath)),
  checkpoints: v.optional(v.array(Label)),
});
export type StepPlan = v.InferOutput<typeof StepPlan>;

/** Versions, both included. */
export const ImportedRange = v.object({ from: Count, upTo: Count });
export type ImportedRange = v.InferOutput<typeof ImportedRange>;

const Aliased = { alias: v.optional(Label) };
const StepRef = { step: StepKey };
/** A session takes a step: the claim's number is the fencing number. */
const Taken = { ...StepRef, session: Label, claim: Label, mark: v.optional(TreeMark) };
const Recorded = { artifacts: v.optional(v.array(Artifact)), built: v.optional(Sentence), mark: v.optional(TreeMark) };
const Words = {
  next: v.optional(Sentence),
  why: v.optional(Sentence),
  fileNotes: v.optional(v.array(v.object({ path: FilePath, note: Sentence }))),
};
export const ItemBody = v.object({
  id: Label,
  kind: ItemKind,
  text: Sentence,
  affects: v.optional(v.array(Text)),
  step: v.optional(StepKey),
  severity: v.optional(Severity),
  type: v.optional(ErrorType),
  workaround: v.optional(Text),
  followUp: v.optional(v.array(StepKey)),
  to: v.optional(ActorName),
  due: v.optional(Label),
  by: v.optional(ActorName),
  ...Aliased,
});

export const eventBodies = {
  'run.opened': v.object({
    title: Sentence,
    workspace: Label,
    clone: v.optional(Label),
    /** Left out in journals of version 0.1. */
    kind: v.optional(RunKind),
    /** The program that keeps it, such as `langgraph`; left out where people and agents work in it. */
    source: v.optional(Label),
    goal: v.optional(Text),
    design: v.optional(v.object({ path: FilePath, approvedBy: v.optional(ActorName) })),
    plan: v.optional(v.object({ path: FilePath, sha256: v.optional(v.nullable(v.string())) })),
  }),
  'run.amended': v.object({
    title: v.optional(Sentence),
    kind: v.optional(RunKind),
    goal: v.optional(Text),
    design: v.optional(v.object({ path: FilePath, approvedBy: v.optional(ActorName) })),
    plan: v.optional(v.object({ path: FilePath, sha256: v.optional(v.nullable(v.string())) })),
  }),
  'run.completed': v.object({}),
  'run.reopened': v.object({ reason: v.optional(Text) }),
  'run.abandoned': v.object({ reason: Sentence }),
  'run.archived': v.object({ reason: v.optional(Text) }),
  /**
   * Events that came from a file, recorded by the person who imported them, or with a copied folder. What a person did in them is a claim. The ranges are all
   * that were ever imported here: an event of this kind that came with an import says nothing about this journal.
   */
  'run.imported': v.object({
    upTo: Count,
    /** The hash of the last imported event. */
    head: Label,
    /** SHA-256 of the file. */
    file: v.optional(Label),
    /** Instead of a file: the clone whose folder was copied, with its journal. */
    clone: v.optional(Label),
    ranges: v.array(ImportedRange),
  }),

  /** `before` is the step that it goes in front of; without it, it is the last of the plan. */
  'step.added': v.object({ ...StepRef, ...StepPlan.entries, ...Aliased, before: v.optional(StepKey) }),
  'step.changed': v.object({ ...StepRef, ...v.partial(StepPlan).entries }),
  'step.removed': v.object({ ...StepRef }),
  'step.started': v.object({
    ...Taken,
    takenOverFrom: v.optional(Label),
    /** The files that its session has read already. */
    loaded: v.optional(v.array(FilePath)),
  }),
  'step.checkpointed': v.object({ ...StepRef, name: Label, next: v.optional(Sentence), ...Recorded }),
  'step.completed': v.object({ ...StepRef, summary: v.optional(Sentence), ...Recorded }),
  'step.failed': v.object({ ...StepRef, error: Label, mark: v.optional(TreeMark) }),
  /** Without a session, the step waits until a session starts it. */
  'step.retried': v.object({
    ...Taken,
    session: v.optional(Label),
    claim: v.optional(Label),
    attempt: Count,
    note: v.optional(Text),
  }),
  'step.skipped': v.object({ ...StepRef, reason: Sentence }),
  'step.reopened': v.object({ ...StepRef, reason: Sentence, session: v.optional(Label), claim: v.optional(Label) }),
  'step.confirmed': v.object({ ...StepRef }),
  'step.released': v.object({ ...StepRef, reason: v.optional(Text) }),
  'step.verified': v.object({
    ...StepRef,
    result: v.picklist(['pass', 'fail']),
    probe: v.optional(Sentence),
    exitCode: v.optional(v.nullable(v.number())),
    note: v.optional(Text),
    finding: v.optional(Label),
  }),
  'gate.opened': v.object({ ...StepRef, by: ActorName }),
  'gate.closed': v.object({ ...StepRef, by: ActorName }),

  'session.started': v.object({
    id: Label,
    agent: ActorName,
    kind: v.picklist(['agent', 'person']),
    role: Role,
    leaseMs: Count,
    continues: v.optional(Label),
    /** The session came back after it had been taken for dead. */
    returns: v.optional(v.boolean()),
    parent: v.optional(Label),
    client: v.optional(v.object({ name: Label, id: Label, inferred: v.optional(v.boolean()) })),
    owner: v.optional(Owner),
    mark: v.optional(TreeMark),
    /** The session waits for a request. */
    atRest: v.optional(v.boolean()),
    /** It was recorded there before, and its facts follow. */
    movedFrom: v.optional(v.object({ run: Label, session: Label })),
    ...Aliased,
  }),
  /** What the session recorded here counts there from now on. */
  'session.moved': v.object({
    session: Label,
    to: v.object({ run: Label, session: Label }),
    /** The client's id of its conversation, and its parent: folded state does not keep ended sessions. */
    conversation: v.optional(Label),
    parent: v.optional(Label),
  }),
  'session.ended': v.object({
    id: Label,
    reason: EndReason,
    ...Words,
    notes: v.optional(v.array(Sentence)),
    issues: v.optional(v.array(Sentence)),
    contextUsage: v.optional(Percent),
    mark: v.optional(TreeMark),
    /** Why a silent session was taken for dead. */
    evidence: v.optional(v.array(Sentence)),
    /** When the session was last seen, if that is known and earlier than this event. */
    lastSeenAt: v.optional(Instant),
    /** The client reported no end, but the last turn was over and nothing was running: the session did not crash. */
    unannounced: v.optional(v.boolean()),
  }),

  /** A request to the agent, or whatever else made it work. */
  'turn.began': v.object({
    session: Label,
    kind: TurnKind,
    /** Word for word; left out where nothing was said but "continue". */
    request: v.optional(Sentence),
    images: v.optional(Count),
    mark: v.optional(TreeMark),
  }),
  /** The agent stopped. Interrupted: the next turn began before this one had ended. */
  'turn.ended': v.object({
    session: Label,
    outcome: TurnOutcome,
    /** The agent's last words. */
    said: v.optional(Sentence),
    /** The last words ask the user something. */
    asks: v.optional(v.boolean()),
    /** Effects that run on after the turn. */
    background: v.optional(v.array(Label)),
    /** Why a turn failed. */
    failure: v.optional(v.object({ reason: v.picklist(['rate-limit', 'error']), message: Sentence })),
    mark: v.optional(TreeMark),
  }),

  'claim.taken': v.object({
    id: Label,
    session: Label,
    files: v.pipe(v.array(FilePath), v.minLength(1)),
    reason: v.optional(Text),
    ...Aliased,
  }),
  'claim.released': v.object({ id: Label }),

  'decision.made': v.object({
    id: Label,
    context: Sentence,
    decision: Sentence,
    reason: Sentence,
    type: v.optional(DecisionType),
    key: v.optional(Label),
    alternatives: v.optional(v.array(Sentence)),
    irreversible: v.optional(v.boolean()),
    affects: v.optional(v.array(Text)),
    supersedes: v.optional(Label),
    step: v.optional(StepKey),
    by: v.optional(ActorName),
    ...Aliased,
  }),
  'decision.retracted': v.object({ id: Label, reason: Sentence, was: v.picklist(['active', 'superseded']) }),

  'item.raised': ItemBody,
  'item.settled': v.object({
    id: Label,
    as: SettledAs,
    note: v.optional(Text),
    freed: v.optional(v.array(StepKey)),
    followUp: v.optional(v.array(StepKey)),
  }),
  /** Carries the whole item, because folded state does not keep settled items. */
  'item.reopened': v.object({ item: ItemBody, raisedAt: Instant, note: v.optional(Text) }),

  'note.added': v.object({
    id: Label,
    text: Sentence,
    kind: RecordedNoteKind,
    step: v.optional(StepKey),
    /** The text is a request to the agent, word for word; version 0.1 recorded requests this way. */
    asked: v.optional(v.boolean()),
    ...Aliased,
  }),
  /** The user approved the plan in a note. */
  'note.approved': v.object({ id: Label }),
  'usage.added': v.object({
    agent: ActorName,
    /** With the cached ones; events that lack `includesCached` are read by `core/fold/spent.ts`. */
    input: Count,
    output: Count,
    cached: v.optional(Count),
    includesCached: v.optional(v.boolean()),
    model: v.optional(Label),
    step: v.optional(StepKey),
  }),
  'effect.began': v.object({
    id: Label,
    name: Sentence,
    class: EffectClass,
    key: v.optional(Label),
    step: v.optional(StepKey),
    owner: v.optional(Owner),
    /** It runs on after the tool call, and after the turn. */
    background: v.optional(v.boolean()),
    /** It shows the user a question or a plan; its end is the answer. */
    asks: v.optional(v.picklist(['question', 'plan'])),
    /** Of a program: a nonce and the hash of it with the input, the number of tries, and the silence that proves nothing yet. */
    input: v.optional(Erasable),
    attempt: v.optional(Count),
    leaseMs: v.optional(Count),
  }),
  'effect.ended': v.object({
    id: Label,
    outcome: EffectOutcome,
    /** What a program can do with a success: its result is a value, there is none, or it could not be stored. */
    result: v.optional(v.picklist(['value', 'none', 'unstored'])),
    exitCode: v.optional(v.nullable(v.number())),
    note: v.optional(Text),
  }),
  'files.seen': v.object({
    artifacts: v.pipe(v.array(Artifact), v.minLength(1)),
    step: v.optional(StepKey),
    read: v.optional(v.boolean()),
  }),

  /** Keys of a program's state that were set at once. */
  'value.put': v.object({
    entries: v.pipe(v.array(ValueEntry), v.minLength(1), v.maxLength(256)),
    /** Where the program is now, in its own words. */
    reached: v.optional(Label),
  }),
  /** Keys that were removed, and kept values by the version that set them. */
  'value.removed': v.object({
    keys: v.array(Label),
    kept: v.optional(v.array(v.object({ key: Label, version: Count }))),
  }),

  'message.sent': v.object({
    id: Label,
    from: ActorName,
    to: ActorName,
    type: MessageType,
    priority: Priority,
    subject: Sentence,
    body: Text,
    respondBy: v.optional(Label),
    about: v.optional(Label),
    ...Aliased,
  }),
  'message.moved': v.object({ id: Label, to: MessageStatus, note: Text, disposition: v.optional(Disposition) }),
  'message.replied': v.object({ id: Label, from: ActorName, body: Sentence }),
  /** One side of a message has read the replies of the other. */
  'message.heard': v.object({ id: Label, side: MessageSide, note: Text }),
  /** The message was not acknowledged in time; `notice` is the message that informs the maintainer. */
  'message.escalated': v.object({ id: Label, why: Sentence, notice: v.optional(Label) }),

  'snapshot.taken': v.object({
    id: Label,
    session: Label,
    agent: ActorName,
    sequence: Count,
    reason: v.optional(CloseReason),
    reconstructed: v.optional(v.boolean()),
    /** Taken at the end of a turn: the session waits for the next request. Version 0.1 recorded the end of a turn this way. */
    atRest: v.optional(v.boolean()),
    token: v.optional(Label),
    mark: v.optional(TreeMark),
    /** The text as written, so that it can be written again when its sources (files, git) have changed. */
    text: v.optional(Text),
    ...Words,
  }),
  'handoff.offered': v.object({
    id: Label,
    from: Label,
    to: ActorName,
    steps: v.array(StepKey),
    message: v.optional(Text),
    snapshot: v.optional(Label),
    /** The commit at the time of the offer, to count how many commits it is behind. */
    head: v.optional(Label),
  }),
  'handoff.accepted': v.object({
    id: Label,
    session: Label,
    claims: v.array(v.object({ step: StepKey, claim: Label })),
  }),
  'handoff.clarified': v.object({ id: Label, question: Sentence }),
  'handoff.declined': v.object({ id: Label, reason: Text }),
  'handoff.withdrawn': v.object({ id: Label, reason: v.optional(Text) }),
  'handoff.finished': v.object({ id: Label, outcome: Text }),

  'conflict.accepted': v.object({ id: Label, note: v.optional(Text) }),
  'mirror.added': v.object({ format: Label, path: FilePath }),
  'mirror.removed': v.object({ format: Label, path: FilePath }),
  /** What another tool's file says about the run: all of it at first, later only what changed. */
  'account.read': v.object({ format: Label, path: FilePath, dialect: v.optional(Label), account: RunModelPart }),
  /** Worklog entries that were moved to an archive; the proof is a hash over all entries before the move. */
  'worklog.compacted': v.object({ archive: Count, entries: v.array(Label), lines: Count, proof: Label }),
  'recovery.made': v.object({ from: Text, findings: v.array(Text) }),
  'text.erased': v.object({ versions: v.array(Count), reason: Sentence }),
} as const;

export type EventType = keyof typeof eventBodies;
export type EventBody<T extends EventType> = v.InferOutput<(typeof eventBodies)[T]>;

/** An event that was decided and is not recorded yet. */
export type Draft = { [T in EventType]: { type: T; body: EventBody<T>; basis: Basis } }[EventType];

interface Envelope {
  run: string;
  /** The number of the event in its run, from 1, without gaps. */
  version: number;
  at: string;
  actor: Actor;
  /** What the name of the actor rests on; events of version 0.1 do not say. */
  evidence?: Evidence;
  session: string | null;
  /** The idempotency key of the command that caused it. */
  key: string | null;
  /** The hash of the event before, or 64 zeros. */
  previous: string;
  hash: string;
  /** SHA-256 of the body as recorded; an erasure does not change it. */
  bodyHash: string;
}

export type Event = Draft & Envelope;
export type EventOf<T extends EventType> = Extract<Event, { type: T }>;
