/** Bytes that an event names by their hash. They are kept beside the journal, so that they can go while the event stays. */
export interface StoredValue {
  /** Of the bytes as they were given, not as they are stored. */
  sha256: string;
  encoding: 'plain' | 'deflate';
  /** The number of bytes as they were given. */
  size: number;
  data: Uint8Array;
}
