import type { Journal } from './journal.ts';
import type { Presence } from './presence.ts';
import type { Projection } from './projection.ts';

/**
 * What a database must do. The journal is the only truth; everything else (head columns, rows, saved state, heartbeats)
 * can be dropped and rebuilt from the events.
 *
 * Faults of every method of the three ports: `unavailable` when the database cannot be reached, is busy for longer than
 * the store waits, full, read-only or gone; `corrupt` when it answers nonsense. Faults of opening:
 * `newer_schema` when a newer program wrote the database, `invalid` for an address the store does not know. No method
 * throws anything else. `data.recorded` of a failed append is `no` after a completed rollback, `unknown` when it was cut
 * off, and `yes` when only what follows the commit failed. One suite, `store.suite.ts`, checks every store against these pages.
 */
export interface Store {
  /** Where this store is, without secrets, for messages. */
  readonly place: string;
  readonly journal: Journal;
  readonly projection: Projection;
  readonly presence: Presence;
  /** By how much its clock is ahead of this machine's: machines that share it must agree on who has been silent for too long. */
  readonly aheadMs: number;

  /** Which database this is. */
  identity(): Promise<StoreIdentity>;
  /** Says what it is from now on: that of a copy is another one, and after an import or a repair its epoch is. */
  identify(identity: StoreIdentity): Promise<void>;

  /** Problems the database reports about itself; empty when there are none. */
  inspect(): Promise<string[]>;

  close(): Promise<void>;
}

/** Both are random and made with the database. A backup that is restored has those of the database it was made of. */
export interface StoreIdentity {
  /** `s-…`. */
  id: string;
  /** `e-…`: another one when events came or went in another way than by the commands of a run. */
  epoch: string;
}
