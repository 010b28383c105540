import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { oneLine, printable } from '../src/core/text.ts';
import { agoInWords, inWords } from '../src/core/time.ts';
import { now } from './state.ts';

/** Text from agents and people on one line, always shown as plain text. */
export function Line({ text, chars = 160 }: { text: string; chars?: number }) {
  return (
    <bdi class="line" dir="auto">
      {oneLine(text, chars)}
    </bdi>
  );
}

const SHOWN_CHARS = 600;
const SHOWN_AT_ONCE_CHARS = 20_000;

/** The same with its line breaks. Long text is cut visibly; the rest is shown on demand. */
export function Passage({ text, chars = SHOWN_CHARS }: { text: string; chars?: number }) {
  const [shown, setShown] = useState(chars);
  const isCut = text.length > shown;
  return (
    <div class="passage">
      <p class="passage-text" dir="auto">
        {printable(text.slice(0, shown))}
        {isCut ? '…' : ''}
      </p>
      {isCut && (
        <button type="button" class="link" onClick={() => setShown(shown + SHOWN_AT_ONCE_CHARS)}>
          Show more ({amountOf(text.length - shown)} characters)
        </button>
      )}
    </div>
  );
}

/** `14 min ago`, with the exact time as a tooltip. */
export function Ago({ at, prefix = '' }: { at: string; prefix?: string }) {
  const ms = now.value - Date.parse(at);
  return (
    <time dateTime={at} title={momentOf(at)}>
      {prefix}
      {agoInWords(ms)}
    </time>
  );
}

/** The browser's language, unless nothing can be formatted in it, as with `en-US@posix`. */
const locale = ((): string => {
  try {
    return new Intl.DateTimeFormat(navigator.language).resolvedOptions().locale;
  } catch {
    return 'en';
  }
})();

const formats = {
  moment: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }),
  day: new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }),
  minute: new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  second: new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }),
} as const;

export const momentOf = (at: string): string => formats.moment.format(new Date(at));
/** `16 Nov`. */
export const dayOf = (at: string | number): string => formats.day.format(new Date(at));
/** `14:02`, with seconds where that matters. */
export const clockOf = (at: string | number, isExact = false): string =>
  formats[isExact ? 'second' : 'minute'].format(new Date(at));

/** The time alone today, with the day otherwise. */
export function Clock({ at }: { at: string }) {
  const isToday = dayOf(at) === dayOf(now.value);
  return (
    <time class="clock" dateTime={at} title={momentOf(at)}>
      {isToday ? clockOf(at) : `${dayOf(at)} ${clockOf(at)}`}
    </time>
  );
}

/** `4 s`, `12 min`. */
export const durationOf = (ms: number): string => (ms < 1000 ? 'under 1 s' : inWords(ms));

/** `1.21 M`, `96 k`. */
export function amountOf(count: number): string {
  if (count >= 1e6) return `${(count / 1e6).toFixed(2)} M`;
  return count >= 1e4 ? `${Math.round(count / 1e3)} k` : count.toLocaleString('en');
}

export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : nouns}`;
}

export const needYou = (count: number): string => `${count} ${count === 1 ? 'needs' : 'need'} you`;

export function Id({ children }: { children: ComponentChildren }) {
  return <span class="id">{children}</span>;
}

const TITLE_CHARS = 80;

/** The first sentence, cut at a word. */
export function titleOf(text: string): string {
  const line = oneLine(text, 400);
  const [sentence = line] = /^.{12,}?[.!?。](?=\s|$)/u.exec(line) ?? [];
  const title = sentence.replace(/[.。]$/u, '');
  if (title.length <= TITLE_CHARS) return title;
  return `${title.slice(0, TITLE_CHARS).replace(/\s+\S*$/u, '')}…`;
}

/** Whether a goal says nothing that the title does not. */
export function repeats(goal: string, title: string): boolean {
  const fold = (text: string): string =>
    oneLine(text, 2000)
      .toLowerCase()
      .replaceAll(/[\W_]+/gu, ' ')
      .trim();
  return fold(goal).startsWith(fold(title)) && titleOf(goal) === titleOf(title);
}
