import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { StoredValue } from '../core/journal/value.ts';
import { sha256OfBytes } from '../core/sha256.ts';

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
