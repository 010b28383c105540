/** The public entry `holdfast/core`: what can happen, what is allowed, and what follows from it. */
export { GENESIS, seal } from './chain.ts';
export { type Change, changesOf } from './changed.ts';
export type { Command, CommandOf, CommandType, PlannedStep } from './command.ts';
export { type Circumstances, type Decided, decide } from './decide.ts';
export { type PlanView, type Progress, planView, type StepView } from './derive.ts';
export {
  type Artifact,
  type Draft,
  type Event,
  type EventBody,
  type EventType,
  eventBodies,
} from './event.ts';
export { evolve, fold } from './evolve.ts';
export { asFault, Fault, type FaultCode, faultExits } from './fault.ts';
export { lifecycles, type Noun } from './lifecycle.ts';
export type { State } from './state.ts';
export { deserializeState, emptyState, serializeState } from './state-tables.ts';
export { chainVerifier } from './verify.ts';
export type { Actor, Basis } from './vocabulary.ts';
