import { withoutWords } from '../../../core/journal/erase.ts';
import type { Event } from '../../../core/journal/event.ts';
import { stringsIn } from '../../../core/journal/find-secrets.ts';

/** Recognises erased text in files that repeat it wrapped, escaped or shortened. */
export type HoldsWords = (text: string) => boolean;

/** The texts that erasing takes out of events. */
export function wordsOf(events: readonly Event[]): string[] {
  return events.flatMap(({ type, body }) => {
    const kept = new Set(stringsIn(withoutWords(type, body)));
    return [...stringsIn(body)].filter((text) => !kept.has(text));
  });
}

/** Compares letters and digits only, in pieces: a file may have only the beginning of a text. */
export function lookFor(texts: readonly string[]): HoldsWords {
  const pieces = [...new Set(texts.flatMap((text) => piecesOf(lettersOf(text))))];
  return (text) => {
    const letters = lettersOf(text);
    return pieces.some((piece) => letters.includes(piece));
  };
}

/** Anything shorter is found in nearly every file. */
const SHORTEST_CHARS = 4;
const PIECE_CHARS = 32;

function piecesOf(letters: string): string[] {
  if (letters.length < SHORTEST_CHARS) return [];
  if (letters.length <= PIECE_CHARS) return [letters];
  const count = Math.floor(letters.length / PIECE_CHARS);
  return Array.from({ length: count }, (_, index) => letters.slice(index * PIECE_CHARS, (index + 1) * PIECE_CHARS));
}

function lettersOf(text: string): string {
  return text
    .replace(/\\(?:u[0-9a-f]{4}|[nrt])/gi, '')
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase();
}
