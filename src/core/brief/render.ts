import { type Fixed, joined, type Line, line, shortened } from '../line.ts';
import { estimateTokens } from '../tokens.ts';
import type { Brief } from './compose.ts';
import { nextLine } from './next-action.ts';
import type { Section, WriteLine } from './section.ts';
import { sectionsOf } from './sections.ts';

export interface BriefText {
  text: Line;
  usedTokens: number;
  /** How many lines were left out to fit the budget, by section. */
  omitted: Record<string, number>;
}

/** Clients cut hook output that is longer. */
const LIMIT_CHARS = 9500;

/**
 * Renders the brief as Markdown without angle brackets, within its budget. Required lines are shortened visibly if they
 * alone are too long, and never dropped silently. Optional lines are added while they fit, and counted when they do not.
 */
export function renderBrief(brief: Brief, countTokens: CountTokens = estimateTokens): BriefText {
  const sections = sectionsOf(brief);
  const groups = sections.filter((section) => section.must).flatMap((section) => section.groups);
  const lines = groups.reduce((sum, group) => sum + group.lines.length, 0);
  const limitTokens = brief.budgetTokens - FOOTER_TOKENS;
  const write = measured(countTokens);
  const tryWhole = (chars: number) => {
    const mustTokens = chars > SENTENCE_CHARS ? limitTokens * MUST_SHARE : limitTokens;
    return layOut(brief, sections, { chars, keep: lines, mustTokens, write });
  };
  // Lines are shortened before any is left out. Lengths that most lines could not have are not tried.
  const average = Math.min(LIMIT_CHARS, limitTokens * CHARS_PER_TOKEN) / Math.max(1, lines);
  const whole = lines * LEAST_TOKENS > limitTokens ? null : longestWhole(tryWhole, average * 4);
  if (whole) return whole;
  const keepAtMost = (keep: number) =>
    layOut(brief, sections, { chars: SHORTEST_CHARS, keep, mustTokens: limitTokens, write });
  let keep = Math.min(lines, Math.floor(limitTokens / USUAL_TOKENS));
  for (; keep >= 1; keep = Math.min(keep - 1, Math.floor(keep * 0.9))) {
    const rendered = keepAtMost(keep);
    if (!rendered) continue;
    // If the lines are shorter than usual, there is room for more of them.
    const more = Math.min(lines, Math.floor((keep * limitTokens) / rendered.usedTokens) - 1);
    return (more > keep ? keepAtMost(more) : null) ?? rendered;
  }
  return { ...shortest(brief, countTokens), omitted: { all: sections.length } };
}

function longestWhole(tryWhole: (chars: number) => BriefText | null, mostChars: number): BriefText | null {
  const [longest = SHORTEST_CHARS, ...others] = LINE_CHARS.filter((chars) => chars <= mostChars);
  const rendered = tryWhole(longest);
  if (rendered) return rendered;
  // If not even the shortest lines fit, no length in between is tried.
  const shortest = tryWhole(SHORTEST_CHARS);
  if (!shortest) return null;
  for (const chars of others) {
    const between = tryWhole(chars);
    if (between) return between;
  }
  return shortest;
}

/** Only the position and the next action, for a budget that holds no more. */
function shortest(brief: Brief, countTokens: CountTokens): { text: Line; usedTokens: number } {
  const tooSmall = line`The budget of ${brief.budgetTokens} tokens is too small for this brief: \`holdfast resume --budget 2000\`.`;
  for (const chars of [200, 100, 50]) {
    const lines = [
      shortened(brief.headline, chars),
      shortened(brief.freshness.text, chars),
      nextLine(brief.nextAction, chars),
      tooSmall,
    ];
    const text = line`${joined(lines, '\n')}\n`;
    const usedTokens = countTokens(text);
    if (usedTokens <= brief.budgetTokens) return { text, usedTokens };
  }
  const text = line`${shortened(brief.headline, 30)}\n${tooSmall}\n`;
  return { text, usedTokens: countTokens(text) };
}

export type CountTokens = (text: string) => number;

/** Accurate enough for a file that every command writes, where no token limit applies. */
export const roughTokens: CountTokens = (text) => Math.ceil(text.length / 3);

const FOOTER_TOKENS = 40;
const FOOTER_CHARS = 200;
/** How much the line that counts what was left out may grow. */
const MORE_TOKENS = 4;
const MORE_CHARS = 12;
const CHARS_PER_TOKEN = 3.5;
/** Lines have ids, paths and punctuation, so they have fewer characters per token than plain prose. */
const MOST_CHARS_PER_TOKEN = 4.2;
const SHORTEST_CHARS = 60;
/** Lengths of quotations, tried in this order. */
const LINE_CHARS = [600, 400, 280, 200, 140, 100, 80];
/** While quotations are longer than a sentence, some room is kept for decisions. */
const SENTENCE_CHARS = 140;
const MUST_SHARE = 0.7;

/** The least that a line costs: its id, its kind, and a few words. */
const LEAST_TOKENS = 14;
/** The usual cost of the shortest form of a line. */
const USUAL_TOKENS = 26;

interface Measures {
  /** How long a quotation may be. */
  chars: number;
  /** How many of the required lines are kept. */
  keep: number;
  mustTokens: number;
  write: Write;
}

interface Written {
  text: Line;
  /** Includes the line end. Joined lines never cost more than the sum of these. Counted on first use. */
  readonly tokens: number;
}

type Write = (line: WriteLine | Line, chars?: number) => Written;

/** Writes and counts each line once per length, because a brief may be laid out several times. */
function measured(countTokens: CountTokens): Write {
  const known = new Map<WriteLine | Line, Written & { chars: number }>();
  return (given, chars = 0) => {
    const before = known.get(given);
    if (before?.chars === chars) return before;
    const text = typeof given === 'string' ? given : given(chars);
    let tokens = 0;
    const written = {
      text,
      chars,
      get tokens() {
        if (tokens === 0) tokens = countTokens(text) + 1;
        return tokens;
      },
    };
    known.set(given, written);
    return written;
  };
}

interface Body {
  section: Section;
  /** How many lines of each group are shown. */
  kept: number[];
  lines: Written[];
}

/** Lays out at most `keep` required lines, then optional lines while they fit; null if the required lines do not fit. */
function layOut(brief: Brief, sections: readonly Section[], measures: Measures): BriefText | null {
  const { chars, keep, mustTokens, write } = measures;
  const bodies = keepLines(sections, keep);
  // Counting tokens is most of the work, so text that is far too long is rejected by its length alone.
  let room = Math.min(LIMIT_CHARS, mustTokens * MOST_CHARS_PER_TOKEN);
  for (const { section, kept, lines } of bodies) {
    for (const [index, group] of section.groups.entries()) {
      for (const line of group.lines.slice(0, kept[index])) {
        const written = write(line, chars);
        lines.push(written);
        room -= written.text.length + 1;
        if (room < 0) return null;
      }
    }
  }
  const tokens = cost(bodies, write);
  let text = join(bodies);
  if (tokens > mustTokens || text.length > LIMIT_CHARS - FOOTER_CHARS) return null;
  // Optional lines are added only if no required line was left out.
  const isWhole = bodies.every((body) => !body.section.must || leftOut(body).length === 0);
  const limits = {
    tokens: brief.budgetTokens - FOOTER_TOKENS - tokens,
    chars: LIMIT_CHARS - FOOTER_CHARS - text.length,
  };
  if (isWhole) addWhatFits(bodies, Math.min(chars, 300), limits, write);
  const omitted: Record<string, number> = {};
  const left: Line[] = [];
  for (const body of bodies) {
    const count = leftOut(body).reduce((sum, group) => sum + group.count, 0);
    if (count === 0) continue;
    omitted[body.section.name] = count;
    left.push(line`${count} ${body.section.name}`);
  }
  text = join(bodies);
  const used = cost(bodies, write) + FOOTER_TOKENS / 2;
  const footer = line`Brief: about ${used} of ${brief.budgetTokens} tokens.${left.length > 0 ? line` Left out: ${joined(left)}.` : ''}`;
  text = line`${text}\n${footer}\n`;
  const usedTokens = cost(bodies, write) + write(footer).tokens + 1;
  return usedTokens > brief.budgetTokens || text.length > LIMIT_CHARS ? null : { text, usedTokens, omitted };
}

function cost(bodies: readonly Body[], write: Write): number {
  let tokens = 0;
  for (const body of bodies) {
    const { before, after } = frame(body);
    for (const line of [...before, ...after]) tokens += write(line).tokens;
    for (const line of body.lines) tokens += line.tokens;
    if (before.length + after.length + body.lines.length > 0) tokens += 1;
  }
  return tokens;
}

/** Divides `keep` lines among the groups of required sections: each gets an equal number, or all it has. */
function keepLines(sections: readonly Section[], keep: number): Body[] {
  const bodies = sections.map((section): Body => ({ section, kept: section.groups.map(() => 0), lines: [] }));
  const shares = bodies.flatMap(({ section, kept }) =>
    section.must ? section.groups.map(({ lines, whole }, index) => ({ kept, index, count: lines.length, whole })) : [],
  );
  let left = keep;
  for (const share of shares) {
    if (!share.whole) continue;
    share.kept[share.index] = share.count;
    left -= share.count;
  }
  // The smallest groups come first: what they do not need is divided among the larger ones.
  const open = shares.filter((share) => !share.whole && share.count > 0).sort((a, b) => a.count - b.count);
  for (const [order, { kept, index, count }] of open.entries()) {
    const given = Math.max(0, Math.min(count, Math.ceil(left / (open.length - order))));
    kept[index] = given;
    left -= given;
  }
  return bodies;
}

/** Adds optional lines. At first a section takes only its share of the room, so that the next one has some too. */
function addWhatFits(
  bodies: readonly Body[],
  chars: number,
  limits: { tokens: number; chars: number },
  write: Write,
): void {
  for (const isFirst of [true, false]) {
    for (const { section, kept, lines } of bodies) {
      const [group] = section.groups;
      if (section.must || !group) continue;
      const spare = isFirst ? 1 - section.share : 0;
      const reserved = { tokens: limits.tokens * spare, chars: limits.chars * spare };
      for (const make of group.lines.slice(kept[0])) {
        const line = write(make, chars);
        // The first line of a section also needs its title.
        const title = lines.length === 0 ? section.title : '';
        const tokens = line.tokens + (title === '' ? 0 : write(title).tokens + MORE_TOKENS);
        const length = line.text.length + 1 + (title === '' ? 0 : title.length + MORE_CHARS);
        if (tokens > limits.tokens - reserved.tokens || length > limits.chars - reserved.chars) break;
        lines.push(line);
        kept[0] = lines.length;
        limits.tokens -= tokens;
        limits.chars -= length;
      }
    }
  }
}

function leftOut({ section, kept }: Body): { name: Fixed; count: number }[] {
  return section.groups
    .map((group, index) => ({ name: group.name, count: group.lines.length - (kept[index] ?? 0) }))
    .filter(({ count }) => count > 0);
}

function join(bodies: readonly Body[]): Line {
  const blocks = bodies.map(block).filter((part) => part !== '');
  return line`${joined(blocks, '\n\n')}\n`;
}

function block(body: Body): Line | '' {
  const { before, after } = frame(body);
  return joined([...before, ...body.lines.map((written) => written.text), ...after], '\n');
}

/** The title of a section, and the count of what it leaves out with the command that shows it. */
function frame(body: Body): { before: Line[]; after: Line[] } {
  const { section, lines } = body;
  const left = leftOut(body);
  if (lines.length === 0 && left.length === 0) return { before: [], after: [] };
  const count = left.reduce((sum, one) => sum + one.count, 0);
  if (lines.length === 0 && !section.must)
    return { before: [], after: [line`- ${count} ${section.name}: ${section.more}`] };
  const kinds = section.groups.length > 1 ? line` (${joined(left.map((one) => line`${one.count} ${one.name}`))})` : '';
  const more = count > 0 ? [line`- ${count} more${kinds}: ${section.more}`] : [];
  return { before: section.title === '' ? [] : [section.title], after: more };
}
