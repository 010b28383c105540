import type { Answer, Body } from './wire.ts';

export const document = (value: object): Answer => ({ type: 'application/json', text: JSON.stringify(value) });

/** Server-sent events; one that has a type is named by it. */
export function events(stream: readonly Body[], end = ''): Answer {
  const lines = stream.map((one) => `${one['type'] ? `event: ${one['type']}\n` : ''}data: ${JSON.stringify(one)}\n\n`);
  return { type: 'text/event-stream', text: lines.join('') + end };
}

/** The names in a JSON schema of arguments. */
export const fieldsOf = (schema: Body | undefined): string[] => Object.keys(schema?.['properties'] ?? {});

/** The text of a message's content, which is text or a list of parts. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: Body) => (typeof part?.['text'] === 'string' ? part['text'] : '')).join('\n');
}
