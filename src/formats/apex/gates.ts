import type { ModelStep } from '../../core/model/run-model.ts';
import { at, type Node, pairsOf, plain } from '../text/node.ts';
import { readRows } from '../text/rows.ts';
import { WORKFLOW, workflowStep } from './steps.ts';
import { gateRows } from './table.ts';

export type Gate = NonNullable<ModelStep['gate']>;

/** The name in `gates` of the gate before a step: the gate after step N is the gate of the next step. */
export const gateBefore = (key: string): string => {
  const gate = workflowStep(key)?.gate;
  return gate === undefined ? `step-${key}` : `gate-${gate}`;
};

/**
 * The format stores no gates: a step that has started has passed its gate. One variant has a `gates` object, which also
 * takes approvals that nothing else in the file can express.
 */
export function readGates(root: Node, steps: readonly ModelStep[]): Map<string, Gate> {
  const gates = impliedGates(steps);
  for (const [name, entry] of writtenGates(root)) {
    const said = readRows(gateRows, entry.type === 'map' ? entry : { status: plain(entry) });
    gates.set(name, { state: 'closed', ...said });
  }
  return gates;
}

/** The gates that follow from the steps alone. */
export function impliedGates(steps: readonly Pick<ModelStep, 'key' | 'status'>[]): Map<string, Gate> {
  const gates = new Map<string, Gate>();
  for (const { key, status } of steps) {
    if (workflowStep(key)?.gate === undefined) continue;
    const name = gateBefore(key);
    const begun = status !== 'pending' && status !== 'skipped';
    if (begun || !gates.has(name)) gates.set(name, { state: begun ? 'open' : 'closed' });
  }
  return gates;
}

/** The gates of a run model. Of two steps behind one gate the one with more detail counts. */
export function wantedGates(steps: readonly ModelStep[]): Map<string, Gate> {
  const wanted = new Map<string, Gate>();
  for (const { key, gate } of steps) {
    const other = wanted.get(gateBefore(key));
    const says = (one: Gate): number => (one.state === 'open' ? 2 : 0) + (one.by === undefined ? 0 : 1);
    if (!gate || (other && says(gate) <= says(other))) continue;
    const { name: _, ...said } = gate;
    wanted.set(gateBefore(key), said);
  }
  return wanted;
}

/** The gates of the file, by our names. */
export function writtenGates(root: Node): Map<string, Node> {
  const found = pairsOf(at(root, 'gates'));
  const numbers = found.map(({ key }) => /^(?:gate[-_ ]?)?(\d+(?:[._]\d+)?)$/i.exec(key)?.[1]?.replace('_', '.'));
  // The variant numbers its six gates 1 to 6; the definition calls the third one 2.5.
  const inOrder = numbers.includes('6') ? [...new Set(WORKFLOW.flatMap((step) => step.gate ?? []))] : null;
  return new Map(
    found.map(({ key, value }, index) => {
      const number = numbers[index];
      if (number === undefined) return [key, value];
      return [`gate-${inOrder?.[Number(number) - 1] ?? number}`, value];
    }),
  );
}
