import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { toJsonSchema } from '@valibot/to-json-schema';
import type { Operation } from '../operations/operation.ts';

/** The part of a schema that a model needs to write the input; the operation checks it in full. */
export interface Property {
  type?: string;
  description?: string;
  enum?: readonly unknown[];
  items?: Property;
}

export interface InputSchema {
  type: 'object';
  properties: Record<string, Property>;
  required?: string[];
}

/** The input of one operation, without the fields that are not offered. */
export function inputSchemaOf(operation: Operation, omitted: ReadonlySet<string>): InputSchema {
  const { properties = {}, required = [] } = toJsonSchema(operation.input, { errorMode: 'ignore' });
  const offered = Object.entries(properties).filter(([name]) => !omitted.has(name));
  const needed = required.filter((name) => !omitted.has(name));
  return {
    type: 'object',
    properties: Object.fromEntries(
      offered.map(([name, property]) => [
        name,
        pruned({ ...(property as Property), ...(selfExplaining.has(name) ? { description: '' } : {}) }),
      ]),
    ),
    ...(needed.length > 0 ? { required: needed } : {}),
  };
}

/** Fields whose name is enough for a model; the help describes them for people. */
const selfExplaining: ReadonlySet<string> = new Set([
  'alternatives',
  'body',
  'built',
  'context',
  'decision',
  'due',
  'file',
  'id',
  'kind',
  'limit',
  'message',
  'note',
  'notes',
  'open',
  'parent',
  'payload',
  'priority',
  'question',
  'reason',
  'role',
  'severity',
  'step',
  'subject',
  'summary',
  'supersedes',
  'text',
  'title',
  'to',
  'type',
  'workaround',
]);

function pruned({ type, description, enum: options, items }: Property): Property {
  return {
    // Some clients drop an enum without a type.
    ...(type || options ? { type: type ?? 'string' } : {}),
    ...(options ? { enum: options } : {}),
    ...(items ? { items: pruned({ ...items, description: '' }) } : {}),
    ...(description ? { description: description.replace(/\.$/, '') } : {}),
  };
}

/** The inputs of several operations as one, with an `action` field that names the operation and what each takes. */
export function unionSchema(actions: ReadonlyMap<string, InputSchema>): InputSchema {
  const properties: Record<string, Property> = {
    action: {
      enum: [...actions.keys()],
      description: [...actions].map(([name, schema]) => `${name}(${signature(schema)})`).join(', '),
    },
  };
  for (const schema of actions.values()) {
    for (const [name, property] of Object.entries(schema.properties)) {
      const known = properties[name];
      // A field of several operations is described once, by the first.
      properties[name] = known ? { ...known, ...bothOptions(known, property) } : property;
    }
  }
  return { type: 'object', properties, required: ['action'] };
}

function bothOptions(one: Property, other: Property): Pick<Property, 'enum'> {
  if (!one.enum || !other.enum) return {};
  return { enum: [...new Set([...one.enum, ...other.enum])] };
}

function signature({ properties, required = [] }: InputSchema): string {
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return [...required, ...optional.map((name) => `${name}?`)].join(' ');
}

/** Sent to clients as it is, but checked only by the operation: so a refusal is the same at every interface. */
export function unchecked(schema: object): StandardSchemaWithJSON {
  const json = (): Record<string, unknown> => schema as Record<string, unknown>;
  return {
    '~standard': {
      version: 1,
      vendor: 'holdfast',
      validate: (value) => ({ value: value ?? {} }),
      jsonSchema: { input: json, output: json },
    },
  };
}
