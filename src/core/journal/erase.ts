import { ERASED } from '../text.ts';
import { type EventType, eventBodies } from './event.ts';

/**
 * A body with the words taken out and the structure left: what is words is said by the event's schema. An entry of a list
 * may be a name that rules go by (the step a blocker is on): those that `isName` knows stay.
 */
export function withoutWords(type: EventType, body: unknown, isName: IsName = () => false): unknown {
  // A body that is not of its schema was changed by somebody; what is not known to be structure goes.
  return strip((eventBodies[type] ?? { type: 'unknown' }) as unknown as Schema, body, isName);
}

type IsName = (text: string) => boolean;

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

function strip(schema: Schema, value: unknown, isName: IsName): unknown {
  if (value === null || value === undefined) return value;
  if (schema.wrapped) return strip(schema.wrapped, value, isName);
  if (schema.entries) {
    if (typeof value !== 'object') return null;
    const entries = Object.entries(value as object).map(([name, part]) => {
      const inner = schema.entries?.[name];
      return [name, inner ? strip(inner, part, isName) : null];
    });
    return Object.fromEntries(entries);
  }
  const { item } = schema;
  if (item && !Array.isArray(value)) return null;
  if (item) {
    return (value as unknown[]).map((part) =>
      typeof part === 'string' && isName(part) ? part : strip(item, part, isName),
    );
  }
  if (schema.type === 'unknown') return null;
  if (schema.type === 'record') return {};
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
