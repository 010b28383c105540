import { ERASED } from '../text.ts';
import { type EventType, eventBodies } from './event.ts';

/**
 * Removes the text from a body and keeps its structure; the event's schema says which fields are text. An entry of a list
 * may be a name that rules depend on (the step a blocker affects): entries that `isName` accepts stay.
 */
export function withoutWords(type: EventType, body: unknown, isName: IsName = () => false): unknown {
  // A body that does not fit its schema was tampered with: what is not known to be structure is removed.
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

/** A pipe may start with another pipe: `Sentence` is `Text` with one more check. */
function isWords(schema: Schema): boolean {
  return (
    schema.pipe?.some(
      (part) => part.metadata?.text === true || (part !== schema && part.pipe !== undefined && isWords(part)),
    ) ?? false
  );
}
