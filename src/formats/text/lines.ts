/** The text in lines, each with its own line end: joined they are the text, byte for byte. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
    lines.push(text.slice(start, at + 1));
    start = at + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** A line without its line end and, if it is the first, without the byte order mark. */
export function bare(line: string | undefined): string {
  return line === undefined
    ? ''
    : line.slice(line.charCodeAt(0) === 0xfeff ? 1 : 0, line.length - lineEnd(line).length);
}

export const lineEnd = (line: string): string => (line.endsWith('\r\n') ? '\r\n' : line.endsWith('\n') ? '\n' : '');

/** On one line, with single spaces. */
export const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Turns offsets into line numbers, from 1. The text is scanned once, when the first offset is asked for. */
export function lineFinder(text: string): (offset: number) => number {
  let starts: number[] | null = null;
  return (offset) => {
    if (starts === null) {
      starts = [0];
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    }
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}

/** The lines of conflict markers, from 0. A line of equal signs counts only between the other two. */
export function conflictMarkers(lines: readonly string[]): number[] {
  const found: number[] = [];
  let inside = false;
  for (const [at, line] of lines.entries()) {
    const first = line.charCodeAt(0);
    if (first === 0x3c && /^<{7}(\s|$)/.test(line)) inside = true;
    else if (first === 0x3e && /^>{7}(\s|$)/.test(line)) inside = false;
    else if (!(inside && ((first === 0x3d && /^={7}\s*$/.test(line)) || (first === 0x7c && /^\|{7}(\s|$)/.test(line)))))
      continue;
    found.push(at);
  }
  return found;
}

/** The lines that mark an elision: `...`, `# ... rest unchanged ...`, `[truncated]`. */
export function elidedLines(lines: readonly string[]): number[] {
  const found: number[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.length < 200 && /^\s*(?:(?:#|\/\/|<!--|[-*])\s*)?[[(<]?\s*(?:\.{3,}|…|truncated\b)/i.test(line)) {
      const words = bare(line).trim();
      if (/^\W*(?:\.{3,}|…)\W*$/.test(words) || elision.test(words)) found.push(at);
    }
  }
  return found;
}

const elision =
  /\b(?:rest|remain\w*|unchanged|existing|same as|as before|previous|truncated|omitted|elided|snip\w*|more lines)\b/i;
