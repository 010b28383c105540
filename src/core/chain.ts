import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Actor, Draft, Event } from './event.ts';

/** What the first event of a run names as its predecessor. */
export const GENESIS = '0'.repeat(64);

export interface Stamp {
  run: string;
  at: string;
  actor: Actor;
  session: string | null;
  key: string | null;
}

/**
 * Drafts become events: numbered, stamped, each with the hash of the one before. The chain runs over the hash of the
 * body, not the body, so that the text of a body can be erased and the chain still verifies.
 */
export function seal(drafts: readonly Draft[], stamp: Stamp, head: { version: number; hash: string }): Event[] {
  let { version, hash: previous } = head;
  return drafts.map((draft) => {
    version += 1;
    const bodyHash = digest(JSON.stringify(draft.body));
    const event = { ...draft, ...stamp, version, previous, bodyHash, hash: '' } as Event;
    event.hash = digest(chained(event));
    previous = event.hash;
    return event;
  });
}

export interface ChainProblem {
  version: number;
  message: string;
}

/** Verifies events in version order against the head they follow; text that was erased is the one allowed difference. */
export function verifyChain(
  events: Iterable<Event>,
  erased: ReadonlySet<number>,
  head: { version: number; hash: string } = { version: 0, hash: GENESIS },
): { problems: ChainProblem[]; head: { version: number; hash: string } } {
  const problems: ChainProblem[] = [];
  let { version, hash } = head;
  for (const event of events) {
    if (event.version !== version + 1) {
      problems.push({ version: event.version, message: `event ${version + 1} is missing: ${event.version} follows ${version}` });
    } else if (event.previous !== hash) {
      problems.push({ version: event.version, message: `event ${event.version} does not follow the event before it` });
    }
    if (digest(chained(event)) !== event.hash) {
      problems.push({ version: event.version, message: `the envelope of event ${event.version} was changed after it was recorded` });
    }
    if (!erased.has(event.version) && digest(JSON.stringify(event.body)) !== event.bodyHash) {
      problems.push({ version: event.version, message: `the body of event ${event.version} was changed after it was recorded` });
    }
    version = event.version;
    hash = event.hash;
  }
  return { problems, head: { version, hash } };
}

export function digest(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

function chained(event: Event): string {
  const { previous, run, version, at, type, actor, session, key, basis, bodyHash } = event;
  return JSON.stringify([previous, run, version, at, type, actor.kind, actor.name, session, key, basis, bodyHash]);
}
