export interface CallOptions {
  /** The call is recorded once per key, however often it is made: the same input gives the first result, another one is refused. */
  key?: string;
  /** Aborted before the events are sent, the call is refused with `cancelled` and nothing is recorded; later it finishes. */
  signal?: AbortSignal;
}
