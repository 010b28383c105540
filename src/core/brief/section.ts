import { isName, oneLine } from '../text.ts';

export interface Section {
  name: string;
  title: string;
  /** Lines of other sections may be left out to fit the budget; a count then stands for them. */
  must: boolean;
  groups: readonly Group[];
  /** The command that shows what was left out. */
  more: string;
  /** The part of the remaining room that an optional section may take at first. */
  share: number;
}

/** Writes a line whose quotations have at most so many characters. */
export type Line = (chars: number) => string;

/** Lines of one kind. Where not all fit, every kind keeps some: forty blockers must not hide the one promise. */
export interface Group {
  name: string;
  lines: readonly Line[];
  /** Never shortened. */
  whole?: boolean;
}

const STATUS_COMMAND = '`holdfast status`';

/** A section that every brief must have. */
export function required(name: string, title: string, groups: readonly Group[], more = STATUS_COMMAND): Section {
  return { name, title, must: true, groups, more, share: 1 };
}

/** A section that is added as far as it fits. */
export function optional(
  name: string,
  title: string,
  lines: readonly Line[],
  more = STATUS_COMMAND,
  share = 0.5,
): Section {
  return { name, title, must: false, groups: [{ name, lines }], more, share };
}

export const NAME_CHARS = 60;

/** Text of an agent or a person as a quotation: one line, without markup that could be taken for the brief's own. */
export function quote(text: string, chars: number): string {
  return `"${plain(text, chars)}"`;
}

/** An id or a name. Those from other tools' files may hold anything: what does not look like a name is quoted. */
export function named(text: string): string {
  return isName(text, '._@+-/:#', NAME_CHARS) ? text : quote(text, NAME_CHARS);
}

export function plain(text: string, chars: number): string {
  const line = oneLine(text, chars);
  if (!MARKUP.test(line)) return line;
  return line.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('"', "'").replaceAll('`', "'");
}

const MARKUP = /[<>"`]/;
