import { at, fixed, type Line, line, quoteStart } from '../../line.ts';
import type { Said } from '../facts.ts';
import { who } from './requests.ts';
import { EVERYTHING, listed, type Section } from './section.ts';

/** The agent's last words. */
export function saidSection(said: Said | null, now: string, share: number): Section {
  const lines = said ? [(chars: number): Line => saidLine(said, now, chars)] : [];
  return listed('said', share, lines, { noun: fixed('answer'), command: EVERYTHING });
}

function saidLine(said: Said, now: string, chars: number): Line {
  const words = quoteStart(shortWords(said.text, chars), chars);
  switch (said.is) {
    case 'at-end':
      return line`Said at the end of the turn (${at(said.at, now)}): ${words}`;
    case 'turn-before':
      return line`Said at the end of the turn before (${at(said.at, now)}): ${words}`;
    case 'before-cut':
      return line`Said before it was cut off: ${words}`;
    case 'meanwhile':
      return line`Meanwhile ${who(said.who)} said at the end of its turn (${at(said.at, now)}): ${words}`;
    default:
      return said satisfies never;
  }
}

/** A text that is too long keeps its first sentence, and the question at its end or else its last sentence, or the end of that. */
export function shortWords(text: string, chars: number): string {
  const whole = text.slice(0, LOOKED_CHARS).trim();
  if (whole.length <= chars) return whole;
  const last = sentencesOf(whole.split(/\n\s*\n/).at(-1) ?? '');
  const question = last.findLast((sentence) => /[?？؟]["'”’)*_\]]*$/.test(sentence));
  const ending = question ?? last.at(-1) ?? '';
  if (ending.length > chars) return endOf(ending, chars);
  if (ending.length === chars) return ending;
  const [first = ''] = sentencesOf(whole);
  if (first === ending) return ending;
  const both = `${first} … ${ending}`;
  return both.length <= chars ? both : ending.length + BESIDE_CHARS > chars ? ending : `… ${ending}`;
}

/** What was said last is at the end of a long sentence too. */
const endOf = (sentence: string, chars: number): string =>
  `… ${sentence.slice(BESIDE_CHARS - chars).replace(/^\S*\s+/, '')}`;

const LOOKED_CHARS = 20_000;
const BESIDE_CHARS = 2;

const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?؟]["'”’)*_\]]*)\s+|(?<=[。？！])|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
