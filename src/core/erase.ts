import { type EventType, eventBodies } from './event.ts';
import { ERASED } from './text.ts';

/** A body with the words taken out and the structure left: what is words is said by the event's schema. */
export function withoutWords(type: EventType, body: unknown): unknown {
  // A body that is not of its schema was changed by somebody; what is not known to be structure goes.
  return strip((eventBodies[type] ?? { type: 'unknown' }) as unknown as Schema, body);
}

interface Schema {
  type?: string;
  entries?: Record<string, Schema>;
  item?: Schema;
  wrapped?: Schema;
  pipe?: readonly PipeItem[];
}

interface PipeItem extends Schema {
  metadata?: { text?: boolean };
}

function strip(schema: Schema, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (schema.wrapped) return strip(schema.wrapped, value);
  if (schema.entries) {
    if (typeof value !== 'object') return null;
    const entries = Object.entries(value as object).map(([name, part]) => {
      const inner = schema.entries?.[name];
      return [name, inner ? strip(inner, part) : null];
    });
    return Object.fromEntries(entries);
  }
  if (schema.item && !Array.isArray(value)) return null;
  if (schema.item) return (value as unknown[]).map((part) => strip(schema.item as Schema, part));
  if (schema.type === 'unknown') return null;
  return isWords(schema) ? ERASED : value;
}

/** A pipe may begin with another pipe: `Sentence` is `Text` with one more check. */
function isWords(schema: Schema): boolean {
  return (
    schema.pipe?.some(
      (part) => part.metadata?.text === true || (part !== schema && part.pipe !== undefined && isWords(part)),
    ) ?? false
  );
}
