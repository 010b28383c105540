import { estimateTokens } from '../../src/core/tokens.ts';
import type { Answer, ReportedState } from './adapter.ts';
import { recipesOf, reportedState } from './agent.ts';
import type { Move, Scenario } from './scenario.ts';
import type { World } from './world.ts';

/** What went wrong after one kill. Only what was acknowledged before it counts; what was in flight may be either way. */
export interface Score {
  /** The tool answered nothing, or nothing readable. */
  failed: number;
  /** Units that were acknowledged and done again. */
  workTwice: number;
  /** Effects that happened more than once, whatever was acknowledged. */
  effectsRepeated: number;
  /** Units and effects of steps that had been dropped, or that were blocked. */
  staleActions: number;
  /** Planned work that was not done. */
  leftUndone: number;
  factsLost: number;
  conflictsMissed: number;
  /** Facts that the answer has, and those among them that are over: replaced decisions, dropped steps, what came next in finished ones. */
  shown: number;
  shownOver: number;
  /** Statements of the answer that the working tree can prove, and those among them that are not true. */
  claims: number;
  claimsFalse: number;
  /** How many facts and conflicts there were to report. */
  facts: number;
  conflicts: number;
  tokens: number;
  calls: number;
  took: number;
}

export interface Outcome {
  scenario: Scenario;
  world: World;
  answer: Answer | null;
  took: number;
  /** The agent that resumed. */
  resumed: string;
  /** The file that was changed from outside after the kill, if any. */
  edited: string | null;
}

export function scoreOf({ scenario, world, answer, took, resumed, edited }: Outcome): Score {
  const acknowledged = scenario.moves.slice(0, world.acknowledged());
  const { done, dropped, blocked } = truthOf(acknowledged);
  const works = world.works();
  const performed = world.performed();
  const again = works.filter(({ agent, step, unit }) => agent === resumed && done.has(`${step} ${unit}`));
  const names = new Set(performed.map(({ effect }) => effect));
  const { facts, over } = factsOf(scenario, acknowledged);
  const text = answer?.text ?? '';
  const state = answer === null ? NOTHING : reportedState(answer);
  const { changed } = state;
  const isIn = (word: string): boolean => text.includes(word);
  const claims = claimsOf(state, world, resumed, edited);
  return {
    // Before anything was acknowledged, an empty answer is right.
    failed: answer === null && acknowledged.length > 0 ? 1 : 0,
    workTwice: again.length,
    effectsRepeated: performed.length - names.size,
    staleActions: staleActions(scenario, world, resumed, new Set([...dropped, ...blocked])),
    leftUndone: leftUndone(scenario, world, acknowledged, blocked),
    factsLost: facts.filter((word) => !isIn(word)).length,
    shown: facts.filter(isIn).length + over.filter(isIn).length,
    shownOver: over.filter(isIn).length,
    claims: claims.length,
    claimsFalse: claims.filter((isTrue) => !isTrue).length,
    conflictsMissed: edited !== null && !changed.includes(edited) ? 1 : 0,
    facts: facts.length,
    conflicts: edited === null ? 0 : 1,
    tokens: estimateTokens(text),
    calls: answer?.calls ?? 0,
    took,
  };
}

function truthOf(moves: readonly Move[]) {
  const done = new Set<string>();
  const dropped = new Set<string>();
  const blocked = new Set<string>();
  for (const move of moves) {
    if (move.do === 'checkpoint') done.add(`${move.step} ${move.unit}`);
    if (move.do === 'changePlan') dropped.add(move.drop);
    if (move.do === 'block') blocked.add(move.step);
  }
  return { done, dropped, blocked };
}

function staleActions(scenario: Scenario, world: World, resumed: string, stale: ReadonlySet<string>): number {
  const effects = recipesOf(scenario)
    .filter(({ key }) => stale.has(key))
    .flatMap(({ items }) => items.flatMap((item) => ('effect' in item ? [item.effect] : [])));
  return (
    world.works().filter(({ agent, step }) => agent === resumed && stale.has(step)).length +
    world.performed().filter(({ agent, effect }) => agent === resumed && effects.includes(effect)).length
  );
}

/** The acknowledged plan: a step whose addition was killed may be missing. */
function leftUndone(
  scenario: Scenario,
  world: World,
  acknowledged: readonly Move[],
  blocked: ReadonlySet<string>,
): number {
  const changes = acknowledged.flatMap((move) => (move.do === 'changePlan' ? [move] : []));
  const inFlight = scenario.moves[acknowledged.length];
  const unsure = inFlight?.do === 'changePlan' ? inFlight.drop : inFlight?.do === 'block' ? inFlight.step : null;
  const dropped = changes.map(({ drop }) => drop);
  const wanted = [...scenario.steps, ...changes.map(({ add }) => add)].filter(
    ({ key }) => !dropped.includes(key) && !blocked.has(key) && key !== unsure,
  );
  const units = new Set(world.works().map(({ step, unit }) => `${step} ${unit}`));
  const effects = new Set(world.performed().map(({ effect }) => effect));
  return wanted
    .flatMap(({ key, items }) =>
      items.map((item) => ('unit' in item ? units.has(`${key} ${item.unit}`) : effects.has(item.effect))),
    )
    .filter((isDone) => !isDone).length;
}

const NOTHING: ReportedState = { open: [], effects: [], blocked: [], changed: [] };

/** Whether each statement is true of what the first agent did and of the files. */
function claimsOf({ open, effects, changed }: ReportedState, world: World, resumed: string, edited: string | null) {
  const works = world.works().filter(({ agent }) => agent !== resumed);
  const performed = world.performed().filter(({ agent }) => agent !== resumed);
  return [
    ...open.flatMap(({ step, reached }) =>
      reached === null ? [] : [works.some((one) => one.step === step && one.unit === reached)],
    ),
    ...effects.filter(({ ended }) => ended).map(({ effect }) => performed.some((one) => one.effect === effect)),
    ...changed.map((file) => file === edited),
  ];
}

/** The made-up words that the next agent must see (decisions, blockers, the position), and those that are over. */
function factsOf({ goal, moves }: Scenario, acknowledged: readonly Move[]): { facts: string[]; over: string[] } {
  const word = (text: string): string => text.split(' ').at(-1) ?? '';
  let facts: string[] = [];
  const over: string[] = [];
  const reasons = new Map<string, string>();
  let next: { step: string; word: string } | null = null;
  const end = (...words: string[]): void => {
    over.push(...words);
    facts = facts.filter((one) => !words.includes(one));
  };
  for (const move of acknowledged) {
    if (move.do === 'begin') facts.push(word(goal));
    if (move.do === 'redecide') end(word(move.replaces), reasons.get(move.replaces) ?? '');
    if (move.do === 'decide' || move.do === 'redecide') {
      facts.push(word(move.decision), word(move.reason));
      reasons.set(move.decision, word(move.reason));
    }
    if (move.do === 'block') facts.push(word(move.text));
    if (move.do === 'changePlan') over.push(move.drop);
    if (move.do === 'checkpoint') {
      if (next) over.push(next.word);
      next = { step: move.step, word: word(move.next) };
    }
    if (move.do !== 'complete' || next?.step !== move.step) continue;
    over.push(next.word);
    next = null;
  }
  // What the killed call may have replaced is right in both forms.
  const inFlight = moves[acknowledged.length];
  const isReplaced = (inFlight?.do === 'checkpoint' || inFlight?.do === 'complete') && inFlight.step === next?.step;
  if (inFlight?.do === 'redecide') {
    const unsure = [word(inFlight.replaces), reasons.get(inFlight.replaces) ?? ''];
    facts = facts.filter((one) => !unsure.includes(one));
  }
  return { facts: next === null || isReplaced ? facts : [...facts, next.word], over };
}
