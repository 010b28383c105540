import { isObject } from '../is-object.ts';
import { at, itemsOf, type ListNode, type Node, pairsOf, plain } from '../text/node.ts';
import { asLabel, asStepKey } from '../text/values.ts';
import { stepKey, stepNumber, stepStatus, WORKFLOW, workflowStep } from './steps.ts';

/** Where a step of the run model is in the file, in the order of the run model's steps. */
export interface StepOrigin {
  key: string;
  /** The key as written, or derived from the position in a list. */
  written: string;
  /** An object; in a list also a string, which is only the step's name. */
  node: Node;
  fields: Readonly<Record<string, unknown>>;
  /** A list entry with a workflow number but another name is a custom step. */
  isOwn?: boolean;
  /** Whether a list entry has its own status. */
  isMarked?: boolean;
}

/** Steps are a map by key; some models write a list of objects or of names instead. */
export function stepEntries(root: Node): StepOrigin[] {
  const steps = at(root, 'steps');
  return steps?.type === 'list' ? listed(root, steps) : mapped(steps);
}

/** Of a step with both spellings the newer one counts. */
function mapped(steps: Node | null): StepOrigin[] {
  const found = new Map<string, StepOrigin>();
  for (const { key: written, value: node } of pairsOf(steps)) {
    const key = asStepKey(stepKey(written));
    if (node.type !== 'map' || (found.has(key) && written !== key)) continue;
    found.set(key, { key, written, node, fields: plain(node) as Record<string, unknown> });
  }
  return [...found.values()]
    .map((origin, index) => ({ origin, index }))
    .sort((one, other) => compare(one.origin.key, other.origin.key) || one.index - other.index)
    .map(({ origin }) => origin);
}

function compare(one: string, other: string): number {
  const [first, second] = [stepNumber(one), stepNumber(other)];
  return first === second ? 0 : first - second;
}

/** A list keeps its order, and no entry hides another: a duplicate key gets a numeric suffix. */
function listed(root: Node, steps: ListNode): StepOrigin[] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  const found: StepOrigin[] = [];
  for (const [index, node] of itemsOf(steps).entries()) {
    const value = plain(node);
    const fields = isObject(value) ? value : typeof value === 'string' ? spoken(value) : null;
    if (fields === null) continue;
    const written = writtenKey(fields, index);
    const wanted = asStepKey(stepKey(written));
    let key = wanted;
    for (let count = counts.get(wanted) ?? 1; taken.has(key); counts.set(wanted, count))
      key = `${wanted.slice(0, 54)}-${++count}`;
    taken.add(key);
    const name = asLabel(fields['name'] ?? fields['title'])?.toLowerCase();
    const known = workflowStep(key)?.name.toLowerCase();
    const isOwn = known !== undefined && name !== undefined && name !== known;
    found.push({ key, written, node, fields, isOwn, isMarked: fields['status'] !== undefined });
  }
  const current = indexOfCurrent(plain(at(root, 'current_step')), found);
  return found.map((origin, index) =>
    origin.node.type === 'scalar' && !origin.isMarked
      ? { ...origin, fields: { ...origin.fields, status: impliedStatus(index, current) } }
      : origin,
  );
}

/** The fields of a list entry that can hold its key. */
export const keyFields = ['key', 'id', 'step', 'number', 'step_number', 'step_id'] as const;

/**
 * The key comes from a key field, from the name if it is one of the workflow's, else from the name itself. It never
 * comes from the position alone: the third custom step is not the workflow's third and does not have its gate.
 */
function writtenKey(fields: Readonly<Record<string, unknown>>, index: number): string {
  const name = asLabel(fields['name'] ?? fields['title']);
  return keyIn(fields) ?? (name === undefined ? `unnamed-${index + 1}` : (workflowKey(name) ?? name.toLowerCase()));
}

/** The key given in a list entry. */
export function keyIn(fields: Readonly<Record<string, unknown>>): string | undefined {
  const said = keyFields.map((field) => asLabel(fields[field])).find((label) => label !== undefined);
  return said === undefined ? undefined : (workflowKey(said) ?? said);
}

/** The key of a list entry that has only a name. */
export const keyOfName = (name: string): string => asStepKey(stepKey(writtenKey({ name }, 0)));

const workflowKey = (name: string): string | undefined =>
  WORKFLOW.find((step) => step.name.toLowerCase() === name.toLowerCase())?.key;

/** `Requirements`, `2. Architecture`, `[x] Design`, `Deploy (complete)`, `Deploy: in progress`. */
function spoken(words: string): Record<string, unknown> | null {
  const text = words.slice(0, 2000).trim();
  if (text === '') return null;
  const box = /^(?:[-*]\s+)?\[([ xX])\]\s*/.exec(text);
  const unboxed = text.slice(box?.[0].length ?? 0);
  const [, number] = /^(?:step\s+)?(\d{1,3}(?:[._]\d{1,2})?)\s*[.):–—-]\s+(?=\S)/i.exec(unboxed) ?? [];
  const rest =
    number === undefined ? unboxed : unboxed.replace(/^(?:step\s+)?\d{1,3}(?:[._]\d{1,2})?\s*[.):–—-]\s+/i, '');
  const said = /^(.+?)\s*(?:\(([^()]{1,30})\)|\s[-–—]\s([^-–—]{1,30})|:\s+([^:]{1,30}))$/.exec(rest);
  const word = said?.[2] ?? said?.[3] ?? said?.[4];
  const isStatus = word !== undefined && stepStatus(word) !== null;
  return {
    name: isStatus ? said?.[1] : rest,
    ...(number === undefined ? {} : { step: number }),
    ...(isStatus ? { status: word } : box ? { status: box[1] === ' ' ? 'pending' : 'complete' } : {}),
  };
}

/** In a list of names only `current_step` says what is done: everything before it. */
export const impliedStatus = (index: number, current: number): 'completed' | 'pending' =>
  index < current ? 'completed' : 'pending';

/** The index that `current_step` means in a list: by numeric keys if there are any, else by position. */
export function indexOfCurrent(current: unknown, steps: readonly { key: string }[]): number {
  const number = typeof current === 'string' ? Number.parseFloat(current) : current;
  if (typeof number !== 'number' || !Number.isFinite(number)) return 0;
  if (!hasNumbers(steps)) return number - 1;
  const at = steps.findIndex(({ key }) => stepNumber(key) >= number);
  return at < 0 ? steps.length : at;
}

export const hasNumbers = (steps: readonly { key: string }[]): boolean =>
  steps.some(({ key }) => Number.isFinite(stepNumber(key)));
