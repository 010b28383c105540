import type { Step } from '../../../core/fold/state.ts';
import type { PageStep } from '../../../formats/plan/plan-page.ts';

type Known = Pick<Step, 'key' | 'title' | 'parent'>;

/**
 * The steps of a page under the keys of the plan. A key that someone wrote decides; else the title, else the place among
 * the siblings. What is left is new, and a key that was made for it is a free one.
 */
export function matchSteps(steps: readonly PageStep[], known: ReadonlyMap<string, Known>): PageStep[] {
  const keys = new Map<string, string>();
  const matched = new Set<string>();
  const match = (step: PageStep, to: Known | undefined): boolean => {
    if (!to || keys.has(step.key) || matched.has(to.key)) return false;
    keys.set(step.key, to.key);
    matched.add(to.key);
    return true;
  };
  for (const step of steps) if (!step.isKeyMade) match(step, known.get(step.key));
  const byTitle = new Map<string, Known[]>();
  for (const one of known.values()) byTitle.set(folded(one.title), [...(byTitle.get(folded(one.title)) ?? []), one]);
  // Parents come first, so that a step is looked for below the step its parent is.
  for (const step of steps) {
    const alike = (byTitle.get(folded(step.title)) ?? []).filter(({ key }) => !matched.has(key));
    match(
      step,
      alike.find(({ parent }) => parent === parentOf(step, keys)) ?? (alike.length === 1 ? alike[0] : undefined),
    );
  }
  for (const step of steps) {
    const there = step.isKeyMade ? known.get(step.key) : undefined;
    if (there?.parent === parentOf(step, keys)) match(step, there);
  }
  const taken = new Set([...known.keys(), ...steps.filter((step) => !step.isKeyMade).map(({ key }) => key)]);
  for (const step of steps) {
    if (keys.has(step.key)) continue;
    const key = step.isKeyMade ? freeKey(step.key, parentOf(step, keys), taken) : step.key;
    keys.set(step.key, key);
    taken.add(key);
  }
  const named = (key: string): string => keys.get(key) ?? key;
  return steps.map((step) => ({
    ...step,
    key: named(step.key),
    ...(step.parent ? { parent: named(step.parent) } : {}),
    ...(step.after ? { after: step.after.map(named) } : {}),
  }));
}

const folded = (title: string): string => title.toLowerCase().replace(/\s+/g, ' ').trim();

const parentOf = ({ parent }: PageStep, keys: ReadonlyMap<string, string>): string | null =>
  parent ? (keys.get(parent) ?? parent) : null;

function freeKey(made: string, parent: string | null, taken: ReadonlySet<string>): string {
  const [, letters = 't', digits = '1'] = /^(.*?)(\d+)$/.exec(made) ?? [];
  const stem = parent === null ? letters : `${parent}.`;
  let number = Number(digits);
  while (taken.has(`${stem}${number}`)) number++;
  return `${stem}${number}`;
}
