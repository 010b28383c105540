import type { Client } from './dialects.ts';
import type { Speaker, Stage } from './stage.ts';
import { contradictions } from './truth.ts';

export interface Story {
  name: string;
  about: string;
  branch?: string;
  play(stage: Stage): Promise<Played>;
}

export interface Played {
  readings: readonly Reading[];
  /** The conversations that must be together in a run, for every run. */
  runs: readonly (readonly string[])[];
}

/** What a text must and must not say. */
export interface Expected {
  /** The words of its header; null if nothing may be said. */
  form: RegExp | null;
  must?: readonly RegExp[];
  /** With the flag `i` it is looked for outside quotations: what users wrote is not a statement of the brief. */
  not?: readonly RegExp[];
  mostTokens?: number;
  isPlanned?: boolean;
}

/** The text that a session got. */
export interface Reading extends Expected {
  client: Client;
  text: string;
  /** What it says although it was not so at that moment. */
  untrue: readonly string[];
}

/** Takes a text at the moment it is read: what is true may change after it. */
export function heard(stage: Stage, { client }: Pick<Speaker, 'client'>, text: string, expected: Expected): Reading {
  const plain = stage.padding.without(text);
  return { client, text, untrue: contradictions(stage, plain), ...expected };
}

const header = (words: string): RegExp => new RegExp(`^Holdfast record of \\S+ \\S+ UTC: ${words}\\.`);

export const START = header('unfinished work in this folder');
export const JOINED = header('the work this session continues');
export const COMPACTED = header('the work of this session, after compaction');
export const RETURNED = header('news since the last turn of this conversation');
export const OTHERS = header('other unfinished work in this workspace');

/** What no brief says: orders and empty claims. */
export const ADVICE = /make a plan|everything is done|begin again|fresh|\d %/i;

export const isFull = ({ extraTodos }: Stage): boolean => extraTodos > 0;

/** `To-do: 1 of 3 done`, with what a variant adds in front of every list. */
export const done = ({ extraTodos }: Stage, count: number, total: number): string =>
  `To-do: ${count + extraTodos} of ${total + extraTodos} done`;
