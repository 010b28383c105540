import { oneLine } from '../../core/text.ts';

/** Every entry of the decision log has a title, whether or not anybody gave it one. */
export const titleFor = (words: string): string => oneLine(words, 80);
