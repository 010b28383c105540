import type {
  ModelDecision,
  ModelItem,
  ModelMessage,
  ModelNote,
  ModelSession,
  ModelStep,
  RunModel,
} from './run-model.ts';

/** The lists of a run model whose entries are records of the journal. */
export const listNames = ['steps', 'decisions', 'items', 'notes', 'sessions', 'messages'] as const;
export type ListName = (typeof listNames)[number];
export type EntryOf<K extends ListName> = RunModel[K][number];

/** The journal's name of an entry: the key of a step, the id of anything else. */
export const idOf = <K extends ListName>(list: K, entry: EntryOf<K>): string | undefined =>
  list === 'steps' ? (entry as ModelStep).key : (entry as ModelItem).id;

/** What an entry says, for messages. */
export const wordsOf = <K extends ListName>(list: K, entry: EntryOf<K>): string => {
  switch (list) {
    case 'steps':
      return (entry as ModelStep).title;
    case 'decisions':
      return (entry as ModelDecision).decision;
    case 'sessions': {
      const { agent, startedAt, alias } = entry as ModelSession;
      return `${agent ?? ''} ${startedAt ?? alias ?? ''}`.trim();
    }
    case 'messages':
      return (entry as ModelMessage).subject;
    default:
      return (entry as ModelItem | ModelNote).text;
  }
};

/**
 * Finds, for each entry of `theirs`, the entry of `ours` that is the same record. An entry has several identities; a pair
 * with a stronger one in common is made first, and equal entries are paired in their order. `loosely` also pairs entries
 * whose words were changed a little.
 */
export function pairEntries<K extends ListName>(
  list: K,
  ours: readonly EntryOf<K>[],
  theirs: readonly EntryOf<K>[],
  loosely: boolean,
): Map<EntryOf<K>, EntryOf<K>> {
  const pairs = new Map<EntryOf<K>, EntryOf<K>>();
  const taken = new Set<EntryOf<K>>();
  const identities = identitiesOf[list] as (entry: EntryOf<K>) => (string | null)[];
  const mine = new Map(ours.map((entry) => [entry, identities(entry)]));
  const other = new Map(theirs.map((entry) => [entry, identities(entry)]));
  // The entries of one list have the same number of identities.
  const ranks = (mine.values().next().value ?? other.values().next().value ?? []).length;
  for (let rank = 0; rank < ranks; rank++) {
    const free = new Map<string, EntryOf<K>[]>();
    for (const [entry, names] of mine) {
      const name = names[rank];
      if (taken.has(entry) || !name) continue;
      const same = free.get(name);
      if (same) same.push(entry);
      else free.set(name, [entry]);
    }
    for (const [entry, names] of other) {
      const found = pairs.has(entry) ? undefined : free.get(names[rank] ?? '')?.shift();
      if (found === undefined || contradict(found, entry)) continue;
      pairs.set(entry, found);
      taken.add(found);
    }
  }
  if (loosely) pairSimilar(list, ours, theirs, pairs, taken);
  return pairs;
}

/** Two entries with different ids of their file are two records, whatever they say. */
const contradict = (one: object, other: object): boolean => {
  const [a, b] = [(one as ModelItem).alias, (other as ModelItem).alias];
  return a !== undefined && b !== undefined && a !== b && !('title' in one);
};

type Identities = { [K in ListName]: (entry: EntryOf<K>) => (string | null)[] };

/** The strongest first. A missing part gives no identity, so that two entries without it are not taken for one. */
const identitiesOf: Identities = {
  steps: ({ key }) => [key],
  decisions: ({ id, alias, key, decision, context, at }) => [
    alias ?? id ?? null,
    id ?? alias ?? null,
    key ?? null,
    plainWords(decision, at),
    plainWords(decision),
    at && context ? plainWords(context, at) : null,
  ],
  items: ({ id, alias, kind, text, step, raisedAt }) => [
    alias ?? id ?? null,
    id ?? alias ?? null,
    plainWords(kind, text, step, raisedAt),
    plainWords(kind, text, step),
    plainWords(kind, text),
    raisedAt ? plainWords(kind, step, raisedAt) : null,
  ],
  notes: ({ id, alias, kind, text, at }) => [
    alias ?? id ?? null,
    id ?? alias ?? null,
    plainWords(kind, text, at),
    plainWords(kind, text),
  ],
  sessions: ({ id, alias, agent, startedAt, endedAt, workingOn }) => [
    alias ?? id ?? null,
    id ?? alias ?? null,
    startedAt ? plainWords(agent, startedAt) : null,
    endedAt ? plainWords(agent, endedAt) : null,
    plainWords(workingOn, endedAt ?? startedAt) || null,
  ],
  messages: ({ id, alias, from, to, subject, body, at }) => [
    alias ?? id ?? null,
    id ?? alias ?? null,
    plainWords(from, to, subject, body),
    at ? plainWords(from, to, subject, at) : null,
    plainWords(from, to, subject),
  ],
};

const plainWords = (...parts: (string | undefined)[]): string =>
  parts
    .map((part) =>
      (part ?? '')
        .normalize('NFKC')
        .toLowerCase()
        .replace(/[\s*_`"'.]+/g, ' ')
        .trim(),
    )
    .join('\u0000');

/** A sentence that was reworded shares at least half of its words with what it was. */
const SIMILAR = 0.5;
/** Pairs are compared one by one, so long lists are not. */
const MOST_COMPARED = 200;

function pairSimilar<K extends ListName>(
  list: K,
  ours: readonly EntryOf<K>[],
  theirs: readonly EntryOf<K>[],
  pairs: Map<EntryOf<K>, EntryOf<K>>,
  taken: Set<EntryOf<K>>,
): void {
  const left = ours.filter((entry) => !taken.has(entry));
  const open = theirs.filter((entry) => !pairs.has(entry));
  if (list === 'steps' || left.length > MOST_COMPARED || open.length > MOST_COMPARED) return;
  for (const entry of open) {
    let best: { found: EntryOf<K>; share: number } | null = null;
    for (const found of left) {
      if (taken.has(found) || contradict(found, entry) || !isSameKind(found, entry)) continue;
      const share = shareOf(wordsOf(list, found), wordsOf(list, entry));
      if (share >= SIMILAR && share > (best?.share ?? 0)) best = { found, share };
    }
    if (!best) continue;
    pairs.set(entry, best.found);
    taken.add(best.found);
  }
}

const isSameKind = (one: object, other: object): boolean =>
  (one as ModelItem).kind === (other as ModelItem).kind && (one as ModelItem).step === (other as ModelItem).step;

function shareOf(one: string, other: string): number {
  const [a, b] = [tokens(one), tokens(other)];
  const common = [...a].filter((word) => b.has(word)).length;
  const all = a.size + b.size - common;
  return all === 0 ? 0 : common / all;
}

const tokens = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
