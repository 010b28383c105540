import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Fault, quoted } from '../core/fault.ts';
import type { Value } from '../core/fold/state.ts';
import type { Touch } from '../core/fold/touch.ts';
import { hasBytes } from '../core/fold/value.ts';
import type { Command } from '../core/journal/command.ts';
import type { StoredValue } from '../core/journal/value.ts';
import { sha256OfBytes } from '../core/sha256.ts';
import type { ChangedValues } from '../store/journal.ts';
import type { Store } from '../store/store.ts';

/**
 * The bytes that a command stores, and those that nothing refers to after it. What other rows refer to was read at the
 * version that the append continues, so it is still true when the bytes go.
 */
export async function changedValues(
  store: Store,
  run: string,
  command: Command,
  touches: readonly Touch[],
): Promise<ChangedValues> {
  const put = 'contents' in command ? (command.contents ?? []) : [];
  const rows = touches.flatMap((touch) => (touch.kind === 'value' ? [touch] : []));
  const after = new Map(rows.map((touch) => [touch.id, touch.after]));
  const stays = new Set([...after.values()].filter(hasBytes).map(({ sha256 }) => sha256));
  const leaves = new Set(rows.flatMap(({ before }) => (hasBytes(before) ? [before.sha256] : [])));
  const drop: string[] = [];
  for (const sha256 of leaves) {
    if (!stays.has(sha256) && !(await isNamed(store, run, sha256, after))) drop.push(sha256);
  }
  return { put, drop };
}

/** Whether a row that the command does not change refers to the bytes. */
async function isNamed(store: Store, run: string, sha256: string, changed: ReadonlyMap<string, unknown>) {
  const limit = changed.size + 1;
  const rows = await store.projection.rows(run, { kind: 'value', tag: `sha256:${sha256}`, limit });
  return rows.some(({ id }) => !changed.has(id));
}

/** The rows whose bytes should be in the store, by hash. */
export function namedValues(rows: Iterable<{ kind: string; doc: unknown }>): Map<string, Value> {
  const named = new Map<string, Value>();
  for (const { kind, doc } of rows) {
    const value = kind === 'value' ? (doc as Value) : null;
    if (hasBytes(value)) named.set(value.sha256, value);
  }
  return named;
}

/** Why the bytes of a value cannot be given. */
export function withoutBytes(key: string, why: 'erased' | 'missing'): Fault {
  return why === 'erased'
    ? new Fault('gone', `The value ${quoted(key)} was erased.`, {
        hints: ['Put it again if it is needed.'],
        data: { key },
      })
    : new Fault('gone', `The bytes of the value ${quoted(key)} are not in this journal.`, {
        hints: [
          'It was imported without its values. `holdfast journal import FILE` of an export that has them adds them.',
        ],
        data: { key },
      });
}

/** No value is larger, whatever the limit in use. */
export const MOST_VALUE_BYTES = 64 * 1024 * 1024;

/** Smaller content is not worth the time. */
const LEAST_DEFLATED_BYTES = 4096;
/** Deflated content takes at most this share of the original. */
const WORTH_IT = 0.8;

/** Content as it is stored: deflated where that saves a fifth. */
export function storedValue(content: Uint8Array): StoredValue {
  const plain: StoredValue = { sha256: sha256OfBytes(content), encoding: 'plain', size: content.length, data: content };
  if (content.length < LEAST_DEFLATED_BYTES) return plain;
  const data = deflateRawSync(content);
  return data.length <= content.length * WORTH_IT ? { ...plain, encoding: 'deflate', data } : plain;
}

/** The content of a stored value; null if it is not what its hash says. */
export function contentOf({ sha256, encoding, size, data }: StoredValue): Uint8Array | null {
  if (size > MOST_VALUE_BYTES) return null;
  const content = encoding === 'plain' ? data : inflated(data, size);
  return content !== null && content.length === size && sha256OfBytes(content) === sha256 ? content : null;
}

/** At most as much as the size says: a few kilobytes can hold gigabytes of zeros. */
function inflated(data: Uint8Array, size: number): Uint8Array | null {
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
  } catch {
    return null;
  }
}
