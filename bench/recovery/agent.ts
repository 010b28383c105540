import type { Adapter, Answer, ReportedState } from './adapter.ts';
import type { Scenario, Step } from './scenario.ts';
import type { World } from './world.ts';

/**
 * An agent without judgement: it knows how each step is done, and of the past only what the tool reports. It does what the
 * tool reports as open, asks again when that is done, and without an answer starts from the first request. Returns the
 * first answer, or null if there was none.
 */
export async function finishNaively(
  { adapter, world, scenario, name }: { adapter: Adapter; world: World; scenario: Scenario; name: string },
  clock: () => number,
): Promise<{ answer: Answer | null; took: number }> {
  const recipes = new Map(recipesOf(scenario).map((step) => [step.key, step]));
  const began = clock();
  const answer = await ask(adapter);
  const took = clock() - began;
  const tried = new Set<string>();
  let state = answer === null ? fromTheBeginning(scenario) : reportedState(answer);
  for (;;) {
    const place = state.open.find(({ step }) => !tried.has(step) && !state.blocked.includes(step));
    if (place === undefined) break;
    tried.add(place.step);
    const step = recipes.get(place.step);
    const isBroken = answer === null;
    if (step) await workThrough({ adapter, world, name, step, reached: place.reached, state, isBroken });
    const next = await ask(adapter);
    if (next !== null && answer !== null) state = reportedState(next);
  }
  return { answer, took };
}

async function ask(adapter: Adapter): Promise<Answer | null> {
  try {
    const answer = await adapter.resume();
    return answer.text.trim() === '' ? null : answer;
  } catch {
    return null;
  }
}

/** What an adapter claims but the tool did not answer does not count. */
export function reportedState({ text, state }: Answer): ReportedState {
  const isIn = (word: string | null): boolean => word === null || text.includes(word);
  return {
    open: state.open
      .filter(({ step }) => isIn(step))
      .map(({ step, reached }) => ({ step, reached: isIn(reached) ? reached : null })),
    effects: state.effects.filter(({ effect }) => isIn(effect)),
    blocked: state.blocked.filter(isIn),
    changed: state.changed.filter(isIn),
  };
}

function fromTheBeginning({ steps }: Scenario): ReportedState {
  return { open: steps.map(({ key }) => ({ step: key, reached: null })), effects: [], blocked: [], changed: [] };
}

export function recipesOf({ steps, moves }: Scenario): Step[] {
  return [...steps, ...moves.flatMap((move) => (move.do === 'changePlan' ? [move.add] : []))];
}

interface Work {
  adapter: Adapter;
  world: World;
  name: string;
  step: Step;
  reached: string | null;
  state: ReportedState;
  isBroken: boolean;
}

async function workThrough({ adapter, world, name, step, reached, state, isBroken }: Work): Promise<void> {
  const record = (call: Promise<unknown>): Promise<boolean> =>
    call.then(
      () => true,
      () => false,
    );
  // The refusal of a step is respected; a tool whose resume failed cannot refuse.
  if (!(await record(adapter.start(step.key))) && !isBroken) return;
  const from = step.items.findIndex((item) => 'unit' in item && item.unit === reached) + 1;
  for (const [index, item] of step.items.slice(from).entries()) {
    if ('unit' in item) {
      world.work(name, step.key, item.unit, item.file);
      const next = `Go on after ${item.unit}, resumed-${index}`;
      await record(adapter.checkpoint({ step: step.key, unit: item.unit, file: item.file, next }));
      continue;
    }
    const known = state.effects.find(({ effect }) => effect === item.effect);
    if (known?.ended) continue;
    const effect = { step: step.key, effect: item.effect, class: item.class };
    const answer = known ? 'look' : await adapter.beginEffect(effect).catch(() => 'go' as const);
    if (answer === 'done') continue;
    if (answer === 'go' || !world.isPerformed(item.effect)) world.perform(name, item.effect);
    await record(adapter.endEffect(effect));
  }
  await record(adapter.complete(step.key));
}
