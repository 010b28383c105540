import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { sha256 } from '../../src/core/sha256.ts';

/**
 * Work that is killed and resumed. Every name and every fact has a made-up word, so that an answer contains the fact
 * exactly if it contains the word.
 */
export interface Scenario {
  name: string;
  goal: string;
  /** The first plan; an agent that resumes without an answer has only this, as from a first request. */
  steps: readonly Step[];
  moves: readonly Move[];
}

export interface Step {
  key: string;
  title: string;
  items: readonly Item[];
}

/** What a step consists of, in order: units of work on a file, and side effects. */
export type Item = { unit: string; file: string } | { effect: string; class: 'idempotent' | 'irreversible' };

/** One action of the worker. All but `work` and `perform` are calls of the tool. */
export type Move =
  | { do: 'begin' }
  | { do: 'start'; step: string }
  | { do: 'work'; step: string; unit: string; file: string }
  | { do: 'checkpoint'; step: string; unit: string; file: string; next: string }
  | { do: 'beginEffect'; step: string; effect: string; class: 'idempotent' | 'irreversible' }
  | { do: 'perform'; effect: string }
  | { do: 'endEffect'; step: string; effect: string }
  | { do: 'decide'; step: string; decision: string; reason: string }
  /** A decision takes the place of another one, which is over. */
  | { do: 'redecide'; step: string; replaces: string; decision: string; reason: string }
  | { do: 'block'; step: string; text: string }
  | { do: 'changePlan'; drop: string; add: Step }
  | { do: 'complete'; step: string };

export function isToolMove(move: Move): boolean {
  return move.do !== 'work' && move.do !== 'perform';
}

const Word = v.pipe(v.string(), v.minLength(1));
const Item = v.union([
  v.strictObject({ unit: Word, file: Word }),
  v.strictObject({ effect: Word, class: v.picklist(['idempotent', 'irreversible']) }),
]);
const Step = v.strictObject({ key: Word, title: Word, items: v.array(Item) });
const Move = v.variant('do', [
  v.strictObject({ do: v.literal('begin') }),
  v.strictObject({ do: v.literal('start'), step: Word }),
  v.strictObject({ do: v.literal('work'), step: Word, unit: Word, file: Word }),
  v.strictObject({ do: v.literal('checkpoint'), step: Word, unit: Word, file: Word, next: Word }),
  v.strictObject({
    ...{ do: v.literal('beginEffect'), step: Word, effect: Word },
    class: v.picklist(['idempotent', 'irreversible']),
  }),
  v.strictObject({ do: v.literal('perform'), effect: Word }),
  v.strictObject({ do: v.literal('endEffect'), step: Word, effect: Word }),
  v.strictObject({ do: v.literal('decide'), step: Word, decision: Word, reason: Word }),
  v.strictObject({ do: v.literal('redecide'), step: Word, replaces: Word, decision: Word, reason: Word }),
  v.strictObject({ do: v.literal('block'), step: Word, text: Word }),
  v.strictObject({ do: v.literal('changePlan'), drop: Word, add: Step }),
  v.strictObject({ do: v.literal('complete'), step: Word }),
]);
const ScenarioFile = v.strictObject({ name: Word, goal: Word, steps: v.array(Step), moves: v.array(Move) });
const SuiteFile = v.strictObject({
  version: Word,
  scenarios: v.array(Word),
  /** At which parts of a call a tool is killed inside it. */
  inside: v.array(v.pipe(v.number(), v.gtValue(0), v.ltValue(1))),
});

export interface Suite {
  version: string;
  /** Of all its files. */
  sha256: string;
  inside: readonly number[];
  scenarios: readonly Scenario[];
}

/** Reads the suite from its files, which have no code. */
export function readSuite(folder = join(process.cwd(), 'bench', 'suite', 'v1')): Suite {
  const read = (name: string): string => readFileSync(join(folder, `${name}.json`), 'utf8');
  const { scenarios: names, ...suite } = v.parse(SuiteFile, JSON.parse(read('suite')));
  const scenarios = names.map((name): Scenario => v.parse(ScenarioFile, JSON.parse(read(name))));
  return { ...suite, scenarios, sha256: sha256(['suite', ...names].map(read).join('\n')) };
}
