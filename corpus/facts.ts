import type { FormatName } from '../src/formats/format.ts';

/**
 * The facts in a file, counted without any of the parsers: by searching for keys, headings and patterns, as a person
 * who checks a parser would. For an ambiguous file this counts too little, never something that is not there.
 */
export interface Fact {
  kind: 'position' | 'decision' | 'blocker' | 'phase' | 'time' | 'message' | 'question';
  words: string;
  line: number;
}

export function factsIn(format: FormatName, path: string, text: string): Fact[] {
  // The previous version: its content was overwritten.
  if (/\.(bak|tmp)$/.test(path)) return [];
  const plain = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  switch (format) {
    case 'apex':
      return path.endsWith('.md') ? [] : [...apexFacts(plain), ...times(plain)];
    case 'gsd':
      // Plans, summaries and the roadmap are evidence of completed work; a run does not repeat their text.
      if (/-(PLAN|SUMMARY)\.md$|(^|\/)ROADMAP\.md$/i.test(path)) return [];
      return path.endsWith('.json') ? jsonFacts(plain) : [...gsdFacts(plain), ...times(frontMatter(plain))];
    case 'codewalk':
      return times(plain);
    case 'maestro':
      return [...maestroFacts(plain), ...times(frontMatter(plain))];
    case 'snap':
      return snapFacts(path, plain);
    default:
      return format satisfies never;
  }
}

/**
 * Whether the run contains a fact, compared by letters and digits: markup and line breaks may differ, and a sentence
 * may be split at dashes, colons, brackets and "because", but every part must be there.
 */
export function isInRun(fact: Fact, run: string): boolean {
  const whole = squeeze(fact.words);
  if (whole === '' || run.includes(whole.slice(0, 80))) return true;
  if (fact.kind === 'time') return false;
  return (
    fact.words
      // Words for settled are in the run as a status.
      .replace(/\b(?:RESOLVED|CLOSED|CLEARED|FIXED|SUPERSEDED|RETRACTED)\b/g, '|')
      .split(/\s+(?:[—–-]+|->|→|because)\s+|[:;()[\]*|~]+/)
      .map((part) => squeeze(part).slice(0, 60))
      .filter((part) => part.length >= SHORTEST_PART)
      .every((part) => run.includes(part))
  );
}

/** Shorter parts are numbers and labels, which have other forms in the run. */
const SHORTEST_PART = 12;

export function squeeze(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\\[nrt]/g, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase();
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

function times(text: string): Fact[] {
  const pattern = /\b20\d\d-[01]\d-[0-3]\d(?:[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g;
  return [...text.matchAll(pattern)].map((match) => ({
    kind: 'time',
    words: match[0],
    line: lineAt(text, match.index),
  }));
}

function frontMatter(text: string): string {
  const match = /^\s*---\n([\s\S]*?)\n---\s*(?:\n|$)/.exec(text);
  return match?.[1] ?? '';
}

function apexFacts(text: string): Fact[] {
  let state: Record<string, unknown>;
  try {
    state = JSON.parse(text);
  } catch {
    return [];
  }
  const facts: Fact[] = [];
  const line = (words: string): number => lineAt(text, Math.max(0, text.indexOf(JSON.stringify(words).slice(1, 40))));
  const add = (kind: Fact['kind'], words: unknown): void => {
    if (typeof words === 'string' && words.trim() !== '') facts.push({ kind, words, line: line(words) });
  };
  for (const step of Object.values((state['steps'] ?? {}) as Record<string, Record<string, unknown>>)) {
    if (typeof step !== 'object' || step === null) continue;
    add('phase', step['name']);
    if (step['status'] === 'in_progress') add('position', step['sub_step']);
  }
  for (const value of Object.values((state['decisions'] ?? {}) as Record<string, unknown>)) add('decision', value);
  for (const entry of (state['decision_log'] ?? []) as Record<string, unknown>[]) {
    add('decision', entry?.['choice'] ?? entry?.['decision'] ?? entry?.['value']);
  }
  for (const finding of (state['open_findings'] ?? []) as unknown[]) {
    if (typeof finding === 'string') add('blocker', finding);
    else
      add(
        'blocker',
        (finding as Record<string, unknown>)?.['description'] ?? (finding as Record<string, unknown>)?.['title'],
      );
  }
  return facts;
}

/** Bullets below a heading that names their kind, up to the next heading. */
function gsdFacts(text: string): Fact[] {
  const facts: Fact[] = [];
  let kind: Fact['kind'] | null = null;
  let fenced = false;
  let level = 0;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = index + 1;
    if (/^\s*(```|~~~)/.test(raw)) fenced = !fenced;
    if (fenced) continue;
    const heading = /^(#{1,6})\s+(.*)$/.exec(raw);
    if (heading) {
      const [, marks = '', title = ''] = heading;
      const named = headingKind(title);
      if (named !== undefined || marks.length <= level) {
        kind = named ?? null;
        level = marks.length;
      }
      continue;
    }
    const position = /^\*{0,2}(Phase|Plan|Status)\*{0,2}:\*{0,2}\s+(.+)$/.exec(raw);
    if (position?.[2] && kind === 'position')
      facts.push({ kind: 'position', words: position[2].replace(/\(.*$/, ''), line });
    const bullet = /^[-*+]\s+(?:\[[ xX]\]\s+)?(.+)$/.exec(raw);
    const words = bullet?.[1] ?? '';
    if ((kind === 'decision' || kind === 'blocker') && words !== '' && !isNothing(words))
      facts.push({ kind, words, line });
  }
  return facts;
}

function headingKind(title: string): Fact['kind'] | undefined {
  if (/^(accumulated )?(key |recent |active )?decisions?( made| log)?\b/i.test(title)) return 'decision';
  if (/^(active |open |current )?(blockers?)(\b.*)$/i.test(title)) return 'blocker';
  if (/^current position\b/i.test(title)) return 'position';
  return undefined;
}

const isNothing = (words: string): boolean =>
  /^[*_(]*(none|no(ne)? (yet|currently|active|known|open)|no (active |open |current |known )?(blockers?|decisions?)|n\/a|nothing|nenhum|-)\b/i.test(
    words,
  ) || squeeze(words).length < 4;

function jsonFacts(text: string): Fact[] {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    const decisions = (value['decisions'] ?? []) as (string | Record<string, unknown>)[];
    return decisions.flatMap((one) => {
      const words = typeof one === 'string' ? one : one['decision'];
      return typeof words === 'string' ? [{ kind: 'decision' as const, words, line: 1 }] : [];
    });
  } catch {
    return [];
  }
}

function maestroFacts(text: string): Fact[] {
  const head = frontMatter(text);
  if (head.trimStart().startsWith('{')) {
    try {
      const state = JSON.parse(head) as { phases?: { name?: string }[] };
      return (state.phases ?? []).flatMap(({ name }) =>
        name ? [{ kind: 'phase' as const, words: name, line: 1 }] : [],
      );
    } catch {
      return [];
    }
  }
  const facts: Fact[] = [];
  for (const match of head.matchAll(/^\s+(?:- )?name:\s*(["']?)(.+?)\1\s*$/gm)) {
    facts.push({ kind: 'phase', words: match[2] ?? '', line: lineAt(head, match.index) + 1 });
  }
  const current = /^current_phase:\s*(.+)$/m.exec(head);
  if (current?.[1] && !/null|~/.test(current[1]))
    facts.push({ kind: 'position', words: current[1].replace(/["']/g, ''), line: 1 });
  return facts;
}

function snapFacts(path: string, text: string): Fact[] {
  const name = path.split('/').at(-1) ?? '';
  const ids = (pattern: RegExp, kind: Fact['kind']): Fact[] =>
    [...text.matchAll(pattern)].map((match) => ({ kind, words: match[1] ?? '', line: lineAt(text, match.index) }));
  if (/MAILBOX/.test(name) && name.endsWith('.md')) return ids(/^### (MSG-\d{8}-\d{3})/gm, 'message');
  if (/OPEN_QUESTIONS/.test(name)) return ids(/^\| *(OQ-[A-Z]?\d+) *\|/gm, 'question');
  if (/TURNFILE/.test(name)) {
    const tasks = /^ {2}tasks:\n((?: {4}.*\n|\s*\n| *#.*\n)*)/m.exec(text)?.[1] ?? '';
    return [...tasks.matchAll(/^ {4}([\w.-]+):\s*$/gm)].map((match) => ({
      kind: 'phase',
      words: match[1] ?? '',
      line: 1,
    }));
  }
  return [];
}
