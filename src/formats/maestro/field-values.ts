import * as v from 'valibot';
import { Label, StepKey, Text } from '../../core/text.ts';

/** Values of a file as far as the run model can hold them; undefined otherwise. */

export function label(words: string | null): string | undefined {
  return words !== null && v.is(Label, words) ? words : undefined;
}

export function who(words: string | null): string | undefined {
  const name = words?.trim();
  return name && name.length <= 200 ? name : undefined;
}

export function when(words: string | null): string | undefined {
  return words !== null && words.length <= 200 ? words : undefined;
}

export function path(words: string | null): string | undefined {
  return words !== null && words.trim() !== '' && words.length <= 4096 && !words.includes('\n') ? words : undefined;
}

export function count(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** Text is never dropped for its length: beyond a megabyte it is cut with an ellipsis. */
export function words(text: string): string {
  const fits: boolean = v.is(Text, text);
  return fits ? text : `${text.slice(0, 300_000)}…`;
}

export function isStepKey(words: string): boolean {
  return v.is(StepKey, words);
}

/** A valid step key from a text that is not one. */
export function toStepKey(words: string): string | null {
  const key = words
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+|-+$/gu, '')
    .slice(0, 60);
  return isStepKey(key) ? key : null;
}

/** Equal except for white space, which formats change. */
export function same(one: string | undefined, other: string | undefined): boolean {
  return one === other || flat(one ?? '') === flat(other ?? '');
}

export function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
