import type { Command } from '../core/journal/command.ts';
import { redactRecord } from '../core/redact/redact.ts';
import type { Context } from './context.ts';

/**
 * A command without the secrets in its text that are beyond doubt: tokens, private keys, passwords in addresses. A
 * warning names what was left out and how to keep it.
 */
export function withholdSecrets(context: Context, command: Command): Command {
  if (context.isVerbatim) return command;
  const kinds = new Set<string>();
  const clean = <T>(value: T): T => {
    if (typeof value === 'string') {
      if (value.length < SHORTEST_CHARS) return value;
      const redacted = redactRecord(value);
      for (const kind of redacted.kinds) kinds.add(kind);
      return redacted.text as T;
    }
    if (Array.isArray(value)) return value.map(clean) as T;
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, clean(part)])) as T;
  };
  // Its type is ours, and long enough to look like a token.
  const cleaned = { ...clean({ ...command, type: '' }), type: command.type } as Command;
  if (kinds.size === 0) return command;
  context.warn(
    `What looks like a secret was left out (${[...kinds].join(', ')}); the text says [redacted: …] instead. If it is none, record it again with \`--verbatim\`.`,
  );
  return cleaned;
}

/** `a://:b@c`, the shortest text with a secret in it. */
const SHORTEST_CHARS = 8;

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
