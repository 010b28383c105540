import { agoInWords, clockTime, inWords, msBetween, shortTime } from './time.ts';
import * as words from './words.ts';

/**
 * Lines that a model reads. A line consists of words of our own template, of ids, numbers and times that Holdfast made,
 * and of quotations: everything anyone wrote. A raw string does not compile as part of a line, so recorded text cannot
 * pass for the words of Holdfast.
 */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Words of our own, and times and durations in them. */
export type Fixed = Branded<'fixed'>;
/** An id that Holdfast generated; it contains no words of anyone. */
export type Id = Branded<'id'>;
/** Text that someone wrote, in double quotes, on one line. */
export type Quoted = Branded<'quoted'>;
/** A line, or a part of one, that is made of the above. */
export type Line = Branded<'line'>;

export type Part = Fixed | Id | Quoted | Line | number | '';

/** `` line`- ${id(item.id)} asks: ${quote(item.text)}` `` */
export function line(fixed: TemplateStringsArray, ...parts: readonly Part[]): Line {
  let text = fixed[0] ?? '';
  // By index: a brief has a thousand lines and parts of lines, and an iterator would make V8 optimize this.
  for (let index = 0; index < parts.length; index++) text += `${parts[index]}${fixed[index + 1]}`;
  return text as Line;
}

/** A literal of our own. A string that is not known at compile time is not accepted. */
export function fixed<Text extends string>(text: Record<never, never> extends Record<Text, 1> ? never : Text): Fixed {
  return text as unknown as Fixed;
}

export function joined(parts: readonly Part[], separator: ', ' | '; ' | ' and ' | ' ' | '\n' | '\n\n' = ', '): Line {
  return parts.join(separator) as Line;
}

/** Limits in characters, by kind of text. */
export const quoteChars = { name: 64, branch: 100, title: 120, path: 200, text: 600 } as const;
export type QuoteKind = keyof typeof quoteChars;

/** Quotes what someone wrote. A smaller limit than that of its kind may be given, for a budget. */
export function quote(text: string, kind: QuoteKind = 'text', mostChars = Number.POSITIVE_INFINITY): Quoted {
  return `"${unquotable(text, Math.min(quoteChars[kind], mostChars))}"` as Quoted;
}

/** Quotes the beginning of a text, cut at the end of a word. */
export function quoteStart(text: string, mostChars: number): Quoted {
  const most = Math.min(quoteChars.text, mostChars);
  const flat = unquotable(text, most * 2);
  if (flat.length <= most) return `"${flat}"` as Quoted;
  const start = wholeCharacters(flat, most - 1);
  const word = start.lastIndexOf(' ');
  // Scripts without spaces have no ends of words to look for.
  const cut = word > most * LEAST_KEPT ? start.slice(0, word) : start;
  return `"${cut.trimEnd()}…"` as Quoted;
}

const LEAST_KEPT = 0.6;

/** Quotes a path; a long one loses folders in the middle, because its end says more. */
export function quotePath(path: string): Quoted {
  if (path.length <= PATH_CHARS) return quote(path, 'path');
  const parts = path.split('/');
  const [first = ''] = parts;
  let end = parts.pop() ?? '';
  for (let above = parts.pop(); above !== undefined && parts.length > 0; above = parts.pop()) {
    if (first.length + above.length + end.length + 4 > PATH_CHARS) break;
    end = `${above}/${end}`;
  }
  return quote(parts.length > 0 ? `${first}/…/${end}` : end, 'path');
}

const PATH_CHARS = 60;

/** A quotation of a text that the reader asked for as a whole. */
export function quoteWhole(text: string): Quoted {
  return `"${unquotable(text, WHOLE_CHARS)}"` as Quoted;
}

const WHOLE_CHARS = 20_000;

export function quoteAll(texts: readonly string[], kind: QuoteKind, mostChars?: number): Line {
  return joined(texts.map((text) => quote(text, kind, mostChars)));
}

/** The content of a quotation: nothing in it can end the quotation or the line, hide, or act as markup. */
export function unquotable(text: string, limitChars: number): string {
  // Cut first: a megabyte of text must not be scanned to show a hundred characters.
  const start = text.slice(0, limitChars * 4);
  // Most texts are harmless already, and a brief has hundreds of them.
  const flat = HARMLESS.test(start) ? start : disarm(start);
  if (flat.length <= limitChars && text.length <= limitChars * 4) return flat;
  return `${wholeCharacters(flat, limitChars - 1).trimEnd()}…`;
}

const HARMLESS = /^(?! )(?:[#-;=?-Z\\^_a-~]|!(?!\[)|\](?!\()|\[| (?! |$))*$/;

function disarm(text: string): string {
  return text
    .replace(SPACES, ' ')
    .replace(HIDDEN, '·')
    .replace(QUOTES, "'")
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('](', '] (')
    .replaceAll('![', '! [')
    .trim();
}

/** Every kind of space and line end, without the zero-width one that JavaScript counts among them. */
const SPACES = /(?:(?!\ufeff)[\s\u0085])+/g;
/**
 * Controls, direction marks, zero-width and blank characters, tags, variation selectors, halves of pairs: whatever a
 * reader does not see, or what reorders what it sees.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex lint/suspicious/noMisleadingCharacterClass: looks for them
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;
const QUOTES = /["“”„‟＂`]/g;

/** An id. One that Holdfast cannot have made (of an imported journal, of another tool's file) is quoted. */
export function id(text: string): Id | Quoted {
  return OWN_ID.test(text) ? (text as Id) : quote(text, 'name');
}

/** The name in another tool's file comes first: people and that tool know it. Either alone is understood. */
export const named = (own: string, alias: string | null | undefined): Line | Id | Quoted =>
  alias ? line`${quote(alias, 'name')} (${id(own)})` : id(own);

/** `M-12`, `D-7-k3`, `K-3fa9c1`. Ids of runs are chosen by people or made of titles, so they are quoted instead. */
const OWN_ID = /^(?:[A-Z]{1,3}-\d{1,9}(?:-[a-z]\d{1,3})?|K-[0-9a-f]{6})$/;

/** The id of an ad hoc run, which Holdfast makes. That of a planned one is chosen by people and always quoted. */
export function runId(text: string): Id | Quoted {
  return /^\d{4}-\d\d-\d\d-[0-9a-f]{6,16}$/.test(text) ? (text as Id) : quote(text, 'title');
}

/** The id of a journal, which Holdfast makes. */
export function storeId(text: string): Id | Quoted {
  return /^s-[0-9a-f]{12}$/.test(text) ? (text as Id) : quote(text, 'name');
}

/** The digits that name a run in a command; null if they are something else, which must not get into a command. */
export function hexDigits(text: string): Id | null {
  return /^[0-9a-f]{6,16}$/.test(text) ? (text as Id) : null;
}

/** The name of an agent: that of a known client as it is, any other quoted. */
export function agent(name: string): Fixed | Quoted {
  return CLIENTS.has(name) ? (name as Fixed) : quote(name, 'name');
}

/** Clients whose name is a word of our own; `clients/index.test.ts` compares them with the list there. */
export const CLIENTS: ReadonlySet<string> = new Set([
  ...['claude', 'codex', 'gemini', 'qwen', 'copilot', 'opencode', 'vscode', 'cursor'],
]);

export const ids = (all: readonly string[]): Line => joined(all.map(id));

/** A word of one of our closed sets: a status, a kind. Any other is quoted, because a file of another tool chose it. */
export function word(text: string): Fixed | Quoted {
  return KNOWN.has(text) ? (text as Fixed) : quote(text, 'name');
}

const KNOWN: ReadonlySet<string> = new Set<string>([
  ...Object.values(words).flatMap((set) => ('options' in set ? set.options : [])),
  ...['active', 'archived', 'abandoned', 'open', 'closed', 'settled', 'superseded', 'retracted', 'erased'],
  ...['pending', 'in_progress', 'completed', 'failed', 'skipped', 'stale', 'began', 'ended', 'current', 'taken'],
  ...['offered', 'clarifying', 'accepted', 'declined', 'withdrawn', 'interrupted', 'error', 'pass', 'fail'],
  ...['working', 'cut off', 'not started', 'finished', 'moved', 'needs you', 'not responding'],
  ...['complete', 'partial', 'blocked', 'gate', 'mail', 'failure', 'escalation', 'conflict', 'reply'],
  ...['ready', 'in progress', 'done', 'idle', 'handed over', 'running', 'unknown', 'succeeded', 'cancelled'],
  ...['decision', 'item', 'note', 'effect', 'message', 'handoff', 'snapshot', 'session', 'step', 'result', 'run'],
  ...['file', 'artifact', 'mirror', 'usage', 'claim', 'foreign', 'crashed', 'released', 'read', 'scan', 'skip'],
  ...['context', 'plan', 'summary', 'created', 'modified', 'deleted', 'renamed', 'absent', 'untracked'],
]);

/** A recorded time as a clock shows it; quoted if it is not a time. */
export function clock(instant: string, now: string): Fixed | Quoted {
  return INSTANT.test(instant) ? (clockTime(instant, now) as Fixed) : quote(instant, 'name');
}

/** The same in as few characters as possible, in UTC: `14:02`, on other days `16 Nov 14:02`. */
export function at(instant: string, now: string): Fixed | Quoted {
  return INSTANT.test(instant) ? (shortTime(instant, now) as Fixed) : quote(instant, 'name');
}

/** Date and time to the minute: `2026-11-16 14:20`. */
export function stamp(instant: string): Fixed | Quoted {
  return INSTANT.test(instant) ? (instant.slice(0, 16).replace('T', ' ') as Fixed) : quote(instant, 'name');
}

/** `18 min ago`; quoted if it is not a time. */
export function ago(instant: string, now: string): Line | Quoted {
  return INSTANT.test(instant) ? line`${duration(msBetween(instant, now))} ago` : quote(instant, 'name');
}

/** The same in a list that people read: `just now` for the last seconds. */
export function agoShown(instant: string, now: string): Fixed | Quoted {
  return INSTANT.test(instant) ? (agoInWords(msBetween(instant, now)) as Fixed) : quote(instant, 'name');
}

/** A time or date as recorded; quoted if it is other text, such as "next week". */
export function time(text: string): Fixed | Quoted {
  return INSTANT.test(text) ? (text as Fixed) : quote(text, 'name');
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

export const duration = (ms: number): Fixed => inWords(ms) as Fixed;

/** A number as a plan writes it, such as `2.1`; anything else is quoted. */
export function number(text: string): Fixed | Quoted {
  return /^\d{1,6}(?:\.\d{1,6}){0,4}$/.test(text) ? (text as Fixed) : quote(text, 'name');
}

/** `1,100`. */
export const grouped = (count: number): Fixed => String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/g, ',') as Fixed;

/** `1 event`, `3 events`. */
export const counted = (count: number, noun: Fixed): Line => line`${count} ${noun}${count === 1 ? '' : fixed('s')}`;

/** A line cut to a length; a quotation that is cut is closed again. */
export function shortened(text: Line, limitChars: number): Line {
  if (text.length <= limitChars) return text;
  const start = wholeCharacters(text, limitChars - 2);
  return `${start}…${start.split('"').length % 2 === 0 ? '"' : ''}` as Line;
}

/** The first characters of a text, without half of a pair at the end. */
function wholeCharacters(text: string, limitChars: number): string {
  const last = text.charCodeAt(limitChars - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limitChars - 1 : limitChars);
}

/** Of a run that someone else recorded. */
export const COPIED = fixed('(from a copied folder)');

/** Where a text comes from, after its quotation. */
export type Source = { file: string } | { mail: string };

export function sourceMark(source: Source): Line {
  return 'file' in source
    ? line`(file ${quote(source.file, 'path')})`
    : line`(mail from ${quote(source.mail, 'name')})`;
}
