import type { Problem } from '../format.ts';
import { readFrontMatter } from '../text/front-matter.ts';
import { type Entry, readEntries } from '../text/list.ts';
import { type Page, scanPage } from '../text/page.ts';
import type { HandoffNote } from './handoff-json.ts';
import { readDecision, readItem } from './read-entry.ts';
import { sectionKind } from './words/headings.ts';
import { isNone } from './words/none.ts';
import { readDate } from './words/numbers.ts';

/**
 * `.continue-here.md`: front matter, then parts between tags (`<current_state>`), or headings with the same meaning.
 */
export function readContinueHere(path: string, text: string): { note: HandoffNote; problems: Problem[] } {
  const page = scanPage(text);
  const problems: Problem[] = [];
  const [block] = page.frontMatter;
  const front = block ? readFrontMatter(page, block).fields : new Map<string, { value: string }>();
  if (block && !block.closed)
    problems.push({
      code: 'front_matter_open',
      level: 'error',
      path,
      line: 1,
      message: 'The front matter is never closed.',
    });
  const parts = partsOf(page, page.body);
  for (const line of parts.open)
    problems.push({ code: 'tag_open', level: 'warning', path, line: line + 1, message: 'This tag is never closed.' });
  const value = (key: string): string | null => {
    const found = front.get(key)?.value;
    return found === undefined || isNone(found) || found === 'null' ? null : found;
  };
  const entries = (name: PartName): Entry[] =>
    parts.of(name).flatMap(([from, to]) => readEntries(page, from, to, isNone).entries);
  const prose = (name: PartName): string[] =>
    parts
      .of(name)
      .map(([from, to]) => page.prose(from, to))
      .filter((words) => words !== '');
  const none = () => false;
  const next = prose('next').join('\n\n');
  return {
    problems,
    note: {
      path,
      timestamp:
        value('last_updated') ??
        value('timestamp') ??
        value('paused_at') ??
        readDate(page.prose(0, Math.min(page.lines.length, 12))),
      phase: value('phase'),
      phaseName: null,
      plan: value('plan'),
      task: value('task'),
      status: value('status'),
      tasks: [],
      decisions: entries('decisions').flatMap((entry) => readDecision(entry, none) ?? []),
      items: entries('blockers').flatMap((entry) => readItem(entry, 'blocker', null, none) ?? []),
      constraints: entries('constraints').map(({ text: words }) => words),
      deadEnds: entries('dead-ends').map(({ text: words }) => words),
      files: [],
      next: next === '' ? null : next,
      notes: [
        ...prose('state'),
        ...prose('remaining').map((words) => `Remaining work:\n${words}`),
        ...prose('context'),
      ],
    },
  };
}

type PartName =
  | 'state'
  | 'done'
  | 'remaining'
  | 'decisions'
  | 'blockers'
  | 'context'
  | 'next'
  | 'constraints'
  | 'dead-ends'
  | 'reading';

const tags: Record<string, PartName> = {
  current_state: 'state',
  completed_work: 'done',
  remaining_work: 'remaining',
  decisions_made: 'decisions',
  decisions: 'decisions',
  blockers: 'blockers',
  context: 'context',
  next_action: 'next',
  next_actions: 'next',
};

function partsOf(page: Page, start: number): { of(name: PartName): (readonly [number, number])[]; open: number[] } {
  const found: { name: PartName; from: number; to: number }[] = [];
  const open: number[] = [];
  let inside: { name: PartName; tag: string; from: number; line: number } | null = null;
  const covered = new Uint8Array(page.lines.length);
  for (let line = start; line < page.lines.length; line++) {
    const words = page.line(line);
    const parts = /^\s*<(\/?)([a-z_]{3,30})>\s*$/.exec(words);
    const name = parts && tags[parts[2] as string];
    // Free text may have its own headings.
    if (inside && inside.name !== 'context' && inside.name !== 'state' && inside.name !== 'done') covered[line] = 1;
    if (!parts || !name) continue;
    if (inside) found.push({ name: inside.name, from: inside.from, to: line });
    if (inside && parts[1] === '' && inside.tag !== parts[2]) open.push(inside.line);
    inside = parts[1] === '' ? { name, tag: parts[2] as string, from: line + 1, line } : null;
  }
  if (inside) {
    found.push({ name: inside.name, from: inside.from, to: page.lines.length });
    open.push(inside.line);
  }
  for (const heading of page.headings) {
    const name = covered[heading.line] === 1 ? null : partOfHeading(heading.title);
    if (name) found.push({ name, from: heading.line + 1, to: heading.level === 1 ? heading.bodyEnd : heading.end });
  }
  return { of: (name) => found.filter((part) => part.name === name).map(({ from, to }) => [from, to] as const), open };
}

function partOfHeading(title: string): PartName | null {
  switch (sectionKind(title)) {
    case 'decisions':
      return 'decisions';
    case 'blockers':
      return 'blockers';
    case 'next':
      return 'next';
    case 'constraints':
      return 'constraints';
    case 'dead-ends':
      return 'dead-ends';
    case 'position':
      return 'state';
    default:
      if (/^remaining work/i.test(title)) return 'remaining';
      return /^context\b/i.test(title) ? 'context' : null;
  }
}
