import { getNodeValue, type Node } from 'jsonc-parser';
import type { ModelStep } from '../../core/model/run-model.ts';
import { isObject } from '../is-object.ts';
import { asTime, asWho, defined } from './field-values.ts';
import { member, members } from './state-file.ts';
import { WORKFLOW, workflowStep } from './steps.ts';

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
    const value: unknown = getNodeValue(entry);
    const { status, by, at } = isObject(value)
      ? {
          status: value['status'],
          by: value['approved_by'] ?? value['by'],
          at: value['approved_at'] ?? value['approved'] ?? value['timestamp'],
        }
      : { status: value, by: undefined, at: undefined };
    const open = /^(approved|open|opened|passed|pass|complete|completed|true)$/i.test(String(status));
    gates.set(
      name,
      defined({ state: open ? ('open' as const) : ('closed' as const), by: asWho(by), at: asTime(at) }) as Gate,
    );
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

/** The gates of the file, by our names. */
export function writtenGates(root: Node): Map<string, Node> {
  const found = members(member(root, 'gates'));
  const numbers = found.map(([key]) => /^(?:gate[-_ ]?)?(\d+(?:[._]\d+)?)$/i.exec(key)?.[1]?.replace('_', '.'));
  // The variant numbers its six gates 1 to 6; the definition calls the third one 2.5.
  const inOrder = numbers.includes('6') ? [...new Set(WORKFLOW.flatMap((step) => step.gate ?? []))] : null;
  return new Map(
    found.map(([key, node], index) => {
      const number = numbers[index];
      if (number === undefined) return [key, node];
      return [`gate-${inOrder?.[Number(number) - 1] ?? number}`, node];
    }),
  );
}
