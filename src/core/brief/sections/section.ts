import { counted, type Fixed, fixed, joined, type Line, line } from '../../line.ts';

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
  | 'values'
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
  /** Where each unit has a line: the line, and what `show` puts after the last one. */
  byLine?: { unit(index: number, chars: number): Line; rest(kept: number): readonly Line[] };
}

/** A section whose units are lines of their own, in the order of choice. */
export function listed(
  name: SectionName,
  share: number,
  lines: readonly ((chars: number) => Line)[],
  more: Leftover | ((kept: number) => readonly Leftover[]),
): Section {
  const written = lines.map(remembering);
  const unit = (index: number, chars: number): Line => written[index]?.(chars) ?? line``;
  const rest = remembering((kept) =>
    leftOut(typeof more === 'function' ? more(kept) : [{ ...more, count: lines.length - kept }]),
  );
  return {
    name,
    share,
    count: lines.length,
    show: (chars) => [...chars.map((most, index) => unit(index, most)), ...rest(chars.length)],
    byLine: { unit, rest },
  };
}

/** Filling asks for the same lines again and again, and quoting is what costs. */
export function remembering<T>(make: (size: number) => T): (size: number) => T {
  const known = new Map<number, T>();
  return (size) => {
    const made = known.get(size) ?? make(size);
    known.set(size, made);
    return made;
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
