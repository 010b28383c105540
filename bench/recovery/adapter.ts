import type { Item, Scenario, Step } from './scenario.ts';

/**
 * A tool under test. An adapter turns each call into what the tool's own documentation says to do at that moment, at the
 * tool's own durability, and adds no logic of its own. Where a tool has no word for a thing, the adapter writes it as the
 * free text that its users would write. A call is acknowledged when its promise resolves.
 */
export interface Adapter {
  begin(work: Pick<Scenario, 'goal' | 'steps'>): Promise<void>;
  start(step: string): Promise<void>;
  /** A unit of a step is done and left a file; `next` is what its author would do next. */
  checkpoint(point: { step: string; unit: string; file: string; next: string }): Promise<void>;
  /** Before an effect on the world. The tool may know that it was done, or that nobody knows. */
  beginEffect(effect: { step: string; effect: string; class: 'idempotent' | 'irreversible' }): Promise<EffectAnswer>;
  endEffect(effect: { step: string; effect: string }): Promise<void>;
  decide(decision: { step: string; decision: string; reason: string }): Promise<void>;
  /** A step must not be done until somebody says so. */
  block(blocker: { step: string; text: string }): Promise<void>;
  /** The user takes a step out of the plan and puts another in its place. */
  changePlan(change: { drop: string; add: Step }): Promise<void>;
  complete(step: string): Promise<void>;
  /** What whoever comes next is told. */
  resume(): Promise<Answer>;
  close(): Promise<void>;
}

export type EffectAnswer = 'go' | 'done' | 'look';

export interface Answer {
  /** Everything that the tool answered, as it answered: its tokens are counted, and what is not in it was not told. */
  text: string;
  /** How many calls of the tool it took. */
  calls: number;
  /** The same in the words of this benchmark, read from the text and from nothing else. */
  standing: Standing;
}

export interface Standing {
  /** What the tool says is to be done now, in this order, with the last unit that it says was reached. */
  open: readonly { step: string; reached: string | null }[];
  /** The effects it tells of, and whether it says that they ended. */
  effects: readonly { effect: string; ended: boolean }[];
  /** The steps that it says must not be done. */
  blocked: readonly string[];
  /** The files that it says are not as they were recorded. */
  changed: readonly string[];
}

/** What an adapter is made with. It is made anew in every process and keeps nothing but what the tool keeps. */
export interface Seat {
  /** The folder of the work, in which the tool may keep what it keeps. */
  folder: string;
  /** Where the tool is installed, outside of the project. */
  installed: string;
  /** An empty database of PostgreSQL for the work, where the tool asked for one. */
  database: string;
  /** Who works: the first agent or the one that resumes. */
  agent: string;
  /**
   * A tool that writes in the process of its user calls this between two system calls of one write, where a process can
   * be killed and a timer hardly ever hits. For a tool with processes of its own the benchmark sweeps over time instead.
   */
  between(): void;
}

export interface Tool {
  /** The word by which it is chosen on the command line; of a tool from outside, the path of its module. */
  id: string;
  name: string;
  /** The version, and what an acknowledged write survives. */
  durability: string;
  /** Whether a call is a process or waits for one, and is then also killed in its middle. */
  isProcess: boolean;
  /** Whether it keeps what it keeps in PostgreSQL. */
  needsDatabase?: boolean;
  /** The packages that it is installed from, with exact versions. */
  packages: readonly string[];
  open(seat: Seat): Adapter | Promise<Adapter>;
}

type Unit = Extract<Item, { unit: string }>;

export function unitsOf(step: Step): Unit[] {
  return step.items.filter((item): item is Unit => 'unit' in item);
}
