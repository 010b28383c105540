import { sha256 } from '../sha256.ts';
import { isName } from '../text.ts';
import { chained, GENESIS } from './chain.ts';
import { withoutWords } from './erase.ts';
import type { Event } from './event.ts';

export interface ChainProblem {
  version: number;
  message: string;
}

/** Verifies a run event by event, in version order. Text that was erased is the one allowed difference. */
export function chainVerifier(): { push(event: Event): void; finish(): ChainProblem[] } {
  const problems: ChainProblem[] = [];
  /** Bodies that differ from their hash; a later erasure may explain them. */
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
      if (sha256(chained(event)) !== event.hash) {
        problems.push({
          version: event.version,
          message: `The envelope of event ${event.version} was changed after it was recorded.`,
        });
      }
      if (sha256(JSON.stringify(event.body)) !== event.bodyHash) {
        // An erased body has no text left. If it has some, it was put there afterwards.
        const bare = withoutWords(event.type, event.body, (text) => isName(text, '._-', 64));
        const wordless = JSON.stringify(bare) === JSON.stringify(event.body);
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
