import type { EventOf } from '../journal/event.ts';
import { keptId, valueId } from '../names.ts';
import { ERASED } from '../text.ts';
import type { State, Value } from './state.ts';
import type { AddTouch, Recall } from './touch.ts';

/** Values are rows only: no rule needs them but those about the same key. */
export function applyValue(
  state: State,
  event: EventOf<'value.put' | 'value.removed'>,
  touch: AddTouch,
  recall: Recall,
): void {
  if (event.type === 'value.put') {
    const { reached } = event.body;
    if (reached !== undefined && state.run) state.run = { ...state.run, reached: { name: reached, at: event.at } };
    return putValues(event, touch, recall);
  }
  const { keys, kept = [] } = event.body;
  const ids = [...keys.map(valueId), ...kept.map(({ key, version }) => keptId(key, version))];
  for (const id of ids) {
    const before = recall('value', id);
    if (before) touch('value', id, before, null);
  }
}

function putValues({ body, version, at, actor, session }: EventOf<'value.put'>, touch: AddTouch, recall: Recall): void {
  for (const { nonce: _nonce, keep, ...entry } of body.entries) {
    const id = valueId(entry.key);
    const before = recall('value', id);
    if (keep === 'all' && (before?.status === 'current' || before?.status === 'erased')) {
      const kept = keptId(entry.key, before.version);
      touch('value', kept, null, { ...before, id: kept, status: before.status === 'erased' ? 'erased' : 'kept' });
    }
    const status: Value['status'] = entry.sha256 === ERASED ? 'erased' : 'current';
    touch('value', id, before, { id, ...entry, status, version, at, by: actor.name, session });
  }
}

/** Whether the bytes of a value should be in the store. */
export const hasBytes = (value: Value | null): value is Value =>
  value !== null && (value.status === 'current' || value.status === 'kept');
