import { ERASED } from '../../core/text.ts';
import { bare, type Heading, type LineEdit, type MarkdownPage } from '../markdown.ts';
import { flat } from './clip.ts';
import { type Field, readFields, setField } from './fields.ts';
import { isNone } from './none.ts';

/**
 * What a page says is next, and the one line of it that a new next action may change. People write lists, reasons and
 * reminders into such a section; those are theirs. So a section of one line is that action; in a longer one only a line
 * that is labelled (`Next: …`) is, and where there is none it is put on top.
 */
export interface NextAction {
  heading: Heading;
  /** The action, or all of the section where no line of it is the action. */
  text: string;
  /** What the section says besides. */
  rest: string;
  /** Its lines, without blank ones around them. */
  from: number;
  to: number;
  /** The line that holds the action. */
  field: Field | null;
}

export function readNextAction(page: MarkdownPage, heading: Heading, from: number, to: number): NextAction {
  const lines: string[] = [];
  for (let line = from; line < to; line++) lines.push(bare(page.lines[line]).trimEnd());
  const whole = lines.join('\n');
  const field = to - from === 1 ? onlyLine(lines[0] as string, from) : labelled(page, from, to);
  if (field === null || field.value === '') return { heading, text: whole, rest: '', from, to, field };
  const rest = lines.filter((_, index) => from + index !== field.line);
  return { heading, text: field.value, rest: rest.join('\n').trim(), from, to, field };
}

/** A mark of a list, a box and a bold label in front of the words stay when the words change. */
function onlyLine(text: string, line: number): Field | null {
  if (/^\s*(?:[|<>`~]|$)/.test(text)) return null;
  const lead =
    /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?(?:\*\*[^*:：]{1,48}(?:[:：]\*\*|\*\*[:：])\s*)?/u.exec(text);
  const from = lead?.[0].length ?? 0;
  return { name: 'next', value: text.slice(from), line, from, to: text.length };
}

function labelled(page: MarkdownPage, from: number, to: number): Field | null {
  return readFields(page, from, to).get('next') ?? null;
}

/** The lines below a label that has nothing behind it: `**Next steps:**` and a list. */
export function belowLabel(page: MarkdownPage, field: Field, end: number): string {
  const lines: string[] = [];
  for (let line = field.line + 1; line < end; line++) {
    const text = bare(page.lines[line]).trimEnd();
    if (text === '' && lines.length === 0) continue;
    if (!/^\s*(?:[-*+]|\d{1,9}[.)])\s|^\s{2,}\S/.test(text)) break;
    lines.push(text);
  }
  return lines.join('\n');
}

/** The edits that make words the next action of a section. */
export function editNextAction(page: MarkdownPage, { field, from, to }: NextAction, words: string): LineEdit[] {
  const line = flat(words) || 'None.';
  // Erased words are to be gone: all that was read as them is.
  if (line.includes(ERASED) && (!field || field.value === '')) return [{ from, to, lines: [line] }];
  if (field) return [setField(page, field, line)];
  return [{ from, to: from, lines: [`Next: ${line}`, ''] }];
}

export const saysNext = ({ text }: NextAction): boolean => text !== '' && !isNone(text);
