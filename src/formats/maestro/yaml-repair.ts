/**
 * Makes damaged session files readable. Every repair keeps the length of the text, so that offsets stay those of the
 * file and an edit touches only its own bytes. The damage stays in the file.
 */
export interface Repair {
  text: string;
  found: { code: string; level: 'error' | 'warning'; offset: number; message: string }[];
}

/** Conflict markers: the first side is read, the second is blanked. */
export function maskConflicts(text: string): Repair {
  if (!/^(?:<{7}|>{7})(?: |\r?$)/m.test(text)) return { text, found: [] };
  const found: Repair['found'] = [];
  let side: 'none' | 'ours' | 'theirs' = 'none';
  const masked = eachLine(text, (line, offset) => {
    if (/^<{7}(?: |\r?$)/.test(line)) {
      found.push({
        code: 'conflict_markers',
        level: 'error',
        offset,
        message: 'Unresolved merge conflict; the first side is read and nothing is written.',
      });
      side = 'ours';
      return blank(line);
    }
    if (side === 'ours' && /^={7}\r?$/.test(line)) {
      side = 'theirs';
      return blank(line);
    }
    if (/^>{7}(?: |\r?$)/.test(line)) {
      if (side === 'none')
        found.push({ code: 'conflict_markers', level: 'error', offset, message: 'The end of an unresolved merge.' });
      side = 'none';
      return blank(line);
    }
    return side === 'theirs' ? blank(line) : line;
  });
  return { text: masked, found };
}

/** A model that rewrote the file wrote `...` for unchanged parts. In YAML that ends the document. */
export function maskElisions(front: string): Repair {
  const found: Repair['found'] = [];
  if (!front.includes('...')) return { text: front, found };
  const text = eachLine(front, (line, offset) => {
    if (!/^\s*\.\.\.\s*$/.test(line)) return line;
    found.push({
      code: 'elided',
      level: 'error',
      offset,
      message: 'Lines were elided with "..." here; their content is not in the file.',
    });
    return line.replace('.', '#');
  });
  return { text, found };
}

/** `status: \"pending\"`: quotes escaped once too often. They are read as plain quotes. */
export function maskOverEscapes(front: string): Repair {
  const first = /^[ \t]*(?:- )?(?:[\w"\\]+:[ \t]*)?\[?\\"/m.exec(front);
  if (!first) return { text: front, found: [] };
  const text = eachLine(front, (line) => {
    const pieces = line.split('\\"');
    if (pieces.length % 2 === 0 || pieces.length > 500) return line;
    return pieces.map((piece, at) => (at === 0 ? piece : `${at % 2 === 1 ? ' "' : '" '}${piece}`)).join('');
  });
  return {
    text,
    found: [
      {
        code: 'over_escaped',
        level: 'warning',
        offset: first.index,
        message: 'Quotes are escaped once too often in this file; they are read as quotes.',
      },
    ],
  };
}

/**
 * A line that is not valid YAML, most often an unquoted sentence with a colon or a quote. The characters that break it
 * are replaced by private-use characters, which `unshield` restores.
 */
export function shieldLine(line: string): string {
  const parts = /^(\s*(?:- +)?(?:[A-Za-z_][\w.-]*:[ \t]+)?)(.*?)(\r?)$/.exec(line);
  if (!parts) return line;
  const [, lead = '', value = '', end = ''] = parts;
  return lead + value.replace(/[:#[\]{},&*!|>%@`"'?\\-]/g, shield) + end;
}

/** Blanks a line that cannot be read. */
export function muteLine(line: string): string {
  return /\S/.test(line) ? line.replace(/[^\r]/, '#') : line;
}

export function unshield(text: string): string {
  return text.replace(shielded, (mark) => String.fromCharCode(mark.charCodeAt(0) - SHIELD));
}

/** A text that contains such characters cannot be shielded. */
export const canShield = (text: string): boolean => text.search(shielded) < 0;

const SHIELD = 0xe000;
const shielded = new RegExp(`[${String.fromCharCode(SHIELD)}-${String.fromCharCode(SHIELD + 127)}]`, 'g');
const shield = (character: string): string => String.fromCharCode(SHIELD + character.charCodeAt(0));

const blank = (line: string): string => line.replace(/[^\r]/g, ' ');

function eachLine(text: string, change: (line: string, offset: number) => string): string {
  let offset = 0;
  return text
    .split('\n')
    .map((line) => {
      const changed = change(line, offset);
      offset += line.length + 1;
      return changed;
    })
    .join('\n');
}
