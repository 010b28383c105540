/** The public entry `holdfast/core`: the events, the rules, and the views derived from them. */

export { asFault, Fault, type FaultCode, faultExits } from './fault.ts';
export { evolve, fold } from './fold/evolve.ts';
export type { State } from './fold/state.ts';
export { deserializeState, emptyState, serializeState } from './fold/state-tables.ts';
export { GENESIS, seal } from './journal/chain.ts';
export type { Command, CommandOf, CommandType, PlannedStep } from './journal/command.ts';
export {
  type Artifact,
  type Draft,
  type Event,
  type EventBody,
  type EventType,
  eventBodies,
} from './journal/event.ts';
export { chainVerifier } from './journal/verify.ts';
export { type CommandContext, type Decided, decide } from './rules/decide.ts';
export { lifecycles, type Noun } from './rules/lifecycle.ts';
export { type Change, changesOf } from './views/change.ts';
export { type PlanView, type Progress, planView, type StepView } from './views/plan.ts';
export type { Actor, Basis } from './words.ts';
