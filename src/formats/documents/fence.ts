export interface Fence {
  mark: string;
  length: number;
  info: string;
}

/** The fence that a line opens, if it opens one. */
export function openingFence(line: string): Fence | null {
  const match = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  if (!match) return null;
  const [, run = '', info = ''] = match;
  if (run.startsWith('`') && info.includes('`')) return null;
  return { mark: run.slice(0, 1), length: run.length, info: info.trim() };
}

/** The line that closes a fence, or one past the last: an unclosed fence extends to the end. */
export function closingFence(lines: readonly string[], from: number, { mark, length }: Fence): number {
  for (let index = from + 1; index < lines.length; index++) {
    const trimmed = (lines[index] ?? '').trim();
    if (trimmed.length >= length && trimmed.startsWith(mark.repeat(length)) && trimmed === mark.repeat(trimmed.length))
      return index;
  }
  return lines.length;
}
