/** English words that say nothing about what is looked for. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the of to in on at for and or is was were are be been did do does done has have had what when where who whom ' +
    'which why how that this these those it its with from by as about his her their he she they i you we our your my me ' +
    'him them than then so if not no can could would should will may might into over after before during while both ' +
    'there here also any some more most such own same very just one per us'
  ).split(' '),
);

export const isStopWord = (word: string): boolean => STOP_WORDS.has(word);

/** A word without its English ending (`retries` and `retrying` as `retri`). Words with digits are names. */
export function stemOf(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const stem = withoutPast(withoutPlural(word));
  if (stem.endsWith('e') && stem.length > 4) return stem.slice(0, -1);
  return stem.endsWith('y') && stem.length > 3 ? `${stem.slice(0, -1)}i` : stem;
}

function withoutPlural(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:x|ch|sh|ss)es$/.test(word)) return word.slice(0, -2);
  return /s$/.test(word) && !/(?:ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}

function withoutPast(word: string): string {
  const ending = ['ing', 'ed'].find((one) => word.endsWith(one) && word.length - one.length >= 3);
  const stem = ending === undefined ? word : word.slice(0, -ending.length);
  if (ending === undefined || !/[aeiouy]/.test(stem)) return word;
  return /(.)\1$/.test(stem) && !/(?:ll|ss|zz)$/.test(stem) ? stem.slice(0, -1) : stem;
}
