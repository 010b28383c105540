import { secretKinds } from '../redact/redact.ts';
import { withoutWords } from './erase.ts';
import type { Event } from './event.ts';

/** An event in which the present rules find secrets. */
export interface SecretsFound {
  version: number;
  type: Event['type'];
  kinds: string[];
  /** Those in names, paths and keys, which erasing keeps. */
  left: string[];
}

/** Looks through everything an event says; null if nothing in it has the form of a secret. */
export function findSecrets(event: Event): SecretsFound | null {
  const { version, type, body } = event;
  const kinds = kindsIn(body);
  if (kinds.size === 0) return null;
  return { version, type, kinds: [...kinds], left: [...kindsIn(withoutWords(type, body))] };
}

function kindsIn(body: unknown): Set<string> {
  return new Set([...stringsIn(body)].flatMap((text) => secretKinds(text)));
}

/** Every string in a value, at any depth. */
export function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const part of value) yield* stringsIn(part);
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) yield* stringsIn(part);
}
