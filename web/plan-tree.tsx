import { useState } from 'preact/hooks';
import { ActionButton } from './action.tsx';
import { openGate, retryStep } from './actions.ts';
import { AddStep } from './add-step.tsx';
import type { Need } from './needs.tsx';
import { Choices, Empty } from './parts.tsx';
import { runHref } from './route.ts';
import type { StepLine } from './run.ts';
import { mayWrite } from './state.ts';
import { Id, Line } from './words.tsx';

interface Node {
  step: StepLine;
  children: Node[];
  done: number;
  leaves: number;
}

type Which = 'all' | 'open' | 'failed' | 'mine';

interface PlanProps {
  run: string;
  isNow: boolean;
  steps: readonly StepLine[];
  needs: readonly Need[];
}

/** Too short a plan needs no filter. */
const FILTER_FROM = 8;

/** The plan as a tree. Finished parts and those that cannot be reached yet are folded at first. */
export function PlanTree({ run, isNow, steps, needs }: PlanProps) {
  const [opened, setOpened] = useState<Readonly<Record<string, boolean>>>({});
  const [words, setWords] = useState('');
  const [which, setWhich] = useState<Which>('all');
  const [agent, setAgent] = useState('');
  const [adding, setAdding] = useState<string | null>(null);
  const isFiltered = words.trim() !== '' || which !== 'all' || agent !== '';
  const mine = new Set(needs.flatMap(({ step }) => step ?? []));
  const fits = (step: StepLine): boolean => {
    const text = `${step.key} ${step.title}`.toLowerCase();
    const isAgents = agent === '' || step.lastAgent === agent || step.agents.includes(agent);
    return text.includes(words.trim().toLowerCase()) && isAgents && isWhich(step, which, mine);
  };
  const roots = treeOf(steps);
  const shown = isFiltered ? roots.flatMap((root) => kept(root, fits)) : roots;
  const canAdd = isNow && mayWrite.value && !isFiltered;
  const isOpen = (node: Node): boolean => isFiltered || (opened[node.step.key] ?? isLively(node));
  const draw = (node: Node) => {
    const { key } = node.step;
    const open = node.children.length > 0 && isOpen(node);
    const toggle = (): void => setOpened({ ...opened, [key]: !open });
    return (
      <li key={key}>
        <StepRow run={run} isNow={isNow} node={node} open={open} toggle={toggle} />
        {open && (
          <ul>
            {node.children.map(draw)}
            {canAdd && (
              <li>
                <AddStep run={run} parent={key} isOpen={adding === key} open={(is) => setAdding(is ? key : null)} />
              </li>
            )}
          </ul>
        )}
      </li>
    );
  };
  const agents = [...new Set(steps.flatMap((step) => [...step.agents, ...(step.lastAgent ? [step.lastAgent] : [])]))];
  return (
    <>
      {steps.length >= FILTER_FROM && (
        <div class="filters plan-filters">
          <input
            type="search"
            aria-label="Filter the plan"
            placeholder="Filter"
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
          <Choices
            label="Which steps"
            value={which}
            onChange={setWhich}
            options={[
              ['all', 'All'],
              ['open', 'Open'],
              ['failed', 'Failed'],
              ['mine', 'Needs me'],
            ]}
          />
          {agents.length > 1 && (
            <select aria-label="Agent" value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
              <option value="">All agents</option>
              {agents.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          )}
        </div>
      )}
      {roots.length === 0 && (
        <Empty title="No steps yet.">
          Add one below, or import a plan: <code>holdfast plan import FILE</code>
        </Empty>
      )}
      {roots.length > 0 && shown.length === 0 && <Empty title="No step fits the filter." />}
      <ul class="plan">
        {shown.map(draw)}
        {canAdd && (
          <li>
            <AddStep run={run} parent={null} isOpen={adding === ''} open={(is) => setAdding(is ? '' : null)} />
          </li>
        )}
      </ul>
    </>
  );
}

function isWhich(step: StepLine, which: Which, mine: ReadonlySet<string>): boolean {
  switch (which) {
    case 'all':
      return true;
    case 'open':
      return step.label !== 'done' && step.label !== 'skipped';
    case 'failed':
      return step.label === 'failed';
    case 'mine':
      return mine.has(step.key);
    default:
      return which satisfies never;
  }
}

/** The parts of a tree that fit; what is above a fitting step stays. */
function kept(node: Node, fits: (step: StepLine) => boolean): Node[] {
  if (node.children.length === 0) return fits(node.step) ? [node] : [];
  const children = node.children.flatMap((child) => kept(child, fits));
  return children.length > 0 ? [{ ...node, children }] : [];
}

/** Something in it is active, ready, failed or interrupted. */
function isLively(node: Node): boolean {
  if (node.children.length > 0) return node.children.some(isLively);
  const { label } = node.step;
  return label === 'ready' || label === 'in progress' || label === 'interrupted' || label === 'failed';
}

interface RowProps {
  run: string;
  isNow: boolean;
  node: Node;
  open: boolean;
  toggle: () => void;
}

function StepRow({ run, isNow, node, open, toggle }: RowProps) {
  const { step, children, done, leaves } = node;
  const isParent = children.length > 0;
  const isGated = step.gate?.state === 'closed' && step.status === 'pending';
  return (
    <div
      class={`step step-${step.label.replace(' ', '-')}${isParent ? ' step-parent' : ''}`}
      data-row
      data-step={step.key}
    >
      {isParent ? (
        <button
          type="button"
          class="fold"
          aria-expanded={open}
          aria-label={`${open ? 'Fold' : 'Unfold'} ${step.key}`}
          onClick={toggle}
        >
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <path d="M3 1l4 4l-4 4" />
          </svg>
        </button>
      ) : (
        <StepMark label={step.label} />
      )}
      <a class="step-link" data-row-focus href={runHref(run, { step: step.key })}>
        <Id>{step.key}</Id>
        <span class="step-title">
          <Line text={step.title} chars={160} />
        </span>
        <StepRemark step={step} isParent={isParent} />
      </a>
      {isParent ? (
        <span class="step-count dim">
          {done}/{leaves}
        </span>
      ) : (
        <span class={`step-label step-label-${step.label.replace(' ', '-')}`}>{shownLabel(step)}</span>
      )}
      {isGated && isNow && (
        <ActionButton
          quiet
          label="Open the gate"
          about={step.key}
          scope="maintain"
          action={() => openGate(run, step.key, step.title)}
        />
      )}
      {step.status === 'failed' && isNow && (
        <ActionButton quiet label="Retry" about={step.key} action={() => retryStep(run, step.key, step.title)} />
      )}
    </div>
  );
}

/** Done and pending steps are told by their marks. */
const shownLabel = ({ label }: StepLine): string => (label === 'done' || label === 'pending' ? '' : label);

export function StepMark({ label }: { label: StepLine['label'] }) {
  return (
    <svg class={`step-mark mark-${label.replace(' ', '-')}`} viewBox="0 0 16 16" role="img" aria-label={label}>
      <circle cx="8" cy="8" r="6.2" />
      {label === 'done' && <path d="M5 8.3l2.1 2.1L11.2 6" />}
      {label === 'failed' && <path d="M5.5 5.5l5 5M10.5 5.5l-5 5" />}
      {label === 'skipped' && <path d="M5 8h6" />}
      {label === 'in progress' && <circle class="step-core" cx="8" cy="8" r="3" />}
      {label === 'interrupted' && <path d="M6.4 5.4v5.2M9.6 5.4v5.2" />}
    </svg>
  );
}

/** What holds a step up, or who has it. What a parent waits for is said once, beside the parent. */
function StepRemark({ step, isParent }: { step: StepLine; isParent: boolean }) {
  const at = step.checkpoint ? `, at ${step.checkpoint.name}` : '';
  const obstacles = step.obstacles.flatMap((one) => {
    if (one.kind === 'after') return step.after.includes(one.step) ? [`after ${one.step}`] : [];
    if (one.kind === 'gate') return one.step === step.key ? ['gate closed'] : [];
    return one.affects === step.key ? [`blocked by ${one.id}`] : [];
  });
  const words = [
    ...(step.holder ? [`${step.holder.agent}${at}`] : []),
    ...(step.interrupted ? [`left by ${step.lastAgent ?? 'unknown'}${at}`] : []),
    ...(step.retries > 0 && step.status === 'in_progress' ? [`retry ${step.retries}`] : []),
    ...(isParent && step.paused ? ['all that remains is blocked'] : []),
    ...(step.stale ? ['stale: what it built on was reopened'] : []),
    ...obstacles,
    ...(step.status === 'failed' && step.error ? [step.error] : []),
    ...(step.status === 'skipped' && step.reason ? [step.reason] : []),
    ...(step.verified ? [`${step.verified.basis} ${step.verified.result}`] : []),
  ];
  if (words.length === 0) return null;
  return (
    <span class="step-remark dim">
      <Line text={[...new Set(words)].join('; ')} chars={160} />
    </span>
  );
}

function treeOf(steps: readonly StepLine[]): Node[] {
  const nodes = new Map(steps.map((step) => [step.key, { step, children: [], done: 0, leaves: 0 } as Node]));
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = node.step.parent === null ? undefined : nodes.get(node.step.parent);
    if (parent) parent.children.push(node);
    else roots.push(node);
  }
  const count = (node: Node): void => {
    for (const child of node.children) {
      count(child);
      node.done += child.done;
      node.leaves += child.leaves;
    }
    if (node.children.length === 0) {
      node.leaves = 1;
      node.done = node.step.label === 'done' || node.step.label === 'skipped' ? 1 : 0;
    }
  };
  for (const root of roots) count(root);
  return roots;
}
