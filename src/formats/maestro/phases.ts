import type { ModelStep } from '../../core/model/run-model.ts';
import { at, type ListNode, type MapNode, type Node, wordsOf } from '../text/node.ts';
import type { BodyLog, PhaseSection } from './body-log.ts';
import { isStepKey, label, toStepKey, words } from './field-values.ts';
import { type Complain, type Phase, readPhase } from './phase.ts';
import { growTree } from './tree.ts';

export interface Placed {
  phase: Phase;
  /** The list that contains it; null when there is none. */
  list: ListNode | null;
  step: ModelStep;
}

/** A careless edit leaves one block behind; hundreds of blocks are not phases. */
const MOST_SPILLS = 100;

/** All phases with their keys, from anywhere in the file. */
export function placePhases(root: MapNode | null, body: BodyLog, text: string, complain: Complain): Placed[] {
  const found: { phase: Phase; list: ListNode | null }[] = [];
  const add = (node: Node, list: ListNode | null) => {
    if (node.type === 'map') found.push({ phase: readPhase(node, complain), list });
    else complain('not_a_phase', 'warning', node.start, 'This entry of "phases" is not a phase.');
  };
  const phases = at(root, 'phases');
  if (phases?.type === 'list') for (const node of phases.items) add(node, phases);
  else if (phases?.type === 'map') for (const pair of phases.pairs) add(pair.value, null);
  else if (root && at(root, 'tier')) found.push({ phase: wholeRun(root, complain), list: null });
  addSpilled(found, body, text, complain);
  if (found.length === 0) {
    const sections = new Map(body.phases.toReversed().map((section) => [section.id, section]));
    for (const section of [...sections.values()].reverse()) found.push({ phase: fromLog(section), list: null });
  }
  return link(found, complain);
}

/** A session of the smallest tier has no phases; it is a single phase itself. */
function wholeRun(root: MapNode, complain: Complain): Phase {
  const phase = readPhase(root, complain);
  const task = wordsOf(at(root, 'task'));
  return { ...phase, id: '1', kept: {}, step: { ...phase.step, ...(task === null ? {} : { title: words(task) }) } };
}

/** Phases below the front matter, left there by a careless edit, count only if the front matter lacks them. */
function addSpilled(
  found: { phase: Phase; list: ListNode | null }[],
  body: BodyLog,
  text: string,
  complain: Complain,
): void {
  const ids = new Set(found.map(({ phase }) => phase.id));
  for (const { start, end } of body.spilled.slice(0, MOST_SPILLS)) {
    const { root } = growTree(text, start, end);
    if (root?.type !== 'list') continue;
    complain('spilled_phases', 'error', start, 'Phases below the front matter; those missing in it are read.');
    for (const node of root.items) {
      if (node.type !== 'map') continue;
      const phase = readPhase(node, complain);
      if (ids.has(phase.id)) continue;
      ids.add(phase.id);
      found.push({ phase, list: root });
    }
  }
}

function fromLog(section: PhaseSection): Phase {
  const node: MapNode = { type: 'map', start: section.start, end: section.start, flow: true, pairs: [] };
  return {
    node,
    id: section.id,
    idStart: section.start,
    blockedBy: [],
    parentId: null,
    status: section.status,
    step: { kind: 'phase', ...(section.name === '' ? {} : { title: section.name }) },
    errors: [],
    findings: [],
    addressed: [],
    kept: {},
  };
}

function link(found: readonly { phase: Phase; list: ListNode | null }[], complain: Complain): Placed[] {
  const taken = new Map<string, number>();
  const keys = new Map<string, string>();
  const placed = found.map(({ phase, list }, index): Placed => {
    const wanted = phase.id ?? String(index + 1);
    if (phase.id === null && wordsOf(at(phase.node, 'id')) === null) {
      complain('no_id', 'warning', phase.node.start, 'This phase has no id; its position is used.');
    }
    if (keys.has(wanted)) complain('duplicate_id', 'warning', phase.idStart, `Two phases have the id ${wanted}.`);
    const key = unused(isStepKey(wanted) ? wanted : (toStepKey(wanted) ?? `phase-${index + 1}`), taken);
    if (!keys.has(wanted)) keys.set(wanted, key);
    const alias = key === wanted ? undefined : label(phase.id);
    const title = phase.step.title ?? `Phase ${words(wanted).slice(0, 200)}`;
    const step = { ...phase.step, key, title, status: phase.status ?? 'pending', ...(alias ? { alias } : {}) } as const;
    return { phase, list, step };
  });
  for (const { phase, step } of placed) {
    const parent = phase.parentId === null ? undefined : keys.get(phase.parentId);
    if (parent !== undefined && parent !== step.key) step.parent = parent;
    const after = new Set<string>();
    for (const entry of phase.blockedBy) {
      const { id, start } = entry;
      const key = keys.get(id) ?? keys.get(id.replace(/^phase[-_ ]*/i, ''));
      if (key !== undefined && key !== step.key) {
        entry.key = key;
        after.add(key);
      } else
        complain(
          'dangling_dependency',
          'warning',
          start,
          `Phase ${step.key} is blocked by ${id}, ${key === step.key ? 'which is itself' : 'which does not exist'}.`,
        );
    }
    if (after.size > 0) step.after = [...after];
  }
  untangle(placed, complain);
  return placed;
}

function unused(key: string, taken: Map<string, number>): string {
  const uses = taken.get(key);
  taken.set(key, (uses ?? 0) + 1);
  return uses === undefined ? key : unused(`${key.slice(0, 55)}-${uses + 1}`, taken);
}

/** Breaks circular dependencies by dropping links to later phases. */
function untangle(placed: readonly Placed[], complain: Complain): void {
  cut(
    placed,
    (step) => step.after ?? [],
    (step, left) => {
      step.after = left;
    },
    complain,
    'cyclic_dependency',
    'depend on each other in a circle',
  );
  cut(
    placed,
    (step) => (step.parent ? [step.parent] : []),
    (step, left) => left.length === 0 && delete step.parent,
    complain,
    'cyclic_parents',
    'are parts of each other in a circle',
  );
}

function cut(
  placed: readonly Placed[],
  edges: (step: ModelStep) => readonly string[],
  assign: (step: ModelStep, left: string[]) => void,
  complain: Complain,
  code: string,
  what: string,
): void {
  const waiting = new Map(placed.map(({ step }) => [step.key, edges(step).length]));
  const freed = new Map<string, string[]>();
  for (const { step } of placed) {
    for (const key of edges(step)) {
      const next = freed.get(key);
      if (next) next.push(step.key);
      else freed.set(key, [step.key]);
    }
  }
  const ready = placed.filter(({ step }) => edges(step).length === 0).map(({ step }) => step.key);
  for (let key = ready.pop(); key !== undefined; key = ready.pop()) {
    waiting.delete(key);
    for (const next of freed.get(key) ?? []) {
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  if (waiting.size === 0) return;
  const order = new Map(placed.map(({ step }, index) => [step.key, index]));
  const [first] = waiting.keys();
  const start = placed.find(({ step }) => step.key === first)?.phase.node.start ?? 0;
  complain(
    code,
    'warning',
    start,
    `Phases ${[...waiting.keys()].slice(0, 5).join(', ')} ${what}; links to later ones are dropped.`,
  );
  for (const [index, { step }] of placed.entries()) {
    const all = edges(step);
    if (waiting.has(step.key) && all.length > 0)
      assign(
        step,
        all.filter((key) => (order.get(key) ?? 0) < index),
      );
  }
}
