import { Fault, quoted } from '../fault.ts';
import type { Value } from '../fold/state.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { keptId, valueId } from '../names.ts';
import { draft, mustBeActive, type RuleContext } from './rule-context.ts';

export function putValues(context: RuleContext, { entries, reached }: CommandOf<'value.put'>): Draft[] {
  mustBeActive(context);
  const keys = new Set<string>();
  for (const { key, expect } of entries) {
    if (keys.has(key))
      throw new Fault('invalid', `The key ${quoted(key)} is given twice.`, { hints: ['Give each key once.'] });
    keys.add(key);
    if (expect !== undefined) mustBeAt(key, present(context, valueId(key)), expect);
  }
  const put = { entries: entries.map(({ expect: _expect, ...entry }) => entry) };
  return [draft('value.put', reached === undefined ? put : { ...put, reached })];
}

/** Removing what is not there changes nothing. */
export function removeValues(context: RuleContext, { keys, kept = [] }: CommandOf<'value.remove'>): Draft[] {
  mustBeActive(context);
  const there = [...new Set(keys)].filter((key) => present(context, valueId(key)));
  const older = kept.filter(({ key, version }) => present(context, keptId(key, version)));
  if (there.length === 0 && older.length === 0) return [];
  return [draft('value.removed', { keys: there, ...(older.length > 0 ? { kept: older } : {}) })];
}

function present({ recall }: RuleContext, id: string): Value | null {
  const value = recall('value', id);
  return value === null || value.status === 'removed' ? null : value;
}

function mustBeAt(key: string, value: Value | null, expected: number | null): void {
  const version = value?.version ?? null;
  if (version === expected) return;
  const is = version === null ? 'is not set' : `was set by event ${version}`;
  const wanted = expected === null ? 'not to be set' : `to be from event ${expected}`;
  throw new Fault('conflict', `The value ${quoted(key)} ${is} and was expected ${wanted}; nothing was recorded.`, {
    hints: ['Read it again, apply the change to what is there, and put that.'],
    data: { key, version, expected, recorded: 'no' },
  });
}
