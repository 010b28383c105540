import type { PagePart } from './plan-page.ts';

/** What a heading says about its section. Null: nothing that is known. */
export type SectionKind = 'steps' | 'phase' | 'task' | 'outside' | Exclude<PagePart['as'], 'left' | 'constraint'>;

/** In order; the first that matches. The words are those that plans of people and agents use. */
const kinds: readonly [SectionKind, RegExp][] = [
  ['outside', /^(?:out of scope|non-?goals?|not in scope)$/],
  ['goal', /^(?:goals?|objectives?|context|background|overview|summary|problem(?: statement)?|motivation)$/],
  [
    'reading',
    /^(?:(?:critical|key|relevant|important|affected) files|files(?: to (?:change|modify|read|edit))?|references)$/,
  ],
  [
    'note',
    /^(?:approach|design|architecture|decisions?|assumptions?|notes?|open questions|questions|risks?(?: and mitigations?)?|verification|testing|test plan|(?:acceptance|success) criteria|definition of done|rollback(?: plan)?|timeline|estimates?)$/,
  ],
  [
    'steps',
    /^(?:steps?|plan|implementation(?: plan| steps| order)?|tasks?|task list|to-?do(?: list)?s?|changes|work(?: items)?|action items|rollout(?: plan)?)$/,
  ],
];

/** `Phase 2: Switch` is the second phase, with the title `Switch`. */
export interface Section {
  kind: SectionKind | null;
  title: string;
  /** `2` or `1.1`, if the heading has a number. */
  number: string | null;
}

export function readHeading(text: string): Section {
  const words = text.replace(/^\p{Extended_Pictographic}\ufe0f?\s*/u, '').trim();
  const unit = /^(phase|milestone|stage|task|step)\s+#?(\d+(?:\.\d+)*)\b\s*[:.)—–-]*\s*(.*)$/i.exec(words);
  if (unit) {
    const [, noun = '', number = '', title = ''] = unit;
    const kind = /^(?:task|step)$/i.test(noun) ? 'task' : 'phase';
    return { kind, title: title === '' ? words : title, number };
  }
  const numbered = /^(\d+(?:\.\d+)*)[.)]?\s+(.*)$/.exec(words);
  const title = numbered?.[2] ?? words;
  const name = title
    .replace(/[:.]+$/, '')
    .trim()
    .toLowerCase();
  const kind = kinds.find(([, pattern]) => pattern.test(name))?.[0] ?? null;
  return { kind, title, number: numbered?.[1] ?? null };
}
