import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What really happened, independent of the tool: the files of the work, and which agent did what. The resuming agent does
 * not read it, except for an effect whose outcome is unknown to the tool: a deployment can be checked.
 */
export interface World {
  work(agent: string, step: string, unit: string, file: string): void;
  perform(agent: string, effect: string): void;
  isPerformed(effect: string): boolean;
  editOutside(file: string): void;
  acknowledge(move: number): void;
  works(): { agent: string; step: string; unit: string }[];
  performed(): { agent: string; effect: string }[];
  /** How many moves were made and acknowledged. */
  acknowledged(): number;
}

export function openWorld(folder: string): World {
  const truth = `${folder}-truth`;
  mkdirSync(truth, { recursive: true });
  mkdirSync(folder, { recursive: true });
  const add = (name: string, words: readonly string[]): void =>
    appendFileSync(join(truth, name), `${words.join(' ')}\n`);
  const lines = (name: string): string[][] => {
    const file = join(truth, name);
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' '));
  };
  const performed = () => lines('effects').map(([agent = '', effect = '']) => ({ agent, effect }));
  return {
    work(agent, step, unit, file) {
      add('work', [agent, step, unit]);
      appendFileSync(join(folder, file), `${unit} of ${step}\n`);
    },
    perform: (agent, effect) => add('effects', [agent, effect]),
    isPerformed: (name) => performed().some(({ effect }) => effect === name),
    editOutside: (file) => appendFileSync(join(folder, file), 'changed by someone else\n'),
    acknowledge: (move) => add('acknowledged', [String(move)]),
    works: () => lines('work').map(([agent = '', step = '', unit = '']) => ({ agent, step, unit })),
    performed,
    acknowledged: () => lines('acknowledged').length,
  };
}
