import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { withoutWords } from './erase.ts';
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

/** Verifies a run event by event, in version order. Text that was erased is the one allowed difference. */
export function chainVerifier(): { push(event: Event): void; finish(): ChainProblem[] } {
  const problems: ChainProblem[] = [];
  /** Bodies that differ from their hash; an erasure recorded later may account for them. */
  const differing = new Map<number, 'erased' | 'changed'>();
  let version = 0;
  let hash = GENESIS;
  return {
    push(event) {
      if (event.version !== version + 1) {
        problems.push({
          version: event.version,
          message: `Event ${version + 1} is missing: ${event.version} follows ${version}.`,
        });
      } else if (event.previous !== hash) {
        problems.push({
          version: event.version,
          message: `Event ${event.version} does not follow the event before it.`,
        });
      }
      if (digest(chained(event)) !== event.hash) {
        problems.push({
          version: event.version,
          message: `The envelope of event ${event.version} was changed after it was recorded.`,
        });
      }
      if (digest(JSON.stringify(event.body)) !== event.bodyHash) {
        // What was erased has no words left. Where it has some, somebody put them there.
        const wordless = JSON.stringify(withoutWords(event.type, event.body)) === JSON.stringify(event.body);
        differing.set(event.version, wordless ? 'erased' : 'changed');
      }
      if (event.type === 'text.erased') {
        for (const at of event.body.versions) if (differing.get(at) === 'erased') differing.delete(at);
      }
      ({ version, hash } = event);
    },
    finish() {
      const changed = [...differing.keys()].map((at) => ({
        version: at,
        message: `The body of event ${at} was changed after it was recorded.`,
      }));
      return [...problems, ...changed].sort((a, b) => a.version - b.version);
    },
  };
}

export function digest(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

function chained(event: Event): string {
  const { previous, run, version, at, type, actor, session, key, basis, bodyHash } = event;
  return JSON.stringify([previous, run, version, at, type, actor.kind, actor.name, session, key, basis, bodyHash]);
}
