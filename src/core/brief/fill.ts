import type { Line } from '../line.ts';
import { tokenHundredths } from '../tokens.ts';
import type { Section, SectionName } from './section.ts';

export type CountTokens = (text: string) => number;

export interface Limits {
  softTokens: number;
  hardTokens: number;
  chars: number;
}

/** The lengths to which quotations are cut, in this order. */
export const QUOTE_CHARS = [240, 160, 100, 60] as const;
const SHORTEST = 60;

/** Sections that may grow up to the hard limit. */
const URGENT: ReadonlySet<SectionName> = new Set(['requests', 'uncertain', 'rules', 'open']);

export interface FilledSection {
  lines: readonly Line[];
  /** How many units were left out. */
  left: number;
}

/**
 * Chooses how many units of each section are shown, and how long their quotations are. No section can take the share of
 * another one; what is left of the soft limit after that goes to one unit of each section in turn.
 */
export function fill(
  sections: readonly Section[],
  fixedLines: readonly Line[],
  order: readonly SectionName[],
  limits: Limits,
  countTokens: CountTokens | undefined,
): Map<SectionName, FilledSection> {
  const scale = openScale(countTokens);
  const filled = sections
    .filter(({ count }) => count > 0)
    .map((section): Filled => ({ section, chars: [], lines: section.show([]), isDropped: false }));
  const byOrder = [...filled].sort((a, b) => order.indexOf(a.section.name) - order.indexOf(b.section.name));
  const roomTokens = Math.max(0, limits.hardTokens - scale.tokens(fixedLines));
  /** Whether the whole brief is within the limit with these lines in place of a section's own. */
  const fits = (one: Filled | null, lines: readonly Line[], mostTokens: number): boolean => {
    const all = [...fixedLines, ...filled.flatMap((other) => (other === one ? lines : other.lines))];
    return scale.chars(all) <= limits.chars && scale.fits(all, mostTokens);
  };
  const isWithinShare = ({ section }: Filled, lines: readonly Line[]): boolean =>
    scale.fits(lines, (roomTokens * section.share) / 100);
  for (const one of filled) takeFirst(one, (lines) => isWithinShare(one, lines));
  shrink([...byOrder].reverse(), () => fits(null, [], limits.hardTokens));
  for (const one of byOrder) {
    const isWithin = (lines: readonly Line[]): boolean =>
      isWithinShare(one, lines) && fits(one, lines, limits.hardTokens);
    while (!one.isDropped && takeNext(one, isWithin));
  }
  for (const one of byOrder) {
    const { must = 0 } = one.section;
    while (one.chars.length < must && takeNext(one, (lines) => fits(one, lines, limits.hardTokens)));
  }
  const limitOf = ({ section }: Filled): number => (URGENT.has(section.name) ? limits.hardTokens : limits.softTokens);
  for (let grew = true; grew; ) {
    grew = false;
    for (const one of byOrder) {
      if (!one.isDropped && takeNext(one, (lines) => fits(one, lines, limitOf(one)))) grew = true;
    }
  }
  for (const one of byOrder) widen(one, (lines) => fits(one, lines, limits.softTokens));
  return new Map(
    filled.map(({ section, lines, chars }) => [section.name, { lines, left: section.count - chars.length }]),
  );
}

interface Filled {
  section: Section;
  /** How long the quotations of each shown unit may be. */
  chars: readonly number[];
  lines: readonly Line[];
  /** There was not even room for its first unit. */
  isDropped: boolean;
}

type Fits = (lines: readonly Line[]) => boolean;

interface Scale {
  /** What the lines cost together; at least that, if another tokenizer counts them. */
  tokens(lines: readonly Line[]): number;
  fits(lines: readonly Line[], mostTokens: number): boolean;
  chars(lines: readonly Line[]): number;
}

/** Most lines are measured again with every unit that is added beside them. */
function openScale(countTokens: CountTokens | undefined): Scale {
  const hundredths = countTokens ? (text: string) => countTokens(text) * 100 : tokenHundredths;
  const known = new Map<Line, number>();
  const costOf = (line: Line): number => {
    const cost = known.get(line) ?? hundredths(`${line}\n`);
    known.set(line, cost);
    return cost;
  };
  const tokens = (lines: readonly Line[]): number =>
    Math.ceil(lines.reduce((sum, line) => sum + costOf(line), 0) / 100);
  return {
    tokens,
    fits: (lines, mostTokens) => tokens(lines) <= mostTokens,
    chars: (lines) => lines.reduce((sum, line) => sum + line.length + 1, 0),
  };
}

function put(one: Filled, chars: readonly number[]): void {
  one.chars = chars;
  one.lines = one.section.show(chars);
}

/** Every section with content has its first unit, cut until it fits the share. */
function takeFirst(one: Filled, fits: Fits): void {
  put(one, [QUOTE_CHARS.find((most) => fits(one.section.show([most]))) ?? SHORTEST]);
}

/** Adds a unit, or all that are left: without the count of what is left out, all may cost less than one more. */
function takeNext(one: Filled, fits: Fits): boolean {
  const { section, chars } = one;
  const left = section.count - chars.length;
  if (left <= 0) return false;
  for (const more of left > 1 && left <= FEW ? [1, left] : [1]) {
    const length = QUOTE_CHARS.find((most) => fits(section.show([...chars, ...Array<number>(more).fill(most)])));
    if (length === undefined) continue;
    put(one, [...chars, ...Array<number>(more).fill(length)]);
    return true;
  }
  return false;
}

const FEW = 3;

/** A budget that does not hold a unit of each section leaves the least important sections as a count, then out. */
function shrink(leastFirst: readonly Filled[], fits: () => boolean): void {
  for (const one of leastFirst) {
    if (fits()) return;
    put(
      one,
      one.chars.map(() => SHORTEST),
    );
  }
  for (const one of leastFirst) {
    if (fits()) return;
    put(one, []);
    one.isDropped = true;
  }
  for (const one of leastFirst) {
    if (fits()) return;
    one.lines = [];
  }
}

/** Quotations that were cut to fit a share grow again into room that nothing else needs. */
function widen(one: Filled, fits: Fits): void {
  for (const [index, length] of one.chars.entries()) {
    const longer = QUOTE_CHARS.find((most) => most > length && fits(one.section.show(one.chars.with(index, most))));
    if (longer !== undefined) put(one, one.chars.with(index, longer));
  }
}
