import { at, counted, fixed, joined, type Line, line, quote } from '../../line.ts';
import type { ValueFact } from '../facts.ts';
import { remembering, type Section } from './section.ts';

const NAMED = 5;

/** The keys of a program's state in one line: their size and time, never what is in them. */
export function valueSection(values: readonly ValueFact[], now: string, share: number): Section {
  const written = values
    .slice(0, NAMED)
    .map(({ key, bytes, at: when }) =>
      remembering((chars) => line`${quote(key, 'name', chars)} (${counted(bytes, fixed('byte'))}, ${at(when, now)})`),
    );
  return {
    name: 'values',
    share,
    count: written.length,
    show(chars) {
      const shown = chars.map((most, index) => written[index]?.(most) as Line);
      if (shown.length === 0) return [];
      // How many there are is not counted.
      const more = shown.length < values.length ? line` More: \`holdfast state list\`.` : '';
      return [line`Stored values: ${joined(shown)}.${more}`];
    },
  };
}
