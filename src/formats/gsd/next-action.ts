import { ERASED } from '../../core/text.ts';
import { setField } from '../text/field.ts';
import { flat } from '../text/lines.ts';
import type { Heading, Page, PageEditor } from '../text/page.ts';
import { type Field, readFields } from './words/fields.ts';
import { isNone } from './words/none.ts';

/**
 * The next action of a page, and the one line that a new one may change. People write lists, reasons and reminders into
 * such a section, which stay. So a section of one line is the action; in a longer one only a labelled line (`Next: …`)
 * is, and without one a line is added on top.
 */
export interface NextAction {
  heading: Heading;
  /** The action, or the whole section where no line is the action. */
  text: string;
  /** The other text of the section. */
  rest: string;
  /** Its lines, without surrounding blank ones. */
  from: number;
  to: number;
  /** The line that holds the action. */
  field: Field | null;
}

export function readNextAction(page: Page, heading: Heading, from: number, to: number): NextAction {
  const lines = linesOf(page, from, to);
  const whole = lines.join('\n');
  const field = to - from === 1 ? onlyLine(lines[0] as string, from) : (readFields(page, from, to).get('next') ?? null);
  if (field === null || field.value === '') return { heading, text: whole, rest: '', from, to, field };
  const rest = lines.filter((_, index) => from + index !== field.line);
  return { heading, text: field.value, rest: rest.join('\n').trim(), from, to, field };
}

export const linesOf = (page: Page, from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => page.line(from + at).trimEnd());

/** A bullet, a box and a bold label before the text stay when it changes. */
function onlyLine(text: string, line: number): Field | null {
  if (/^\s*(?:[|<>`~]|$)/.test(text)) return null;
  const lead =
    /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?(?:\*\*[^*:：]{1,48}(?:[:：]\*\*|\*\*[:：])\s*)?/u.exec(text);
  const from = lead?.[0].length ?? 0;
  return { name: 'next', value: text.slice(from), line, from, to: text.length };
}

/** The lines below a label without a value: `**Next steps:**` and a list. */
export function belowLabel(page: Page, field: Field, end: number): string {
  const lines: string[] = [];
  for (let line = field.line + 1; line < end; line++) {
    const text = page.line(line).trimEnd();
    if (text === '' && lines.length === 0) continue;
    if (!/^\s*(?:[-*+]|\d{1,9}[.)])\s|^\s{2,}\S/.test(text)) break;
    lines.push(text);
  }
  return lines.join('\n');
}

/** Sets the next action of a section. */
export function editNextAction(edit: PageEditor, page: Page, { field, from, to }: NextAction, words: string): void {
  const line = flat(words) || 'None.';
  // Erased text must be gone: everything that was read as the action is replaced.
  if (line.includes(ERASED) && (!field || field.value === '')) edit.replace(from, to, [line]);
  else if (field) setField(edit, page, field, line);
  else edit.insert(from, [`Next: ${line}`, '']);
}

export const saysNext = ({ text }: NextAction): boolean => text !== '' && !isNone(text);
