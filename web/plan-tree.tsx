import { useState } from 'preact/hooks';
import { ActionButton } from './action.tsx';
import { openGate, retryStep } from './actions.ts';
import { Empty } from './parts.tsx';
import type { StepLine } from './run.ts';
import { Id, Line, plural } from './words.tsx';

interface Node {
  step: StepLine;
  children: Node[];
  done: number;
  leaves: number;
}

/** The plan as a tree. Finished parts are folded at first, and only unfolded parts are drawn. */
export function PlanTree({ run, isNow, steps }: { run: string; isNow: boolean; steps: readonly StepLine[] }) {
  const [opened, setOpened] = useState<Readonly<Record<string, boolean>>>({});
  const roots = treeOf(steps);
  if (roots.length === 0)
    return (
      <Empty title="There is no plan yet.">
        <code>holdfast plan add KEY TITLE</code> or <code>holdfast plan import FILE</code>
      </Empty>
    );
  const isOpen = ({ step, done, leaves }: Node): boolean => opened[step.key] ?? done < leaves;
  const draw = (node: Node) => {
    const open = node.children.length > 0 && isOpen(node);
    return (
      <li key={node.step.key}>
        <StepRow
          run={run}
          isNow={isNow}
          node={node}
          open={open}
          toggle={() => setOpened({ ...opened, [node.step.key]: !open })}
        />
        {open && <ul>{node.children.map(draw)}</ul>}
      </li>
    );
  };
  return <ul class="plan">{roots.map(draw)}</ul>;
}

function StepRow({
  run,
  isNow,
  node,
  open,
  toggle,
}: {
  run: string;
  isNow: boolean;
  node: Node;
  open: boolean;
  toggle: () => void;
}) {
  const { step, children, done, leaves } = node;
  const word = wordOf(step);
  const isGated = step.gate?.state === 'closed' && step.status === 'pending';
  return (
    <div class={`step step-${word}`} data-row tabIndex={-1}>
      {children.length > 0 ? (
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
        <StepMark word={word} />
      )}
      <Id>{step.key}</Id>
      <span class="grow">
        <span class="step-title">
          <Line text={step.title} chars={200} />
        </span>
        <StepRemark step={step} word={word} />
      </span>
      {children.length > 0 && (
        <span class="dim nowrap">
          {done} of {plural(leaves, 'step')}
        </span>
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

function StepMark({ word }: { word: string }) {
  return (
    <svg class="step-mark" viewBox="0 0 16 16" role="img" aria-label={word.replaceAll('_', ' ')}>
      <circle cx="8" cy="8" r="6.2" />
      {word === 'completed' && <path d="M5 8.3l2.1 2.1L11.2 6" />}
      {word === 'failed' && <path d="M5.5 5.5l5 5M10.5 5.5l-5 5" />}
      {word === 'skipped' && <path d="M5 8h6" />}
      {word === 'in_progress' && <circle class="step-core" cx="8" cy="8" r="3" />}
      {word === 'interrupted' && <path d="M6.4 5.4v5.2M9.6 5.4v5.2" />}
      {word === 'blocked' && <path d="M4 8h8" />}
    </svg>
  );
}

function StepRemark({ step, word }: { step: StepLine; word: string }) {
  const at = step.checkpoint ? ` at ${step.checkpoint.name}` : '';
  const words = [
    ...(step.holder ? [`${step.holder.agent}, ${step.holder.session}${at}`] : []),
    ...(word === 'interrupted' ? [`left by ${step.lastAgent}${at}${step.crashes > 0 ? ', crashed' : ''}`] : []),
    ...(step.retries > 0 && step.status === 'in_progress' ? [`retry ${step.retries}`] : []),
    ...(step.paused ? ['all that remains is blocked'] : []),
    ...(step.stale ? ['stale: what it built on was reopened'] : []),
    ...step.obstacles.map((one) =>
      one.kind === 'after' ? `after ${one.step}` : one.kind === 'gate' ? `gate of ${one.step}` : `blocked by ${one.id}`,
    ),
    ...(step.status === 'failed' && step.error ? [`failed: ${step.error}`] : []),
    ...(step.status === 'skipped' && step.reason ? [`skipped: ${step.reason}`] : []),
    ...(step.verified ? [`${step.verified.basis} ${step.verified.result}`] : []),
  ];
  if (words.length === 0) return null;
  return (
    <span class="dim block">
      <Line text={[...new Set(words)].join('; ')} chars={200} />
    </span>
  );
}

function wordOf(step: StepLine): string {
  if (step.interrupted) return 'interrupted';
  return step.status === 'pending' && step.blocked ? 'blocked' : step.status;
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
      node.done = node.step.status === 'completed' || node.step.status === 'skipped' ? 1 : 0;
    }
  };
  for (const root of roots) count(root);
  return roots;
}
