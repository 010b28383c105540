import { CLIENTS } from '../line.ts';
import { aloneOnly, openPhrases, phrases, stems } from './phrases.ts';
import { significantWords, UNSPACED } from './words.ts';

/** What a prompt says to the rules that choose a run, before any run is looked at. */
export interface Prompt {
  /** As it was written, without what clients added. */
  text: string;
  images: number;
  /**
   * - `command`: nothing to work on: a command to the client, a greeting, images alone.
   * - `continuation`: go on with whatever it was; `about` go on with something that must be recognised by its words.
   * - `answer`: a short answer; `answer-and-more`: words follow that say what it answers.
   */
  is: 'command' | 'continuation' | 'about' | 'answer' | 'answer-and-more' | 'request';
  /** Something beside the phrase was said, which is a request of the run that is joined. */
  saysMore: boolean;
  /** The significant words after the phrase, or all of them. */
  words: ReadonlySet<string>;
}

export function readPrompt(raw: string): Prompt {
  const { text, images } = cleanPrompt(raw);
  const line = normalised(text);
  const read = (is: Prompt['is'], saysMore: boolean, words: string): Prompt => ({
    text,
    images,
    is,
    saysMore,
    words: significantWords(words),
  });
  if (OUR_COMMAND.test(line)) {
    const more = line.replace(/^\S+\s*/, '');
    return read('continuation', more !== '', more);
  }
  if (isCommand(line, text)) return read('command', false, '');
  const core = withoutFillers(line);
  const found = continuationIn(core);
  if (found) return read(found.isFree ? 'continuation' : 'about', !isEmptyTalk(found.rest), found.rest);
  const answer = answerIn(line);
  if (answer !== null) return read(answer === '' ? 'answer' : 'answer-and-more', true, answer);
  return read('request', true, line);
}

/** Removes what clients put around or into a prompt. The words of the user stay as they are. */
export function cleanPrompt(raw: string): { text: string; images: number } {
  const unwrapped = raw.replace(WRAPPED, ' ').replace(UNCLOSED, ' ').replace(OWN_TEXT, ' ');
  const images = unwrapped.match(IMAGE)?.length ?? 0;
  const text = unwrapped
    .replace(IMAGE, ' ')
    .replace(CONTROLS, '')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ *\n */g, '\n')
    .trim();
  return { text, images };
}

const TAGS =
  'hook_context|system-reminder|task-notification|system_notification|(?:command|local-command)-[a-z-]{1,40}';
const WRAPPED = new RegExp(`<(${TAGS})(?:\\s[^>]*)?>[\\s\\S]*?</\\1>`, 'g');
const UNCLOSED = new RegExp(`<(?:${TAGS})(?:\\s[^>]*)?>[\\s\\S]*$`);
/** A brief that a client repeats with the prompt. */
const OWN_TEXT = /^Holdfast (?:record|brief) of [\s\S]*?(?:\n\n|$)/;
const IMAGE = /\[Image(?: #\d+|: [^\]\n]{0,200})?\]/gi;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** One line in lower case, as the tables are written. */
function normalised(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[’‘`´]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Our own command and prompt for resuming, under the names clients give them. */
const OUR_COMMAND = /^\/(?:holdfast:resume|holdfast-resume|mcp__holdfast__resume|holdfast\/resume)(?:\s|$)/;

function isCommand(line: string, text: string): boolean {
  if (line === '' || /^\/[a-z][\w:-]*(?:\s|$)/.test(line)) return true;
  // A heading of a longer text, and the number of an issue, begin with the same mark as a note to the client.
  if (!text.includes('\n') && (/^!\S/.test(line) || /^#(?!\d)/.test(line))) return true;
  return greetings.has(bare(line).replace(CLIENT_NAME, '').trim());
}

const CLIENT_NAMES = [...CLIENTS].join('|');
const CLIENT_NAME = new RegExp(`[ ,]+(?:${CLIENT_NAMES})$`);
const END_MARKS = /[\s.,;:!?…。、，！？؟)]+$/u;
const bare = (line: string): string => line.replace(END_MARKS, '');

const OUTSIDERS = 'users?|readers?|viewers?|players?|customers?|visitors?|guests?|students?|people|someone|he|she|they';

const listOf = (part: 'start' | 'anywhere' | 'connectors' | 'fillers' | 'answers' | 'greetings'): string[] => {
  const all = new Set(phrases.flatMap((language) => language[part].map((phrase) => phrase.normalize('NFKC'))));
  return [...all].sort((a, b) => b.length - a.length);
};
const starts = listOf('start');
const connectors = listOf('connectors');
const fillers = [...listOf('fillers'), ...CLIENT_NAMES.split('|')].sort((a, b) => b.length - a.length);
const answers = listOf('answers');
const greetings = new Set(listOf('greetings'));
const anywhere = listOf('anywhere').map(
  (phrase) => new RegExp(`${isSpaced(phrase) ? '(?:^|[^\\p{L}])' : ''}${patternOf(phrase)}`, 'u'),
);

function isSpaced(phrase: string): boolean {
  return !UNSPACED.test(phrase);
}

/** An underscore stands for one to three words, none of them a person that the work is made for. */
function patternOf(phrase: string): string {
  const words = `(?!(?:\\S+ ){0,2}(?:${OUTSIDERS})\\b)\\S+(?: \\S+){0,2}`;
  return phrase.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace('_', words);
}

/** Removes polite words at the start, while something remains. */
export function withoutFillers(line: string): string {
  let rest = line;
  for (let found = true; found; ) {
    found = false;
    for (const filler of fillers) {
      const after = afterPhrase(rest, filler);
      if (after === null || bare(after.text).trim() === '') continue;
      // "so" may begin a longer word, and "just" one with a dash.
      if (isSpaced(filler) && !/\s$/.test(after.gap)) continue;
      rest = after.text;
      found = true;
      break;
    }
  }
  return rest;
}

/** What follows a phrase at the start of a text, without the marks and spaces between. */
function afterPhrase(text: string, phrase: string): { gap: string; text: string } | null {
  if (!text.startsWith(phrase)) return null;
  const rest = text.slice(phrase.length);
  const gap = /^[\s,.!:;–—、，。！-]+/u.exec(rest)?.[0] ?? '';
  return { gap, text: rest.slice(gap.length) };
}

const ANYWHERE_CHARS = 300;
/** What a prompt quotes is not said to the agent. */
const QUOTED = /"[^"]*"|“[^”]*”|«[^»]*»|「[^」]*」|`[^`]*`/gu;
/** Marks that end a phrase: before a space or the end only, so that `resume.md` and `continue-on-error` are words. */
const MARKS_THEN_SPACE = /^[.,;:!?…–—)-]+(?=\s|$)/u;
const UNSPACED_MARKS = /^[.,;:!?…。、，！？：；]+/u;

interface Continuation {
  /** It counts whatever the candidates are. */
  isFree: boolean;
  rest: string;
}

function continuationIn(core: string): Continuation | null {
  const head = core.slice(0, ANYWHERE_CHARS);
  const spoken = head.replace(QUOTED, ' ');
  if (anywhere.some((pattern) => pattern.test(spoken))) {
    const rest = anywhere.reduce((left, pattern) => left.replace(pattern, ' '), head) + core.slice(ANYWHERE_CHARS);
    return { isFree: true, rest: rest.replace(/\s+/g, ' ').trim() };
  }
  if (aloneOnly.includes(bare(core))) return { isFree: true, rest: '' };
  for (const phrase of starts) {
    if (!core.startsWith(phrase)) continue;
    const rest = core.slice(phrase.length);
    const found = isSpaced(phrase) ? spacedRest(phrase, rest) : unspacedRest(rest);
    if (found) return found;
  }
  return null;
}

/** Polite words, connectors and more phrases say nothing about what to do. */
function isEmptyTalk(rest: string): boolean {
  let left = bare(rest).trim();
  for (let found = true; found && left !== ''; ) {
    found = false;
    for (const phrase of [...starts, ...connectors, ...fillers]) {
      const after = afterPhrase(left, phrase);
      if (after === null || (after.gap === '' && after.text !== '')) continue;
      left = after.text;
      found = true;
      break;
    }
  }
  return left === '';
}

function spacedRest(phrase: string, after: string): Continuation | null {
  const rest = stems.has(phrase) ? after.replace(/^[\p{L}\p{M}]+/u, '') : after;
  if (rest === '') return { isFree: true, rest };
  const marks = MARKS_THEN_SPACE.exec(rest)?.[0];
  if (marks !== undefined) {
    const more = rest.slice(marks.length).trim();
    // "Continue? is shown twice" and "Resume: a template for it" are about something of that name.
    return { isFree: more === '' || !/[?:]/.test(marks), rest: more };
  }
  if (!/^\s/.test(rest)) return null;
  const words = rest.trim();
  if (openPhrases.has(phrase)) return { isFree: true, rest: words };
  // A dash between spaces ends the phrase too.
  if (/^[–—-]\s/.test(words)) return { isFree: true, rest: words.slice(1).trim() };
  for (const connector of connectors) {
    const next = afterPhrase(words, connector);
    if (next && (next.gap !== '' || next.text === '')) return { isFree: true, rest: next.text };
  }
  return { isFree: false, rest: words };
}

const UNSPACED_REST_CHARS = 4;

function unspacedRest(rest: string): Continuation {
  const marks = UNSPACED_MARKS.exec(rest)?.[0];
  if (marks !== undefined) return { isFree: true, rest: rest.slice(marks.length).trim() };
  const after = rest.trim();
  const isShort = [...bare(after)].length <= UNSPACED_REST_CHARS;
  return { isFree: isShort, rest: isShort ? '' : after };
}

const ANSWER_WORDS = 3;

/** What follows a short answer: nothing if it is all that was said; null if the text does not begin with one. */
function answerIn(line: string): string | null {
  const said = bare(line);
  if (/^(?:\(?\d{1,6}|[a-z])[.)]?$/.test(said)) return '';
  const isShort = said.split(' ').length <= ANSWER_WORDS;
  if (isShort && (answers.includes(said) || answers.includes(bare(withoutFillers(said))))) return '';
  for (const answer of answers) {
    const after = afterPhrase(said, answer);
    if (!after || (isSpaced(answer) && after.gap === '' && after.text !== '')) continue;
    const rest = after.text.trim();
    const isPolite = rest === '' || fillers.includes(rest) || answers.includes(rest);
    if (isShort && isPolite) return '';
    // "no" and "si" begin too many requests: a mark must separate them from what follows.
    if (/[,.;:!–—-]/.test(after.gap) || !isSpaced(answer)) return rest;
  }
  return null;
}
