import { type Box, plain } from './outline.ts';

/** The words of a step, and what marks in them say. */
export interface Marked {
  title: string;
  state: Box;
  /** The key as written: `T4`, `AUTH-12`. */
  key: string | null;
  /** The place as written: `1.1`. */
  number: string | null;
  parallel: boolean;
  /** Keys and places of the steps that come first, as written. */
  after: string[];
}

const REFERENCE = String.raw`[A-Za-z]{0,12}[-_]?\d+(?:[._]\d+)*`;
const REFERENCES = String.raw`(?:(?:task|step|phase)s?\s+)?${REFERENCE}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)${REFERENCE})*`;
const COMES_AFTER = String.raw`(?:after|depends on|needs|requires|blocked by)\s*:?\s+`;
const IN_BRACKETS = new RegExp(String.raw`\s*[([]${COMES_AFTER}(${REFERENCES})[)\]]`, 'i');
const AT_END = new RegExp(String.raw`[\s,;:—–-]+(?:depends on|blocked by)\s*:?\s+(${REFERENCES})\.?$`, 'i');
const WHOLE = new RegExp(String.raw`^[(*_]*${COMES_AFTER}[*_]*\s*(${REFERENCES})[).*_]*$`, 'i');

export function readMarks(words: string, box: Box | null = null): Marked {
  let text = words.trim();
  let state: Box = box ?? 'open';
  const take = (pattern: RegExp): string | null => {
    const found = pattern.exec(text);
    if (!found) return null;
    text = `${text.slice(0, found.index)}${text.slice(found.index + found[0].length)}`.trim();
    return found[1] ?? '';
  };
  if (take(/^(?:✅|☑️?|✔️?)\s*/u) !== null || take(/\s*(?:✅|☑️?|✔️?)$/u) !== null) state = 'done';
  if (/^~~.+~~$/.test(text)) {
    text = text.slice(2, -2).trim();
    state = 'skipped';
  }
  const references = take(IN_BRACKETS) ?? take(AT_END);
  const key =
    take(/^\[([A-Za-z][A-Za-z0-9]*-\d+)\]:?\s*/) ?? take(/^\**([A-Z]{1,10}-?\d+)\**:\s+/) ?? take(/^(T\d{1,4})\s+/);
  const parallel = take(/^\[(P)\]\s+/) !== null;
  const number = key === null ? take(/^(\d+(?:\.\d+)+)[.)]?\s+/) : null;
  return { title: plain(text), state, key, number, parallel, after: listed(references) };
}

/** A line of its own that only says what comes first, as `Depends on: T3`; null for any other line. */
export function readDependency(words: string): string[] | null {
  const found = WHOLE.exec(words.trim());
  return found ? listed(found[1] ?? '') : null;
}

const listed = (references: string | null): string[] =>
  references === null ? [] : (references.match(new RegExp(REFERENCE, 'g')) ?? []);
