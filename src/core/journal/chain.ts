import type { Evidence } from '../evidence.ts';
import { sha256 } from '../sha256.ts';
import type { Actor } from '../words.ts';
import type { Draft, Event } from './event.ts';

/** The predecessor hash of the first event of a run. */
export const GENESIS = '0'.repeat(64);

export interface Stamp {
  run: string;
  at: string;
  actor: Actor;
  evidence: Evidence;
  session: string | null;
  key: string | null;
}

/**
 * Turns drafts into events: numbered, stamped, each with the hash of the one before. The chain covers the hash of the
 * body, not the body, so that text can be erased and the chain still verifies.
 */
export function seal(drafts: readonly Draft[], stamp: Stamp, head: { version: number; hash: string }): Event[] {
  let { version, hash: previous } = head;
  return drafts.map((draft) => {
    version += 1;
    const bodyHash = sha256(JSON.stringify(draft.body));
    const event = { ...draft, ...stamp, version, previous, bodyHash, hash: '' } as Event;
    event.hash = sha256(chained(event));
    previous = event.hash;
    return event;
  });
}

/** The text that an event's hash is computed from. Events of version 0.1 have no evidence, and one field less. */
export function chained(event: Event): string {
  const { previous, run, version, at, type, actor, evidence, session, key, basis, bodyHash } = event;
  const known = [previous, run, version, at, type, actor.kind, actor.name, session, key, basis, bodyHash];
  return JSON.stringify(evidence === undefined ? known : [...known, evidence]);
}
