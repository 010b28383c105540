import type { RunModel, RunModelPart } from './run-model.ts';

/** Something that an edit removed from a file. It stays in the journal. */
export interface Dropped {
  kind: 'step' | 'decision' | 'item' | 'note' | 'session' | 'message';
  /** Its id in the file, or its text. */
  name: string;
  words: string;
}

export interface ModelDiff {
  /** What is new or differs. */
  changed: RunModelPart;
  dropped: Dropped[];
}

/** Compares the run models of a file before and after an edit. */
export function diffModels(before: RunModel, after: RunModel): ModelDiff {
  const dropped: Dropped[] = [];
  const changed: RunModelPart = {};
  const compare = <K extends Listed>(
    name: K,
    kind: Dropped['kind'],
    words: (one: RunModel[K][number]) => string,
  ): void => {
    const identity = (one: RunModel[K][number]): string => nameOf(one) ?? words(one);
    const old = grouped(before[name] as RunModel[K][number][], identity);
    const fresh = (after[name] as RunModel[K][number][]).filter((one) => {
      const same = old.get(identity(one))?.shift();
      return same === undefined || !isSame(same, one);
    });
    for (const [known, left] of old) for (const one of left) dropped.push({ kind, name: known, words: words(one) });
    if (fresh.length > 0) Object.assign(changed, { [name]: fresh });
  };
  compare('steps', 'step', (step) => step.title);
  compare('decisions', 'decision', (decision) => decision.decision);
  compare('items', 'item', (item) => item.text);
  compare('notes', 'note', (note) => note.text);
  compare('sessions', 'session', (session) => `${session.agent ?? ''} ${session.startedAt ?? ''}`.trim());
  compare('messages', 'message', (message) => message.subject);
  const { updatedAt: _before, ...oldRun } = before.run;
  const { updatedAt: _after, ...newRun } = after.run;
  if (!isSame(oldRun, newRun)) changed.run = after.run;
  for (const name of ['claims', 'usage', 'files', 'position', 'kept'] as const) {
    if (after[name] !== undefined && !isSame(before[name], after[name]))
      Object.assign(changed, { [name]: after[name] });
  }
  if (before.next !== after.next) changed.next = after.next ?? '';
  return { changed, dropped };
}

/** Finds ids that a file gave to entries we know without one: the same text, now with an id of the file's own. */
export function aliasesIn(known: RunModel, written: RunModel): RunModelPart {
  const learn = <T extends { id?: string | undefined; alias?: string | undefined }>(
    ours: readonly T[],
    theirs: readonly T[],
    words: (one: T) => string,
  ): T[] => {
    const nameless = grouped(
      ours.filter((one) => one.alias === undefined && one.id !== undefined),
      words,
    );
    return theirs.flatMap((one) => {
      const mine = one.alias === undefined ? undefined : nameless.get(words(one))?.shift();
      return mine && one.alias !== mine.id ? [{ ...mine, alias: one.alias }] : [];
    });
  };
  const decisions = learn(known.decisions, written.decisions, (one) => one.decision);
  const items = learn(known.items, written.items, (one) => `${one.kind} ${one.text}`);
  const messages = learn(known.messages, written.messages, (one) => `${one.from} ${one.to} ${one.subject} ${one.body}`);
  return {
    ...(decisions.length > 0 ? { decisions } : {}),
    ...(items.length > 0 ? { items } : {}),
    ...(messages.length > 0 ? { messages } : {}),
  };
}

type Listed = 'steps' | 'decisions' | 'items' | 'notes' | 'sessions' | 'messages';

/** A step is identified by its key, other entries by alias, id or decision key. */
const nameOf = (one: object): string | undefined => {
  const { key, alias, id } = one as { key?: string; alias?: string; id?: string };
  return 'title' in one ? key : (alias ?? id ?? key);
};

/** The same name or text may occur twice; such entries are matched in order. */
function grouped<T>(list: readonly T[], identity: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const name = identity(one);
    const group = groups.get(name);
    if (group) group.push(one);
    else groups.set(name, [one]);
  }
  return groups;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
