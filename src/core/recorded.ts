import { Fault } from './fault.ts';

/** How much a command has recorded so far; kept beside it, because it may fail after a part of it. */
export interface Tally {
  events: number;
}

/**
 * Adds to the fault of a command whether anything of it is in the journal: `yes`, also for a part of it; `unknown` when
 * a write was cut off, with the key to repeat it; `no` otherwise, since a refusal writes nothing and a failed write is
 * rolled back.
 */
export function withRecorded(fault: Fault, { events }: Tally, key?: string): Fault {
  const known = fault.data['recorded'];
  const recorded = known === 'unknown' ? known : events > 0 ? 'yes' : (known ?? (isSurprise(fault) ? 'unknown' : 'no'));
  const again = recorded === 'unknown' && key !== undefined;
  if (recorded === known && !again) return fault;
  const part = recorded === 'yes' ? ['A part of the command was recorded before: `holdfast log` shows it.'] : [];
  const { code, message, hints, cause } = fault;
  const claims = recorded === 'no' ? hints : hints.filter((hint) => hint !== NOTHING_WRITTEN);
  const repeat = again ? [`Repeat the command with \`--idempotency ${key}\`: it is recorded once.`] : [];
  const data = { ...fault.data, recorded, ...(again ? { key } : {}) };
  return new Fault(code, message, { hints: [...part, ...claims, ...repeat], data, cause });
}

/** Said only of a write that was rolled back. */
export const NOTHING_WRITTEN = 'Nothing was written.';

const isSurprise = ({ code }: Fault): boolean => code === 'internal';
