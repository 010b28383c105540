import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { oneLine, printable } from '../src/core/text.ts';
import { inWords } from '../src/core/time.ts';
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
      {ms < 5000 ? 'just now' : `${inWords(ms)} ago`}
    </time>
  );
}

export const momentOf = (at: string): string =>
  new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export const clockOf = (at: string, isExact = false): string =>
  new Date(at).toLocaleString(undefined, {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...(isExact ? { second: '2-digit' } : {}),
  });

/** `1.21 M`, `96 k`. */
export function amountOf(count: number): string {
  if (count >= 1e6) return `${(count / 1e6).toFixed(2)} M`;
  return count >= 1e4 ? `${Math.round(count / 1e3)} k` : count.toLocaleString('en');
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

export function Id({ children }: { children: ComponentChildren }) {
  return <span class="id">{children}</span>;
}
