/** Caches the last result: a file is read, compared and edited, each time from the same text. */
export function rememberLast<Args extends readonly unknown[], Result>(
  compute: (...args: Args) => Result,
): (...args: Args) => Result {
  let last: { args: Args; result: Result } | null = null;
  return (...args) => {
    if (!last?.args.every((arg, index) => Object.is(arg, args[index]))) last = { args, result: compute(...args) };
    return last.result;
  };
}

/** Caches the results of the last texts: a command reads, compares and edits each file, and writes few. */
export function rememberTexts<Result>(compute: (text: string) => Result): Remembering<Result> {
  const known = new Map<string, Result>();
  let chars = 0;
  const remembering = (text: string): Result => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const result = compute(text);
    remembering.computed += 1;
    known.set(text, result);
    chars += text.length;
    for (const [oldest] of known) {
      if (known.size <= MOST_TEXTS && chars <= MOST_CHARS) break;
      known.delete(oldest);
      chars -= oldest.length;
    }
    return result;
  };
  remembering.computed = 0;
  return remembering;
}

export interface Remembering<Result> {
  (text: string): Result;
  /** How many texts were really read. */
  computed: number;
}

const MOST_TEXTS = 32;
const MOST_CHARS = 8_000_000;
