import { oneLine } from '../../core/text.ts';

/** Every entry of the decision log needs a title, also a decision without one. */
export const titleFor = (words: string): string => oneLine(words, 80);
