/** The public entry `holdfast`: open a workspace and call every operation as a method. */
export { Fault, type FaultCode } from './core/fault.ts';
export type { Held, HoldOptions } from './hold.ts';
export { type CallOptions, type Holdfast, type HoldfastOptions, openHoldfast } from './holdfast.ts';
export type { Watched, WatchOptions } from './watch.ts';
