import * as v from 'valibot';
import { Count } from '../model/run-model.ts';
import { Label } from '../text.ts';

/** Bytes that an event names by their hash. They are kept beside the journal, so that they can go while the event stays. */
export interface StoredValue {
  /** Of the bytes as they were given, not as they are stored. */
  sha256: string;
  encoding: 'plain' | 'deflate';
  /** The number of bytes as they were given. */
  size: number;
  data: Uint8Array;
}

/** A hash or nonce that an erasure takes away, so that the remaining body cannot be used to guess short content. */
export const Erasable = v.pipe(
  v.string(),
  v.maxLength(200, 'must be at most 200 characters'),
  v.metadata({ text: true }),
);

/** One key of a program's state and what it was set to; the bytes are beside the journal. */
export const ValueEntry = v.object({
  key: Label,
  sha256: Erasable,
  /** The size of the content in bytes. */
  bytes: Count,
  type: v.picklist(['json', 'bytes']),
  /** Random, so that the hash of the body says nothing about the content. */
  nonce: Erasable,
  /** The value that it replaces is kept. */
  keep: v.optional(v.picklist(['all'])),
});
export type ValueEntry = v.InferOutput<typeof ValueEntry>;
