import type { Item, Scenario, Step } from './scenario.ts';

/**
 * A tool under test. An adapter turns each call into what the tool's own documentation says to do at that moment, at the
 * tool's own durability, and adds no logic of its own. Where a tool has no concept for a thing, the adapter writes it as
 * free text, as its users would. A call is acknowledged when its promise resolves.
 */
export interface Adapter {
  begin(work: Pick<Scenario, 'goal' | 'steps'>): Promise<void>;
  start(step: string): Promise<void>;
  /** A unit of a step is done and left a file; `next` is what its author would do next. */
  checkpoint(point: { step: string; unit: string; file: string; next: string }): Promise<void>;
  /** Before a side effect. The tool may know that it was done, or that its outcome is unknown. */
  beginEffect(effect: { step: string; effect: string; class: 'idempotent' | 'irreversible' }): Promise<EffectAnswer>;
  endEffect(effect: { step: string; effect: string }): Promise<void>;
  decide(decision: { step: string; decision: string; reason: string }): Promise<void>;
  /** A decision takes the place of another. A tool without that concept gets it as one more decision. */
  redecide?(decision: { step: string; replaces: string; decision: string; reason: string }): Promise<void>;
  /** A step must not be done until the blocker is settled. */
  block(blocker: { step: string; text: string }): Promise<void>;
  /** The user replaces a step of the plan by another. */
  changePlan(change: { drop: string; add: Step }): Promise<void>;
  complete(step: string): Promise<void>;
  /** What the next agent gets. */
  resume(): Promise<Answer>;
  close(): Promise<void>;
}

export type EffectAnswer = 'go' | 'done' | 'look';

export interface Answer {
  /** The whole answer of the tool, unchanged: its tokens are counted, and what it lacks was not reported. */
  text: string;
  /** How many calls of the tool it took. */
  calls: number;
  /** The same in the terms of this benchmark, read only from the text. */
  state: ReportedState;
}

export interface ReportedState {
  /** What the tool reports as to be done now, in this order, with the last unit reached. */
  open: readonly { step: string; reached: string | null }[];
  /** The effects it reports, and whether they ended. */
  effects: readonly { effect: string; ended: boolean }[];
  /** The steps it reports as blocked. */
  blocked: readonly string[];
  /** The files it reports as changed since they were recorded. */
  changed: readonly string[];
}

/** What an adapter is opened with. It is opened in every process again and keeps no state of its own. */
export interface AdapterOptions {
  /** The folder of the work, where the tool may keep its files. */
  folder: string;
  /** Where the tool is installed, outside the project. */
  installed: string;
  /** An empty PostgreSQL database, if the tool needs one. */
  database: string;
  /** The first agent, or the one that resumes. */
  agent: string;
  /**
   * A tool that writes in the agent's process calls this between two system calls of one write, a moment that a timer
   * hardly ever hits. For a tool with its own processes the benchmark varies the time instead.
   */
  between(): void;
}

export interface Tool {
  /** Its name on the command line; of an external tool the path of its module. */
  id: string;
  name: string;
  /** The version, and what an acknowledged write survives. */
  durability: string;
  /** Whether a call is a process or waits for one; it is then also killed inside a call. */
  isProcess: boolean;
  /** Whether it needs a PostgreSQL database. */
  needsDatabase?: boolean;
  /** The packages that it is installed from, with exact versions. */
  packages: readonly string[];
  open(options: AdapterOptions): Adapter | Promise<Adapter>;
}

type Unit = Extract<Item, { unit: string }>;

export function unitsOf(step: Step): Unit[] {
  return step.items.filter((item): item is Unit => 'unit' in item);
}
