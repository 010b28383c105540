import * as v from 'valibot';
import { FilePath, Label, StepKey, Text } from '../text.ts';
import {
  DecisionType,
  Disposition,
  ErrorType,
  ItemKind,
  MessageStatus,
  MessageType,
  NoteKind,
  Priority,
  Role,
  Severity,
  StepKind,
} from '../words.ts';

/**
 * The run model: everything a state file can say about a run, in our words. Reading another tool's file gives one, and
 * writing such a file takes one, so formats know nothing of events. Absent means that the file does not say, which differs
 * from empty.
 *
 * `alias` is the id in the file (`OQ-031`, `block-001`, `D001`); `id` is ours and is never set by a parser. Times are
 * copied from the file as written; our own are ISO in UTC.
 */

export const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const When = v.pipe(v.string(), v.maxLength(200));
/** Other tools' agents have names with spaces and bars. */
const Who = v.pipe(Text, v.maxLength(200));
const Named = { id: v.optional(Label), alias: v.optional(Label) };

export const ModelFile = v.object({
  /** As written in the file; it may be relative to the folder of that file. */
  path: FilePath,
  /** The path from the root of the workspace, set once the file was found there. */
  place: v.optional(FilePath),
  change: v.optional(v.picklist(['created', 'modified', 'deleted'])),
  note: v.optional(Text),
});
export type ModelFile = v.InferOutput<typeof ModelFile>;

export const ModelStep = v.object({
  key: StepKey,
  /** The key in the file, if it differs from ours (`3.5` for `3_5`). */
  alias: v.optional(Label),
  title: Text,
  kind: StepKind,
  parent: v.optional(StepKey),
  after: v.optional(v.array(StepKey)),
  wave: v.optional(Count),
  agents: v.optional(v.array(Who)),
  parallel: v.optional(v.boolean()),
  gate: v.optional(
    v.object({
      state: v.picklist(['closed', 'open']),
      /** What the format calls it; a gate of this name is one for all its steps. */
      name: v.optional(Label),
      by: v.optional(Who),
      at: v.optional(When),
    }),
  ),
  /** The files to load for the step. */
  context: v.optional(v.array(FilePath)),
  /** The checkpoints it is expected to reach, in order. */
  checkpoints: v.optional(v.array(Label)),
  /** For a step with children, what the file claims. */
  status: v.picklist(['pending', 'in_progress', 'completed', 'failed', 'skipped']),
  /** The checkpoint reached last. */
  checkpoint: v.optional(Text),
  startedAt: v.optional(When),
  endedAt: v.optional(When),
  retries: v.optional(Count),
  /** In progress, and its session crashed. Never set by a parser. */
  interrupted: v.optional(v.boolean()),
  /** Why it was skipped or reopened. */
  reason: v.optional(Text),
  summary: v.optional(Text),
  /** Sentences on what was implemented, for later steps. */
  built: v.optional(v.array(Text)),
  artifacts: v.optional(v.array(ModelFile)),
  /** The files that were read between its start and its first checkpoint. */
  contextRead: v.optional(v.array(FilePath)),
});
export type ModelStep = v.InferOutput<typeof ModelStep>;

export const ModelDecision = v.object({
  ...Named,
  key: v.optional(Label),
  type: v.optional(DecisionType),
  context: v.optional(Text),
  decision: Text,
  reason: v.optional(Text),
  alternatives: v.optional(v.array(Text)),
  irreversible: v.optional(v.boolean()),
  affects: v.optional(v.array(Text)),
  step: v.optional(StepKey),
  by: v.optional(Who),
  at: v.optional(When),
  status: v.optional(v.picklist(['active', 'superseded', 'retracted'])),
  /** The status before the file was read. Set by the rules, never by a parser. */
  was: v.optional(v.picklist(['active', 'superseded', 'retracted'])),
  /** The alias or id of the decision it replaces. */
  supersedes: v.optional(Label),
});
export type ModelDecision = v.InferOutput<typeof ModelDecision>;

export const ModelItem = v.object({
  ...Named,
  kind: ItemKind,
  text: Text,
  status: v.picklist(['active', 'bypassed', 'open', 'resolved', 'deferred', 'withdrawn']),
  severity: v.optional(Severity),
  type: v.optional(ErrorType),
  affects: v.optional(v.array(Text)),
  step: v.optional(StepKey),
  workaround: v.optional(Text),
  followUp: v.optional(v.array(StepKey)),
  to: v.optional(Who),
  due: v.optional(When),
  by: v.optional(Who),
  raisedAt: v.optional(When),
  settledAt: v.optional(When),
  resolution: v.optional(Text),
});
export type ModelItem = v.InferOutput<typeof ModelItem>;

export const ModelNote = v.object({
  ...Named,
  kind: NoteKind,
  text: Text,
  step: v.optional(StepKey),
  by: v.optional(Who),
  at: v.optional(When),
});
export type ModelNote = v.InferOutput<typeof ModelNote>;

export const ModelSession = v.object({
  ...Named,
  agent: v.optional(Who),
  role: v.optional(Role),
  status: v.picklist([
    'active',
    'completed',
    'context-exhausted',
    'timeout',
    'maintainer-directed',
    'crashed',
    'superseded',
  ]),
  startedAt: v.optional(When),
  endedAt: v.optional(When),
  /** The alias or id of the session it continues. */
  continues: v.optional(Label),
  /** What it finished, as written in the file: step keys or titles. */
  completed: v.optional(v.array(Text)),
  workingOn: v.optional(Text),
  notes: v.optional(v.array(Text)),
  issues: v.optional(v.array(Text)),
  /** Percent of the context window. */
  contextUsage: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(100))),
  next: v.optional(Text),
  why: v.optional(Text),
});
export type ModelSession = v.InferOutput<typeof ModelSession>;

export const ModelMessage = v.object({
  ...Named,
  from: Who,
  to: Who,
  type: MessageType,
  priority: Priority,
  status: MessageStatus,
  subject: Text,
  body: Text,
  at: v.optional(When),
  respondBy: v.optional(When),
  disposition: v.optional(Disposition),
  acks: v.optional(v.array(v.object({ by: Who, at: v.optional(When), to: v.optional(MessageStatus), note: Text }))),
  replies: v.optional(v.array(v.object({ from: Who, at: v.optional(When), body: Text }))),
});
export type ModelMessage = v.InferOutput<typeof ModelMessage>;

export const ModelClaim = v.object({
  ...Named,
  agent: Who,
  files: v.array(FilePath),
  reason: v.optional(Text),
  since: v.optional(When),
});
export type ModelClaim = v.InferOutput<typeof ModelClaim>;

/** Tokens; what is not known is absent, not zero. */
export const ModelUsage = v.object({
  agent: Who,
  input: v.optional(Count),
  output: v.optional(Count),
  cached: v.optional(Count),
});
export type ModelUsage = v.InferOutput<typeof ModelUsage>;

export const ModelRun = v.object({
  ...Named,
  title: Text,
  goal: v.optional(Text),
  status: v.picklist(['active', 'completed', 'abandoned', 'archived']),
  openedAt: v.optional(When),
  updatedAt: v.optional(When),
  design: v.optional(v.object({ path: FilePath, approvedBy: v.optional(Who) })),
  plan: v.optional(FilePath),
  branch: v.optional(Text),
  reason: v.optional(Text),
});
export type ModelRun = v.InferOutput<typeof ModelRun>;

export const RunModel = v.object({
  run: ModelRun,
  steps: v.array(ModelStep),
  decisions: v.array(ModelDecision),
  items: v.array(ModelItem),
  notes: v.array(ModelNote),
  sessions: v.array(ModelSession),
  messages: v.array(ModelMessage),
  claims: v.array(ModelClaim),
  usage: v.array(ModelUsage),
  /** Recent files that belong to no step. */
  files: v.array(ModelFile),
  /** The current step, or null if the file does not lead to one. */
  position: v.optional(v.object({ step: v.nullable(StepKey), words: v.optional(Text) })),
  next: v.optional(Text),
  /**
   * What the format has and we have no field for (JSON), kept to be written back when the file is rebuilt. Keyed by
   * format, because a run may be mirrored in several.
   */
  kept: v.optional(v.record(v.string(), v.unknown())),
});
export type RunModel = v.InferOutput<typeof RunModel>;

/** The part of a run model that one event carries. */
export const RunModelPart = v.partial(RunModel);
export type RunModelPart = v.InferOutput<typeof RunModelPart>;

export function emptyRunModel(title: string): RunModel {
  return {
    run: { title, status: 'active' },
    steps: [],
    decisions: [],
    items: [],
    notes: [],
    sessions: [],
    messages: [],
    claims: [],
    usage: [],
    files: [],
  };
}
