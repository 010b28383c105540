import type { ModelNote, RunModel } from '../core/model/run-model.ts';
import type { Files, Format, Found } from './format.ts';

/**
 * Sentences of a state file that tell every later session what to do or not to do, wherever they stand: `Never drop
 * memory_nodes`, `must validate link URLs`. They are read as constraints, so that each brief has them, and stay in the
 * file as they are.
 */
export function withHouseRules(format: Format): Format {
  return {
    ...format,
    parse(found, files) {
      const parsed = format.parse(found, files);
      if (!parsed.model) return parsed;
      return { ...parsed, model: { ...parsed.model, notes: [...parsed.model.notes, ...rulesOf(parsed.model, files)] } };
    },
    render(model, place, previous, now) {
      return format.render({ ...model, notes: withoutRules(format, model, place, previous) }, place, previous, now);
    },
  };
}

/** The notes that the format itself writes: a rule that stands somewhere in the files is not written a second time. */
function withoutRules(format: Format, { notes }: RunModel, place: Found, previous: Files): ModelNote[] {
  const text = plain([...previous.values()].join('\n'));
  const isThere = (note: ModelNote): boolean => note.kind === 'constraint' && text.includes(plain(bare(note.text)));
  if (!notes.some(isThere)) return notes;
  const own = new Set(format.parse(place, previous).model?.notes.map((note) => plain(note.text)));
  return notes.filter((note) => !isThere(note) || own.has(plain(note.text)));
}

const bare = (text: string): string => text.replace(/^Note: /, '');

/** Those that are no record of their own yet. */
function rulesOf({ notes, decisions, items, next }: RunModel, files: Files): ModelNote[] {
  const known = plain(
    [
      // A log entry may contain the sentence; a brief does not show it.
      ...notes.flatMap(({ kind, text }) => (kind === 'worklog' ? [] : [text])),
      ...decisions.flatMap(({ decision, reason, context }) => [decision, reason, context]),
      ...items.flatMap(({ text, workaround }) => [text, workaround]),
      next,
    ].join('\n'),
  );
  return rulesIn(files)
    .filter((text) => !known.includes(plain(text)))
    .map((text) => ({ kind: 'constraint', text }));
}

const MOST_RULES = 24;
/** More than that is a document, not a state file. */
const MOST_CHARS = 400_000;

function rulesIn(files: Files): string[] {
  const rules = new Map<string, string>();
  for (const [path, text] of files) {
    if (text.length > MOST_CHARS || /-(?:PLAN|SUMMARY)\.md$|(?:ROADMAP|ARCHIVE)[^/]*\.md$/i.test(path)) continue;
    for (const sentence of sentencesIn(text)) {
      if (rules.size >= MOST_RULES) return [...rules.values()];
      if (isRule(sentence)) rules.set(plain(sentence), sentence);
    }
  }
  return [...rules.values()];
}

/** One for each line of a list, a quotation or a labelled value, cut at the ends of its sentences. */
function sentencesIn(text: string): string[] {
  let isCode = false;
  return text.split(/\r?\n/).flatMap((line) => {
    const fence = /^\s*(?:```|~~~)\s*(\w*)/.exec(line);
    // A letter in a fence is text.
    if (fence) isCode = !isCode && !/^(?:text|txt|md|markdown)$/i.test(fence[1] ?? '');
    if (isCode || /^\s*(?:#{1,6}\s|\||\[[xX]\]|[-*+]\s+(?:\[[xX]\]|~~))/.test(line)) return [];
    const words = line
      .replace(/^\s*(?:[-*+>]|\d+[.)])\s+/, '')
      .replace(/^(?:\[ \]\s+)?/, '')
      .replace(/\*\*|__/g, '')
      .replace(/^\s*"?[\w-]+"?:\s+\[?"?/, '')
      .replace(/"?\]?,?\s*$/, '')
      .trim();
    if (/^\s*>/.test(line) && MOVED.test(words)) return [`Note: ${words}`];
    return words.split(/(?<=[.!])\s+(?=[A-Z])/).map((one) => one.trim());
  });
}

function isRule(sentence: string): boolean {
  if (sentence.length < 20 || sentence.length > 300) return false;
  return sentence.startsWith('Note: ') || (RULE.test(sentence) && !PAST.test(sentence));
}

const RULE =
  /\b(?:never|must(?: not)?|do not|don['’]t|not be treated|untrusted|hard invariant|needs? to be (?:installed|set|run)|required before)\b|^keep\b.*\buntil\b|^always\b/i;
/** Where the page itself says that it is not kept any more. */
const MOVED = /\b(?:moved to|superseded by|frozen|no longer updated|deprecated)\b/i;
/** Told of what happened or of what a program does. */
const PAST = /\b(?:did not|was never|has never|were never|must have|used to)\b|[={}]|=>|;$/i;

/** By letters and digits: marks and line breaks differ between a sentence and its place in the file. */
const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
