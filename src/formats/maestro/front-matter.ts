/** The parts of a session file. Offsets are into the text as given, with byte order mark and line ends. */
export interface SessionText {
  text: string;
  /** The line end for new lines. */
  eol: '\n' | '\r\n';
  /** Between the two `---` lines; null when the file does not begin with one. */
  front: { start: number; end: number; closed: boolean } | null;
  /** Where the log begins. */
  body: number;
  /** The whole file is an example inside a fence. */
  fenced: boolean;
}

/**
 * Only the first closing line counts: the log may contain rules. A file cut before it is read up to the title of the
 * log, which Maestro always writes.
 */
export function splitSession(text: string): SessionText {
  const eol = /\r\n/.test(text.slice(0, 4096)) ? '\r\n' : '\n';
  const opening = /^\ufeff?(?:[ \t]*(?:```[^\n]*)?\r?\n){0,8}---[ \t]*\r?(?:\n|$)/.exec(text);
  if (!opening) return { text, eol, front: null, body: text.startsWith('\ufeff') ? 1 : 0, fenced: false };
  const fenced = opening[0].includes('```');
  const start = opening[0].length;
  const closing = /^---[ \t]*\r?$/m;
  const rest = text.slice(start);
  const close = closing.exec(rest);
  if (close) {
    const lineEnd = rest.indexOf('\n', close.index);
    const body = lineEnd < 0 ? text.length : start + lineEnd + 1;
    return { text, eol, front: { start, end: start + close.index, closed: true }, body, fenced };
  }
  const title = /^#{1,2} .*\r?$/m.exec(rest);
  const end = title ? start + title.index : text.length;
  return { text, eol, front: { start, end, closed: false }, body: end, fenced };
}
