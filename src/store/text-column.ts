/**
 * The searched text of a row consists of strings of its document, and both must come back. To store a text of some
 * kilobytes once instead of twice, the column holds the text with each string of the document replaced by its index:
 * `[0, "\n", 3]` is the first string, a line feed, and the fourth.
 */

/** For shorter strings the index takes as much room as the text. */
const WORTH_CHARS = 12;

export function toTextColumn(text: string | null, doc: unknown): string | null {
  if (text === null) return null;
  const parts: (string | number)[] = [];
  let done = 0;
  for (const [index, string] of strings(doc).entries()) {
    if (string.length < WORTH_CHARS) continue;
    const found = text.indexOf(string, done);
    if (found < 0) continue;
    if (found > done) parts.push(text.slice(done, found));
    parts.push(index);
    done = found + string.length;
  }
  if (done < text.length) parts.push(text.slice(done));
  return JSON.stringify(parts);
}

export function fromTextColumn(parts: unknown, doc: unknown): string {
  const known = strings(doc);
  return (parts as (string | number)[]).map((part) => (typeof part === 'number' ? (known[part] ?? '') : part)).join('');
}

/** Every string of a document, in the order of its JSON text. */
function strings(doc: unknown): string[] {
  if (typeof doc === 'string') return [doc];
  if (doc === null || typeof doc !== 'object') return [];
  return Object.values(doc).flatMap(strings);
}
