import { type JsonObject, objectOf, textOf } from '../clients/json-value.ts';

/** A line of the protocol: JSON-RPC. What is not an object is passed on and means nothing here. */
export interface Message {
  id: string | number | null;
  method: string | null;
  params: JsonObject;
  result: JsonObject | null;
  error: JsonObject | null;
}

export function messageOf(parsed: unknown): Message | null {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const { id, method, params, result, error } = parsed as JsonObject;
  return {
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    method: textOf(method),
    params: objectOf(params),
    result: result === undefined ? null : objectOf(result),
    error: error === undefined ? null : objectOf(error),
  };
}

export function parseLine(line: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8'));
  } catch {
    return null;
  }
}
