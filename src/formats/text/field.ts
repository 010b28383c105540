import { flat } from './lines.ts';
import type { Page, PageEditor } from './page.ts';
import { splitRow } from './table.ts';

/** A named value on a line: `Phase: 3`, `**Status:** x`, `- **Plan:** y`, `| Status | z |`. */
export interface Field<Name extends string = string> {
  name: Name;
  value: string;
  line: number;
  /** The columns of the value. */
  from: number;
  to: number;
}

/** All fields between two lines whose label, in lower case, has a name; the first of a name counts. */
export function fieldsIn<Name extends string>(
  page: Page,
  from: number,
  to: number,
  nameOf: (label: string) => Name | undefined,
): Map<Name, Field<Name>> {
  const found = new Map<Name, Field<Name>>();
  for (let line = from; line < to; line++) {
    if (page.isQuiet(line)) continue;
    const text = page.line(line);
    const field = text.startsWith('|') ? rowField(text, line, nameOf) : lineField(text, line, nameOf);
    if (field && !found.has(field.name)) found.set(field.name, field);
  }
  return found;
}

/** Sets a field and leaves the rest of its line. */
export function setField(edit: PageEditor, page: Page, { line, from, to }: Field, value: string): void {
  const text = page.line(line);
  const gap = from > 0 && !/[\s|]/.test(text[from - 1] as string) ? ' ' : '';
  edit.set(line, text.slice(0, from) + gap + flat(value) + text.slice(to));
}

function lineField<Name extends string>(
  text: string,
  line: number,
  nameOf: (label: string) => Name | undefined,
): Field<Name> | null {
  // Labels are short; a line may be a megabyte.
  const parts =
    /^\s*(?:[-*+]\s+)?(?:\*\*|__|\*|_)?([\p{L}][\p{L}\p{N} /_-]{0,48}?)(?:\*\*|__)?\s*[:：]\s*(?:\*\*|__)?[ \t]*/u.exec(
      text.slice(0, 120),
    );
  const name = parts && nameOf((parts[1] as string).trim().toLowerCase());
  if (!parts || !name) return null;
  const from = parts[0].length;
  const value = text.slice(from).trimEnd();
  return { name, value: value.replace(/^`(.*)`$/, '$1'), line, from, to: from + value.length };
}

function rowField<Name extends string>(
  text: string,
  line: number,
  nameOf: (label: string) => Name | undefined,
): Field<Name> | null {
  const cells = splitRow(text, true);
  const [label = '', value = ''] = cells;
  const name =
    cells.length === 2
      ? nameOf(
          label
            .replace(/[*_`:]/g, '')
            .trim()
            .toLowerCase(),
        )
      : undefined;
  if (!name || /^[-:\s]*$/.test(value)) return null;
  const from = text.indexOf(value, text.indexOf('|', 1) + 1);
  return { name, value, line, from, to: from + value.length };
}
