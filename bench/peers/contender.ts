/** A tool that does the same work; what it cannot do is null, and its row says so. */
export interface Contender {
  name: string;
  /** What an acknowledged write survives. */
  level: string;
  /** Keeps one small change of the state, in this process or in a server that it talks to. */
  write: ((number: number) => Promise<void>) | null;
  /** The same as a separate process, as an agent's shell does it. */
  writeAsProcess: ((number: number) => Promise<void>) | null;
  /** Reads the latest state. */
  read: (() => Promise<void>) | null;
  readAsProcess: (() => Promise<void>) | null;
  /** What a resuming agent has to read. */
  resumeText(): Promise<string>;
  /** Which of the written numbers are still there. */
  kept(): Promise<Set<number>>;
  /** The folder that the tool writes to; null if it writes to a database. */
  folder: string | null;
  close(): Promise<void>;
}

/** What a contender is opened with. */
export interface Place {
  /** Its own folder, which exists. */
  folder: string;
  /** Its own database, if it needs one. */
  database: string;
  /** The length of an entry's text. */
  characters: number;
  /** Whether the state exists already, because this is one more writer. */
  isJoining: boolean;
  say(sentence: string): void;
}

export type Part = 'times' | 'parallel' | 'growth';

export interface Peer {
  /** Its name on the command line. */
  id: string;
  needsDatabase?: boolean;
  /** The measurements it takes part in; all by default. */
  parts?: readonly Part[];
  open(place: Place): Promise<Contender>;
}

/** A text that is the same for all tools and different for each number. */
export function textOf(number: number, characters: number): string {
  let text = `Entry <${number}>`;
  for (let state = number + 1; text.length < characters; ) {
    state = (state * 48_271) % 0x7fffffff;
    text += ` ${state % 5 === 0 ? state.toString(36) : VOCABULARY[state % VOCABULARY.length]}`;
  }
  return text;
}

/** The numbers of the entries in a text. */
export function numbersIn(text: string): Set<number> {
  return new Set([...text.matchAll(/Entry <(\d+)>/g)].map((found) => Number(found[1])));
}

const VOCABULARY =
  'ledger booking payment refund rounding path caller test table index migration token replay traffic region audit'.split(
    ' ',
  );
