import type { RunModelPart } from '../model/run-model.ts';
import type { Turn } from './conversation.ts';
import type {
  Claim,
  Decision,
  Effect,
  FileRow,
  Handoff,
  Item,
  Message,
  Mirror,
  Note,
  Result,
  Run,
  Session,
  Snapshot,
  Step,
  Usage,
  Value,
} from './state.ts';

export interface Foreign extends Pick<RunModelPart, 'kept' | 'claims' | 'position' | 'next'> {
  format: string;
  path: string;
  dialect: string | null;
}

/** The kinds of rows in the projection. */
export interface Rows {
  run: Run;
  step: Step;
  result: Result;
  session: Session;
  turn: Turn & { id: string };
  claim: Claim;
  decision: Decision;
  item: Item;
  note: Note;
  effect: Effect;
  value: Value;
  message: Message;
  handoff: Handoff;
  snapshot: Snapshot;
  file: FileRow;
  usage: Usage;
  mirror: Mirror;
  conflict: { id: string; at: string };
  /** What a file has and we have no field for. */
  foreign: Foreign;
  recovery: { id: string; from: string; findings: readonly string[]; at: string };
  erasure: { versions: readonly number[]; reason: string };
}
export type RowKind = keyof Rows;

/** A row before and after an event; `after` is null when the row is removed. */
export type Touch = { [K in RowKind]: { kind: K; id: string; before: Rows[K] | null; after: Rows[K] | null } }[RowKind];

/** Finds a row that folded state no longer holds. Without it such rows are missing from the touches; state is the same. */
export type Recall = <K extends RowKind>(kind: K, id: string) => Rows[K] | null;

export type AddTouch = <K extends RowKind>(kind: K, id: string, before: Rows[K] | null, after: Rows[K] | null) => void;
