import { type Fixed, fixed, type Line } from '../line.ts';

export interface Section {
  name: Fixed;
  title: Line | '';
  /** Lines of other sections may be left out to fit the budget; a count then stands for them. */
  must: boolean;
  groups: readonly Group[];
  /** The command that shows what was left out. */
  more: Fixed;
  /** The part of the remaining room that an optional section may take at first. */
  share: number;
}

/** Writes a line whose quotations have at most so many characters. */
export type WriteLine = (chars: number) => Line;

/** Lines of one kind. Where not all fit, every kind keeps some: forty blockers must not hide the one promise. */
export interface Group {
  name: Fixed;
  lines: readonly WriteLine[];
  /** Never shortened. */
  whole?: boolean;
}

const STATUS_COMMAND = fixed('`holdfast status`');

/** A section that every brief must have. */
export function required(name: Fixed, title: Line | '', groups: readonly Group[], more = STATUS_COMMAND): Section {
  return { name, title, must: true, groups, more, share: 1 };
}

/** A section that is added as far as it fits. */
export function optional(
  name: Fixed,
  title: Line,
  lines: readonly WriteLine[],
  more = STATUS_COMMAND,
  share = 0.5,
): Section {
  return { name, title, must: false, groups: [{ name, lines }], more, share };
}
