import { redact } from '../redact/redact.ts';
import { oneLine } from '../text.ts';
import { withoutFillers } from './prompt.ts';

const TITLE_CHARS = 60;
const SHORT_CHARS = 12;

/** The title that a run takes from its first request; null if nothing of it can be one. */
export function titleOf(request: string): string | null {
  const lines = redact(request)
    .text.replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !isQuoted(line));
  const sentences = lines.flatMap((line) => sentencesIn(withoutMarks(line)));
  const [first = '', second] = sentences;
  const started = withoutLeadingFillers(first);
  const whole = [...started].length < SHORT_CHARS && second ? `${started} ${second}` : started;
  return shortened(oneLine(whole, 1000)) || null;
}

/** Quoted text, links alone, and lines of logs and traces say nothing about the work. */
function isQuoted(line: string): boolean {
  return quotedLines.some((pattern) => pattern.test(line));
}

const quotedLines: readonly RegExp[] = [
  /^>/,
  /^(?:https?|file):\/\/\S+$/i,
  /^at\s.+[:(].*\d+\)?$/,
  /^File "[^"]*", line \d+/,
  /^Traceback \(most recent/,
  /^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d[.,]?\d*\s)/,
  /^(?:\w+\.)*\w*(?:Error|Exception): /,
  /^[-=_*#|+~^\s]+$/,
];

/** Marks of headings and lists. */
const withoutMarks = (line: string): string => line.replace(/^(?:#{1,6}\s+|[-*•]\s+|\d{1,2}[.)]\s+)/, '');

/** A mark ends a sentence before a space only, so that names of files stay whole. */
function sentencesIn(line: string): string[] {
  return line
    .split(/(?<=[.!?…])\s+|(?<=[。！？])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** The words as they were written, from the first that is not a polite one. */
function withoutLeadingFillers(sentence: string): string {
  const lower = sentence.toLowerCase().replace(/[’‘`´]/g, "'");
  // Lower case of another length would move the cut.
  if (lower.length !== sentence.length) return sentence;
  const rest = sentence.slice(lower.length - withoutFillers(lower).length).trim();
  return rest === sentence ? sentence : rest.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/** Cut at the end of a word. */
function shortened(text: string): string {
  const signs = [...text];
  if (signs.length <= TITLE_CHARS) return text;
  const cut = signs.slice(0, TITLE_CHARS - 1).join('');
  const end = cut.lastIndexOf(' ');
  return `${(end > TITLE_CHARS / 2 ? cut.slice(0, end) : cut).replace(/[\s,;:–-]+$/u, '')}…`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Where there is no request and no to-do list: `Untitled work, 16 Nov 14:02`. */
export function untitled(at: string): string {
  const month = MONTHS[Number(at.slice(5, 7)) - 1] ?? '';
  return `Untitled work, ${Number(at.slice(8, 10))} ${month} ${at.slice(11, 16)}`;
}

export const isUntitled = (title: string): boolean => /^Untitled work, \d{1,2} \w{3} \d\d:\d\d$/.test(title);
