/** An object from outside with unknown fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function countOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.round(value) : null;
}

/** A share between 0 and 1, or a percentage, as a percentage. */
export function percentOf(value: unknown): number | null {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return null;
  return Math.min(100, value <= 1 ? value * 100 : value);
}

/** The text in a tool's answer, in any client's form; shortened, since only its ends are searched. */
export function answerText(value: unknown, limitChars = 20_000): string {
  if (typeof value === 'string')
    return value.length > limitChars ? value.slice(0, 2000) + value.slice(-limitChars) : value;
  const { llmContent, textResultForLlm, output, stdout, error, message } = objectOf(value);
  for (const part of [llmContent, textResultForLlm, output, error, message, stdout]) {
    if (typeof part === 'string' && part !== '') return answerText(part, limitChars);
  }
  const [first] = listOf(llmContent ?? objectOf(value)['content'] ?? value);
  return textOf(objectOf(first)['text']) ?? '';
}
