import { nearest, quoted } from '../../../core/fault.ts';
import type { State } from '../../../core/fold/state.ts';
import { oneLine } from '../../../core/text.ts';
import type { Context } from '../../context.ts';

/** `p99`, `t4`, `auth-2.1`: what a key of a step looks like. */
const KEY = /^[a-z][\w-]{0,20}?\d[\d.]*$/i;

/** What is affected may be said in any words; a word that looks like a key and is none may be a slip. */
export function warnOfKeys(context: Context, { steps }: State, affects: readonly string[] = []): void {
  for (const name of affects) {
    if (!KEY.test(name) || steps.has(name)) continue;
    const near = nearest(name, steps.keys()).map(quoted).join(', ');
    context.warn(`${quoted(name)} is not a step${near === '' ? '' : `; near are ${near}`}. It was recorded as given.`);
  }
}

/** Text as a word of a command line. */
export const inQuotes = (text: unknown): string =>
  text === undefined ? '"…"' : `"${String(text).replace(/["\\$`]/g, '\\$&')}"`;

const LISTED = 8;

/** What is open, each with the line that closes it. */
export function openLines({ items, effects }: State): string[] {
  const lines = [
    ...[...items.values()].map(({ id, kind, text }) => `\`holdfast resolve ${id}\`  ${kind}: ${oneLine(text, 60)}`),
    ...[...effects.values()].map(({ id, name }) => `\`holdfast settle ${id} succeeded\`  ${oneLine(name, 60)}`),
  ];
  return [...lines.slice(0, LISTED), ...(lines.length > LISTED ? [`and ${lines.length - LISTED} more`] : [])];
}
