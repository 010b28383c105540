/**
 * The question ids in a text, including the notations for several: `OQ-029–036`, `OQ-045..050`, `OQ-029 through
 * OQ-036`, `OQ-041/042/043`, `OQ-041-044 + 003`. A single hyphen is a range only between rising numbers of the same
 * width: `OQ-045-1` is one question.
 */
export function expandQuestionIds(text: string): string[] {
  const found = new Set<string>();
  const pattern = /\b(OQ-[A-Za-z]{0,12}|Q-)(\d{1,6})/g;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [whole, prefix = '', first = ''] = match;
    const rest = readTail(text, match.index + whole.length, { prefix, first }, found);
    pattern.lastIndex = Math.max(rest, match.index + whole.length);
  }
  return [...found];
}

/** A larger range is not a list of questions that a session touched. */
const RANGE_LIMIT = 500;

interface Head {
  prefix: string;
  first: string;
}

/** Continues after the first number while the list continues; returns where it ends. */
function readTail(text: string, from: number, { prefix, first }: Head, found: Set<string>): number {
  let at = from;
  let last = first;
  const local = /^-(\d{1,6})\b/.exec(text.slice(at, at + 8));
  if (local?.[1] !== undefined && !isRange(first, local[1])) {
    found.add(`${prefix}${first}-${local[1]}`);
    return at + local[0].length;
  }
  found.add(prefix + first);
  for (;;) {
    const tail = text.slice(at, at + 48);
    const range = /^\s*(?:–|—|\.{2,3}|-|through|to|bis)\s*(?:(?:OQ-[A-Za-z]{0,12}|Q-))?(\d{1,6})(?![\w-])/.exec(tail);
    const more = range ? null : /^\s*(?:\/|\+|,|&|and)\s*(\d{1,6})(?![\w.])/.exec(tail);
    const number = range?.[1] ?? more?.[1];
    if (number === undefined || number.length !== first.length) return at;
    if (range) {
      if (!isRange(last, number)) return at;
      for (let value = Number(last) + 1; value <= Number(number); value++)
        found.add(prefix + String(value).padStart(first.length, '0'));
    } else found.add(prefix + number);
    last = number;
    at += (range ?? more)?.[0].length ?? 0;
  }
}

function isRange(from: string, to: string): boolean {
  const span = Number(to) - Number(from);
  return from.length === to.length && span > 0 && span <= RANGE_LIMIT;
}
