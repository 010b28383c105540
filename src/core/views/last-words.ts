/** What an agent said at the end of a turn: whether it asks, and what. */

/** The last sentence of the last paragraph is a question to the user, and more than an offer to go on. */
export function lastWordsAsk(said: string): boolean {
  return questionIn(said) !== null;
}

/** The question that the last words end with; null if they do not ask. */
export function questionIn(said: string): string | null {
  const paragraphs = said
    .slice(-LOOK_CHARS)
    .replace(/\r\n?/g, '\n')
    .split(/\n[ \t]*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');
  const last = withoutOptions(paragraphs);
  if (last === null) return null;
  const sentence = lastSentence(last.replace(CLOSING, ''));
  if (!/[?？؟]$/.test(sentence)) return null;
  const words = sentence.toLowerCase();
  return offers.some((offer) => holds(words, offer)) ? null : sentence;
}

const LOOK_CHARS = 4000;
/** Marks that may follow the question mark: quotes, brackets, emphasis. */
const CLOSING = /[\s*_~`"'”’»)\]】」』]+$/u;
const OPTION = /^\s*(?:[-*•]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+\S/iu;

/** The last paragraph, without a list of options after the question; a list alone belongs to the paragraph before it. */
function withoutOptions(paragraphs: readonly string[]): string | null {
  for (let index = paragraphs.length - 1; index >= 0; index--) {
    const lines = (paragraphs[index] ?? '').split('\n');
    while (lines.length > 0 && OPTION.test(lines.at(-1) ?? '')) {
      // A question may itself be an entry of a list.
      if (/[?？؟]$/.test((lines.at(-1) ?? '').replace(CLOSING, ''))) break;
      lines.pop();
    }
    const text = lines.join('\n').trim();
    if (text !== '') return text;
  }
  return null;
}

/** Marks of the end of a sentence count before a space only, so that `src/a.ts?` stays whole. */
function lastSentence(paragraph: string): string {
  const parts = paragraph.split(/(?<=[.!?…。！？؟]["'”’»)*_`]*)\s+|(?<=[。！？])|\n+/u);
  return (parts.filter((part) => part.trim() !== '').at(-1) ?? '').trim();
}

/** Words of a question that only offers more. */
const offers: readonly string[] = [
  'also',
  'anything else',
  'something else',
  'let me know',
  'feel free',
  'noch etwas',
  'sonst noch',
  'autre chose',
  'algo más',
  'mais alguma coisa',
  'altro',
  '他に',
  '还有',
];

function holds(words: string, offer: string): boolean {
  if (/[\u0250-\uffff]/.test(offer)) return words.includes(offer);
  return new RegExp(`(?:^|[^\\p{L}])${offer}(?:$|[^\\p{L}])`, 'u').test(words);
}
