import type { Line } from '../line.ts';
import { tokenHundredths } from '../tokens.ts';
import { remembering, type Section, type SectionName } from './sections/section.ts';

export type CountTokens = (text: string) => number;

export interface Limits {
  softTokens: number;
  hardTokens: number;
  chars: number;
}

/** The lengths to which quotations are cut, in this order. */
export const QUOTE_CHARS = [240, 160, 100, 60] as const;
const SHORTEST = 60;
/** More units are worth more than longer ones; what is left of the budget makes them longer again. */
const BRIEF_CHARS = [100, 60] as const;

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
  scale: Scale,
): Map<SectionName, FilledSection> {
  const filled = sections.filter(({ count }) => count > 0).map((section) => openSection(section, scale));
  const byOrder = [...filled].sort((a, b) => order.indexOf(a.section.name) - order.indexOf(b.section.name));
  const frame = scale(fixedLines);
  const roomTokens = Math.max(0, limits.hardTokens - tokensOf(frame));
  /** What the brief has beside a section. */
  const without = (one: Filled | null): Size => {
    const size = { ...frame };
    for (const other of filled) if (other !== one) add(size, other.size);
    return size;
  };
  /** Whether the whole brief is within the limit if a section has this size. */
  const fits = (one: Filled | null, size: Size, mostTokens: number): boolean => {
    const whole = without(one);
    add(whole, size);
    return whole.chars <= limits.chars && tokensOf(whole) <= mostTokens;
  };
  const isWithinShare = ({ section }: Filled, size: Size): boolean =>
    tokensOf(size) <= (roomTokens * section.share) / 100;
  for (const one of filled) takeFirst(one, (size) => isWithinShare(one, size));
  shrink([...byOrder].reverse(), () => fits(null, NOTHING, limits.hardTokens));
  for (const one of byOrder) {
    const isWithin = (size: Size): boolean => isWithinShare(one, size) && fits(one, size, limits.hardTokens);
    while (!one.isDropped && takeNext(one, isWithin));
  }
  for (const one of byOrder) {
    const { must = 0 } = one.section;
    while (one.chars.length < must && takeNext(one, (size) => fits(one, size, limits.hardTokens), BRIEF_CHARS));
  }
  const limitOf = ({ section }: Filled): number => (URGENT.has(section.name) ? limits.hardTokens : limits.softTokens);
  /** Where a section found no room, there is none until the others take less. */
  const refused = new Map<Filled, Size>();
  for (let grew = true; grew; ) {
    grew = false;
    for (const one of byOrder) {
      const before = refused.get(one);
      const others = without(one);
      if (one.isDropped || (before && others.hundredths >= before.hundredths && others.chars >= before.chars)) continue;
      if (takeNext(one, (size) => fits(one, size, limitOf(one)), BRIEF_CHARS)) grew = true;
      else refused.set(one, others);
    }
  }
  for (const one of byOrder) widen(one, (size) => fits(one, size, limits.softTokens));
  return new Map(
    filled.map(({ section, chars, size }) => [
      section.name,
      { lines: size === NOTHING ? [] : section.show(chars), left: section.count - chars.length },
    ]),
  );
}

interface Filled {
  section: Section;
  /** How long the quotations of each shown unit may be. */
  chars: readonly number[];
  size: Size;
  /** There was not even room for its first unit. */
  isDropped: boolean;
  sizeOf(chars: readonly number[]): Size;
  /** What it takes with so many units after those that are shown. */
  sizeWithMore(more: number, most: number): Size;
  /** What it takes with another length of one shown unit. */
  sizeWithLonger(index: number, most: number): Size;
}

type Fits = (size: Size) => boolean;

interface Size {
  hundredths: number;
  chars: number;
}

/** What whole lines cost together; at least that, if another tokenizer counts them. */
export type Scale = (lines: readonly Line[]) => Size;

const NOTHING: Size = { hundredths: 0, chars: 0 };

function add(sum: Size, size: Size, sign: 1 | -1 = 1): void {
  sum.hundredths += sign * size.hundredths;
  sum.chars += sign * size.chars;
}

export const tokensOf = ({ hundredths }: Size): number => Math.ceil(hundredths / 100);

/** Most lines that are tried differ in a count only, and most words occur again: each is measured once. */
export function openScale(countTokens: CountTokens | undefined): Scale {
  const count = countTokens ? (line: string) => countTokens(`${line}\n`) * 100 : wordByWord();
  const costs = new Map<string, number>();
  return (lines) => {
    const size = { hundredths: 0, chars: 0 };
    for (const line of lines) {
      const cost = costs.get(line) ?? count(line);
      costs.set(line, cost);
      size.hundredths += cost;
      size.chars += line.length + 1;
    }
    return size;
  };
}

/** The estimate for a line with its end. After a single space a word costs the same everywhere, and so does every digit. */
function wordByWord(): (line: string) => number {
  const costs = new Map<string, number>();
  return (line) => {
    const words = line.replace(/[1-9]/g, '0').split(' ');
    const last = words.pop() ?? '';
    if (words.includes('') || last === '') return tokenHundredths(`${line}\n`);
    const first = words.shift();
    let sum = first === undefined ? 0 : tokenHundredths(first);
    for (const word of words) {
      const cost = costs.get(word) ?? tokenHundredths(` ${word}`);
      costs.set(word, cost);
      sum += cost;
    }
    return sum + tokenHundredths(`${first === undefined ? '' : ' '}${last}\n`);
  };
}

function openSection(section: Section, scale: Scale): Filled {
  const measured = section.byLine ? sizesByLine(section.byLine, scale) : sizesAsAWhole(section, scale);
  return { section, chars: [], size: scale(section.show([])), isDropped: false, ...measured };
}

type Sizes = Pick<Filled, 'sizeOf' | 'sizeWithMore' | 'sizeWithLonger'> & ThisType<Filled>;

function sizesAsAWhole(section: Section, scale: Scale): Sizes {
  return {
    sizeOf: (chars) => scale(section.show(chars)),
    sizeWithMore(more, most) {
      return this.sizeOf([...this.chars, ...Array<number>(more).fill(most)]);
    },
    sizeWithLonger(index, most) {
      return this.sizeOf(this.chars.with(index, most));
    },
  };
}

/** Only what differs from the units that are shown is measured, and each line once. */
function sizesByLine({ unit, rest }: NonNullable<Section['byLine']>, scale: Scale): Sizes {
  const unitSize = remembering((key) => scale([unit(Math.floor(key / KEYS), key % KEYS)]));
  const restSize = remembering((kept) => scale(rest(kept)));
  return {
    sizeOf(chars) {
      const size = { ...restSize(chars.length) };
      for (const [index, most] of chars.entries()) add(size, unitSize(index * KEYS + most));
      return size;
    },
    sizeWithMore(more, most) {
      const size = { ...this.size };
      const from = this.chars.length;
      add(size, restSize(from), -1);
      add(size, restSize(from + more));
      for (let index = from; index < from + more; index++) add(size, unitSize(index * KEYS + most));
      return size;
    },
    sizeWithLonger(index, most) {
      const size = { ...this.size };
      add(size, unitSize(index * KEYS + (this.chars[index] ?? 0)), -1);
      add(size, unitSize(index * KEYS + most));
      return size;
    },
  };
}

/** More than any length of a quotation: the number of a unit and a length are one key. */
const KEYS = 1000;

function put(one: Filled, chars: readonly number[], size = one.sizeOf(chars)): void {
  one.size = size;
  one.chars = chars;
}

/** Every section with content has its first unit, cut until it fits the share. */
function takeFirst(one: Filled, fits: Fits): void {
  put(one, [QUOTE_CHARS.find((most) => fits(one.sizeOf([most]))) ?? SHORTEST]);
}

/** Adds a unit, or all that are left: without the count of what is left out, all may cost less than one more. */
function takeNext(one: Filled, fits: Fits, lengths: readonly number[] = QUOTE_CHARS): boolean {
  const { section, chars } = one;
  const left = section.count - chars.length;
  if (left <= 0) return false;
  for (const more of left > 1 && left <= FEW ? [1, left] : [1]) {
    for (const most of lengths) {
      const size = one.sizeWithMore(more, most);
      if (!fits(size)) continue;
      put(one, [...chars, ...Array<number>(more).fill(most)], size);
      return true;
    }
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
    one.size = NOTHING;
  }
}

/** Quotations that were cut to fit a share grow again into room that nothing else needs. */
function widen(one: Filled, fits: Fits): void {
  for (const [index, length] of one.chars.entries()) {
    for (const most of QUOTE_CHARS) {
      if (most <= length) break;
      const size = one.sizeWithLonger(index, most);
      if (!fits(size)) continue;
      put(one, one.chars.with(index, most), size);
      break;
    }
  }
}
