/** The public entry `holdfast`: open a workspace and call every operation as a method. */
export type { CallOptions } from './call-options.ts';
export { Fault, type FaultCode } from './core/fault.ts';
export type { EffectOptions, EffectWork, UncertainEffect, Uncertainty } from './effect-run.ts';
export type { Held, HoldOptions } from './hold.ts';
export { type Holdfast, type HoldfastOptions, openHoldfast } from './holdfast.ts';
export type { Got, Listed, ProgramState, Put, PutAllOptions, PutOptions } from './state.ts';
export type { Watched, WatchOptions } from './watch.ts';
