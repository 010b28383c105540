import type { ModelStep } from '../../core/model/run-model.ts';
import type { Editor } from '../text/editor.ts';
import { at, itemsOf, type ListNode } from '../text/node.ts';
import { impliedStatus, keyFields, keyIn, keyOfName, type StepOrigin } from './step-entries.ts';

/** Writes entries of a step list. */
export interface ListWriter {
  /** A name stays a name as long as that says everything; else it becomes an object in place. */
  rewrite(origin: StepOrigin, before: ModelStep, step: ModelStep, index: number): void;
  /** An entry identified by its name needs a key before the name changes. */
  rename(origin: StepOrigin): void;
  append(step: ModelStep): void;
}

export function listWriter(
  editor: Editor,
  list: ListNode,
  current: number,
  fieldsOf: (step: ModelStep) => Record<string, unknown>,
): ListWriter {
  const entries = itemsOf(list);
  const sample = entries.findLast((node) => node.type === 'map');
  const keyField = keyFields.find((field) => at(sample, field));
  const asObject = (step: ModelStep, field: string | undefined): Record<string, unknown> => {
    const fields = fieldsOf(step);
    const needed = field === undefined && keyOfName(step.title) !== step.key;
    return field === undefined && !needed ? fields : { [field ?? 'key']: step.alias ?? step.key, ...fields };
  };
  return {
    rewrite(origin, before, step, index) {
      const isMarked = origin.isMarked === true;
      const said = isMarked ? before.status : impliedStatus(index, current);
      if (step.status === said && step.title === before.title && !saysMore(step)) return;
      editor.put(origin.node, asObject(step, keyField));
    },
    rename: ({ node, fields, key }) => {
      if (keyIn(fields) === undefined && node.type === 'map') editor.set(node, 'key', key, 'first');
    },
    append(step) {
      const named = entries.length > 0 && !sample && step.status === 'pending' && !saysMore(step);
      editor.append(list, [named && keyOfName(step.title) === step.key ? step.title : asObject(step, keyField)]);
    },
  };
}

const saysMore = ({ checkpoint, startedAt, endedAt, agents, artifacts }: ModelStep): boolean =>
  checkpoint !== undefined ||
  startedAt !== undefined ||
  endedAt !== undefined ||
  (agents?.length ?? 0) > 0 ||
  (artifacts?.length ?? 0) > 0;
