import * as v from 'valibot';
import { ActorName } from './text.ts';

/** The closed sets of words that events and commands choose from. */

/** Declared: an agent said so. Verified: Holdfast saw it itself (a hash, a commit, an exit code). */
export const Basis = v.picklist(['declared', 'verified']);
export type Basis = v.InferOutput<typeof Basis>;

export const Actor = v.object({ kind: v.picklist(['agent', 'person']), name: ActorName });
export type Actor = v.InferOutput<typeof Actor>;

/** What an identity may do. Each scope includes those before it. */
export const Scope = v.picklist(['read', 'write', 'maintain']);
export type Scope = v.InferOutput<typeof Scope>;

export const Role = v.picklist(['worker', 'architect', 'orchestrator', 'verifier']);
export type Role = v.InferOutput<typeof Role>;

export const StepKind = v.picklist(['phase', 'plan', 'task', 'step']);
export type StepKind = v.InferOutput<typeof StepKind>;

export const DecisionType = v.picklist(['technology', 'architecture', 'trade-off', 'preference', 'constraint']);
export const ItemKind = v.picklist(['blocker', 'finding', 'question', 'commitment', 'error']);
export type ItemKind = v.InferOutput<typeof ItemKind>;
export const Severity = v.picklist(['must_fix', 'should_fix', 'suggestion']);
export const ErrorType = v.picklist(['validation', 'timeout', 'file_conflict', 'runtime', 'dependency']);
export const NoteKind = v.picklist(['worklog', 'deviation', 'constraint', 'dead-end']);
/** A plan that was shown to the user is a note too; it makes no steps by itself. */
export const RecordedNoteKind = v.picklist([...NoteKind.options, 'plan']);
/** Ad hoc: opened by hooks for what a user asked. Planned: it has a plan made on purpose. */
export const RunKind = v.picklist(['ad-hoc', 'planned']);
export type RunKind = v.InferOutput<typeof RunKind>;
/** What began a turn. Unknown: the agent worked, and no prompt was reported. */
export const TurnKind = v.picklist(['request', 'continuation', 'answer', 'command', 'unknown']);
export type TurnKind = v.InferOutput<typeof TurnKind>;
export const TurnOutcome = v.picklist(['done', 'failed', 'interrupted']);
export type TurnOutcome = v.InferOutput<typeof TurnOutcome>;
export const EffectClass = v.picklist(['read', 'idempotent', 'irreversible', 'unknown']);
export const EffectOutcome = v.picklist(['succeeded', 'failed', 'cancelled', 'unknown']);
export const CloseReason = v.picklist(['completed', 'context-exhausted', 'timeout', 'maintainer-directed']);
export const EndReason = v.picklist([...CloseReason.options, 'crashed', 'superseded']);
export const SettledAs = v.picklist(['resolved', 'bypassed', 'deferred', 'withdrawn', 'active']);
export const MessageType = v.picklist(['notify', 'request', 'decision-required', 'objection', 'handoff-ready']);
export const Priority = v.picklist(['P0', 'P1', 'P2']);
export const MessageStatus = v.picklist(['unread', 'acknowledged', 'blocked', 'actioned', 'closed']);
export const MessageSide = v.picklist(['from', 'to']);
export type MessageSide = v.InferOutput<typeof MessageSide>;
export const Disposition = v.picklist(['resolved', 'superseded', 'withdrawn', 'abandoned', 'deferred']);
