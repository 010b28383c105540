/** A tool beside which the same work is measured; what it cannot do is null, and its line says so. */
export interface Contender {
  name: string;
  /** What an acknowledged write survives. */
  level: string;
  /** Keeps one small change of the state, in this process or in a server that it talks to. */
  write: ((number: number) => Promise<void>) | null;
  /** The same as a process of its own, as an agent's shell does it. */
  writeAsProcess: ((number: number) => Promise<void>) | null;
  /** Reads the latest state. */
  read: (() => Promise<void>) | null;
  readAsProcess: (() => Promise<void>) | null;
  /** What whoever resumes has to read. */
  resumeText(): Promise<string>;
  /** Which of the numbers that were written are still there. */
  kept(): Promise<Set<number>>;
  /** The folder that the tool writes into, or null where that is its database. */
  folder: string | null;
  close(): Promise<void>;
}

/** What a contender is opened with. */
export interface Place {
  /** A folder of its own, which exists. */
  folder: string;
  /** A database of its own, where it asked for one. */
  database: string;
  /** How long the text of an entry is. */
  characters: number;
  /** Whether the state is there already: a further writer joins those who work on it. */
  isJoining: boolean;
  say(sentence: string): void;
}

export type Part = 'times' | 'parallel' | 'growth';

export interface Peer {
  /** The word by which it is chosen. */
  id: string;
  needsDatabase?: boolean;
  /** What it takes part in; without it in all. */
  parts?: readonly Part[];
  open(place: Place): Promise<Contender>;
}

/** The same words of two kilobytes for all, different for each number. */
export function textOf(number: number, characters: number): string {
  let text = `Entry <${number}>`;
  for (let state = number + 1; text.length < characters; ) {
    state = (state * 48_271) % 0x7fffffff;
    text += ` ${state % 5 === 0 ? state.toString(36) : VOCABULARY[state % VOCABULARY.length]}`;
  }
  return text;
}

/** The numbers of the entries that stand in a text. */
export function numbersIn(text: string): Set<number> {
  return new Set([...text.matchAll(/Entry <(\d+)>/g)].map((found) => Number(found[1])));
}

const VOCABULARY =
  'ledger booking payment refund rounding path caller test table index migration token replay traffic region audit'.split(
    ' ',
  );
