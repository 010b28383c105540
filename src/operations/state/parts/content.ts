import { Fault, quoted } from '../../../core/fault.ts';

/** The bytes of a value: a `Uint8Array` as it is, anything else as JSON. */
export function bytesOf(key: string, value: unknown): { type: 'json' | 'bytes'; content: Uint8Array } {
  if (value instanceof Uint8Array) return { type: 'bytes', content: value.slice() };
  mustBeJson(key, value, '', new Set());
  return { type: 'json', content: new TextEncoder().encode(JSON.stringify(value)) };
}

/** Refuses what would come back as something else: a date, a map, a number that JSON writes as null. */
function mustBeJson(key: string, value: unknown, path: string, above: Set<object>): void {
  const refuse = (what: string): never => {
    throw new Fault('invalid', `The value ${quoted(key)} has ${what}${path === '' ? '' : ` at ${quoted(path)}`}.`, {
      hints: ['A value is JSON (null, booleans, finite numbers, strings, arrays, plain objects) or a Uint8Array.'],
      data: { key, path },
    });
  };
  // An array with holes would come back with nulls.
  if (Array.isArray(value) && Object.keys(value).length !== value.length) return refuse('an array with holes or names');
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : refuse(`the number ${value}`);
  if (typeof value !== 'object') return refuse(value === undefined ? 'undefined' : `a ${typeof value}`);
  if (above.has(value)) return refuse('a reference to itself');
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return refuse('an object with a method `toJSON`');
  const isPlain = (prototype: object | null): boolean =>
    prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!Array.isArray(value) && !isPlain(Object.getPrototypeOf(value)))
    return refuse(`an object of the class ${quoted(value.constructor?.name ?? 'unknown')}`);
  above.add(value);
  for (const [name, part] of Object.entries(value)) {
    // As JSON does, a field without a value is left out.
    if (part === undefined && !Array.isArray(value)) continue;
    mustBeJson(key, part, path === '' ? name : `${path}.${name}`, above);
  }
  above.delete(value);
}
