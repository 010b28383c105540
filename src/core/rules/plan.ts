import { defined } from '../defined.ts';
import { Fault, notFound, quoted } from '../fault.ts';
import type { State, Step } from '../fold/state.ts';
import { forkState } from '../fold/state-tables.ts';
import type { CommandOf, PlannedStep } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { isTodo } from '../views/left.ts';
import { hasChildren, planView } from '../views/plan.ts';
import {
  draft,
  finishRun,
  mustBeActive,
  mustBePerson,
  type RuleContext,
  reviveRun,
  stepName,
  stepOf,
} from './rule-context.ts';

export function addSteps(context: RuleContext, { steps }: CommandOf<'plan.add'>): Draft[] {
  mustBeActive(context);
  const { drafts, open } = draftSteps(context.state, steps);
  if (drafts.length === 0) return [];
  const made = [...becomesPlanned(context, steps), ...drafts];
  return open ? [...reviveRun(context, 'The plan grew.'), ...made] : [...made, ...finishRun(context, [])];
}

/** A step that is not an entry of a to-do list is a plan made on purpose. */
function becomesPlanned({ state }: RuleContext, steps: readonly PlannedStep[]): Draft[] {
  const isPlan = state.run?.kind === 'ad-hoc' && steps.some(({ key }) => !isTodo(key));
  return isPlan ? [draft('run.amended', { kind: 'planned' })] : [];
}

/** Drafts that add steps, if they fit the plan: new keys, known parents and predecessors, no cycle. */
export function draftSteps(state: State, steps: readonly PlannedStep[]): { drafts: Draft[]; open: boolean } {
  const known = new Map<string, Links>(state.steps);
  const added: PlannedStep[] = [];
  for (const step of steps) {
    const existing = state.steps.get(step.key);
    if (existing && samePlan(existing, step)) continue;
    if (known.has(step.key)) {
      throw existing
        ? new Fault('illegal', `There is a step ${quoted(step.key)} already.`, {
            hints: [`Change it with \`holdfast plan set ${step.key} …\`, or choose another key.`],
          })
        : new Fault('invalid', `The plan names ${quoted(step.key)} twice.`, {
            hints: ['Every step has a key of its own.'],
          });
    }
    known.set(step.key, step);
    added.push(step);
  }
  for (const step of added) mustFit(known, state, step.key, step);
  if (added.length === 0) return { drafts: [], open: false };
  mustBeAcyclic(known);
  const parents = new Set(added.map((step) => step.parent));
  const leaves = added.filter((step) => !parents.has(step.key));
  const drafts = [
    ...added.map(({ key, done: _, skipped: _s, ...plan }) => draft('step.added', { step: key, ...plan })),
    ...leaves.flatMap(({ key, done, skipped }) => {
      if (done) return [draft('step.completed', { step: key })];
      return skipped ? [draft('step.skipped', { step: key, reason: 'The plan file marks it as skipped.' })] : [];
    }),
  ];
  return { drafts, open: leaves.some((step) => !step.done && !step.skipped) };
}

/** Adding a step that exists with the same plan changes nothing. */
function samePlan(existing: Step, { key: _, done: _d, skipped: _s, before: _b, ...planned }: PlannedStep): boolean {
  return changedFields(existing, planned).length === 0 && existing.parent === (planned.parent ?? null);
}

/** The fields of a patch that differ from the step. */
function changedFields(step: Step, patch: CommandOf<'plan.change'>['patch']): [string, unknown][] {
  return Object.entries(patch).filter(([name, value]) => {
    const current = name === 'gate' ? step.gate !== null : step[name as keyof Step];
    return value !== undefined && JSON.stringify(current) !== JSON.stringify(value);
  });
}

export function changeStep(context: RuleContext, { step: key, patch }: CommandOf<'plan.change'>): Draft[] {
  mustBeActive(context);
  const { step } = stepOf(context, key);
  const changed = changedFields(step, patch);
  if (changed.length === 0) return [];
  const known = new Map<string, Links>(context.state.steps);
  const next: Links = { ...step, ...defined(patch) };
  known.set(step.key, next);
  mustFit(known, context.state, step.key, next);
  mustBeAcyclic(known);
  // Removing a closed gate opens it.
  if (patch.gate === false && step.gate?.state === 'closed')
    mustBePerson(context, 'remove a closed gate', `holdfast gate ${step.key} open`);
  return [draft('step.changed', { step: step.key, ...Object.fromEntries(changed) })];
}

export function removeStep(context: RuleContext, { step: key }: CommandOf<'plan.remove'>): Draft[] {
  mustBeActive(context);
  const { step, status, children } = stepOf(context, key);
  if (children.length > 0) {
    throw new Fault(
      'illegal',
      `${stepName(step)} has children: ${children.map((child) => quoted(child.key)).join(', ')}.`,
      {
        hints: ['Remove or move those first.'],
      },
    );
  }
  if (status !== 'pending') {
    throw new Fault(
      'illegal',
      `${stepName(step)} is ${status.replace('_', ' ')}: only a pending step leaves the plan.`,
      {
        hints: [
          `What was done stays in the journal. A person can skip a step with \`holdfast skip ${step.key} "why"\`.`,
        ],
      },
    );
  }
  const waiting = [...context.state.steps.values()].filter((other) => other.after.includes(step.key));
  if (waiting.length > 0) {
    throw new Fault(
      'illegal',
      `${stepName(step)} is needed by ${waiting.map((other) => quoted(other.key)).join(', ')}.`,
      {
        hints: waiting
          .slice(0, 3)
          .map((other) => `Change what it comes after: \`holdfast plan set ${other.key} --after …\`.`),
      },
    );
  }
  const left = forkState(context.state);
  left.steps.delete(step.key);
  return [
    draft('step.removed', { step: step.key }),
    ...(left.steps.size > 0 ? finishRun({ ...context, plan: planView(left) }) : []),
  ];
}

/** Refuses a step whose parent or predecessors do not exist. */
function mustFit(known: LinksByKey, state: State, key: string, plan: Links): void {
  for (const other of [...(plan.parent ? [plan.parent] : []), ...(plan.after ?? [])]) {
    if (!known.has(other))
      throw notFound('step', other, known.keys(), `${quoted(key)} names it. See the plan with \`holdfast plan show\`.`);
  }
  const parent = plan.parent ? state.steps.get(plan.parent) : undefined;
  if (parent && parent.status !== 'pending' && !hasChildren(state, parent.key)) {
    throw new Fault(
      'illegal',
      `${stepName(parent)} is ${parent.status.replace('_', ' ')} itself and cannot become a parent.`,
      {
        hints: ['A step with children is derived from them. Give the new step no parent, or another one.'],
      },
    );
  }
}

/** Plans are walked by recursion, and a deeper one is not readable. */
const MAX_DEPTH = 64;

interface Links {
  parent?: string | null | undefined;
  after?: readonly string[] | undefined;
}

type LinksByKey = ReadonlyMap<string, Links>;

/**
 * Refuses a plan with a cycle, which could never be finished. A step can start once its predecessors are done and its
 * parent can start. A leaf is done after it started, a parent once its children are done.
 */
function mustBeAcyclic(known: LinksByKey): void {
  const children = new Map<string, string[]>();
  for (const [key, { parent }] of known) {
    const siblings = parent ? children.get(parent) : undefined;
    if (siblings) siblings.push(key);
    else if (parent) children.set(parent, [key]);
  }
  const waitsFor = (node: string): string[] => {
    const key = node.slice(2);
    if (node.startsWith('D:')) return children.get(key)?.map((child) => `D:${child}`) ?? [`S:${key}`];
    const { parent, after } = known.get(key) ?? {};
    return [...(after ?? []).map((before) => `D:${before}`), ...(parent ? [`S:${parent}`] : [])];
  };
  const finished = new Set<string>();
  for (const root of known.keys()) {
    const path: { node: string; rest: string[] }[] = [{ node: `D:${root}`, rest: waitsFor(`D:${root}`) }];
    const onPath = new Set([`D:${root}`]);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.rest.pop();
      if (next === undefined) {
        finished.add(top.node);
        onPath.delete(top.node);
        path.pop();
      } else if (onPath.has(next)) {
        const keys = path.slice(path.findIndex((entry) => entry.node === next)).map((entry) => entry.node.slice(2));
        const cycle = keys.filter((key, index) => key !== keys[index - 1]);
        throw new Fault('invalid', `Circular dependency: ${[...cycle, cycle[0] ?? ''].map(quoted).join(' → ')}.`, {
          hints: ['Remove one of these from `--after` or `--parent`.'],
          data: { cycle },
        });
      } else if (!finished.has(next)) {
        onPath.add(next);
        path.push({ node: next, rest: waitsFor(next) });
      }
    }
  }
  for (const key of known.keys()) mustBeShallow(known, key);
}

function mustBeShallow(known: LinksByKey, key: string): void {
  let depth = 0;
  for (let parent = known.get(key)?.parent; parent; parent = known.get(parent)?.parent) {
    depth += 1;
    if (depth < MAX_DEPTH) continue;
    throw new Fault('invalid', `${quoted(key)} would lie more than ${MAX_DEPTH} levels deep.`, {
      hints: ['Give it a parent further up, or none.'],
      data: { step: key, levels: MAX_DEPTH },
    });
  }
}
