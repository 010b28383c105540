import { counted, type Fixed, fixed, joined, type Line, line } from '../line.ts';

export type SectionName =
  | 'requests'
  | 'uncertain'
  | 'commands'
  | 'files'
  | 'reading'
  | 'said'
  | 'steps'
  | 'rules'
  | 'open'
  | 'others';

/** A part of a brief that is filled as far as its share and the budget allow. */
export interface Section {
  name: SectionName;
  /** The part of the room beside the fixed lines that no other section can take, in percent. */
  share: number;
  /** How many units there are to choose from: lines, or the entries of one line. */
  count: number;
  /** How many of them come before a second unit of any other section. */
  must?: number;
  /**
   * The lines with the first units, one for each number given, which says how long the quotations of that unit may be. What
   * is left out is counted in the last line.
   */
  show(chars: readonly number[]): Line[];
}

/** A section whose units are lines of their own, in the order of choice. */
export function listed(
  name: SectionName,
  share: number,
  lines: readonly ((chars: number) => Line)[],
  more: Leftover | ((kept: number) => readonly Leftover[]),
): Section {
  // Filling asks for the same lines again and again, and quoting is what costs.
  const written = new Map<string, Line>();
  const write = (index: number, most: number): Line => {
    const key = `${index} ${most}`;
    const known = written.get(key) ?? lines[index]?.(most) ?? line``;
    written.set(key, known);
    return known;
  };
  return {
    name,
    share,
    count: lines.length,
    show(chars) {
      const left = typeof more === 'function' ? more(chars.length) : [{ ...more, count: lines.length - chars.length }];
      return [...chars.map((most, index) => write(index, most)), ...leftOut(left)];
    },
  };
}

/** Things that a section does not show, and the command that does. */
export interface Leftover {
  noun: Fixed;
  /** If it is not the noun with an s. */
  plural?: Fixed;
  command: Fixed;
  count?: number;
}

/** `And 37 messages: `holdfast mail inbox`.` */
export function leftOut(all: readonly Leftover[]): Line[] {
  const parts = all
    .filter(({ count = 0 }) => count > 0)
    .map(({ noun, plural, command, count = 0 }) => {
      const what = plural && count !== 1 ? line`${count} ${plural}` : counted(count, noun);
      return line`And ${what}: ${command}.`;
    });
  return parts.length > 0 ? [joined(parts, ' ')] : [];
}

export const EVERYTHING = fixed('`holdfast resume --json`');
