import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldsIn, setField } from './field.ts';
import { readFrontMatter, setFront } from './front-matter.ts';
import { conflictMarkers, elidedLines } from './lines.ts';
import { readEntries } from './list.ts';
import { editPage, fenceEnd, fenceOpened, type Page, type PageEditor, scanPage } from './page.ts';
import { addRows, cellOf, partIn, renderRow, setCell, setCells, splitRow, tablesIn } from './table.ts';

const edited = (text: string, change: (edit: PageEditor, page: Page) => void): string => {
  const page = scanPage(text);
  const edit = editPage(page);
  change(edit, page);
  return edit.apply();
};

describe('a Markdown page', () => {
  it('finds headings with the range of their sections', () => {
    const page = scanPage('# A\n\n## B ##\nx\n### **C**\ny\n## D\n');
    expect(page.headings).toEqual([
      { level: 1, title: 'A', line: 0, bodyEnd: 2, end: 7 },
      { level: 2, title: 'B', line: 2, bodyEnd: 4, end: 6 },
      { level: 3, title: 'C', line: 4, bodyEnd: 6, end: 6 },
      { level: 2, title: 'D', line: 6, bodyEnd: 7, end: 7 },
    ]);
  });

  it('finds no heading in a fence or a comment', () => {
    const page = scanPage('```md\n# no\n~~~\n```\n<!-- a\n## no\n-->\n<!-- one line -->\n## yes\n`` ` # ``\n');
    expect(page.headings.map(({ title }) => title)).toEqual(['yes']);
    expect(page.lines.map((_, line) => page.isQuiet(line))).toEqual([...Array(8).fill(true), false, false]);
    expect(page.lines.map((_, line) => page.isComment(line)).lastIndexOf(true)).toBe(7);
    expect(page.isComment(3)).toBe(false);
  });

  it('names the line of a fence or comment that is never closed, and reads on if that line is plain', () => {
    const text = '```\na\n```\n~~~\n# B\n';
    expect(scanPage(text).unclosed).toBe(3);
    expect(scanPage(text).headings).toEqual([]);
    expect(scanPage(text, 3).headings.map(({ title }) => title)).toEqual(['B']);
    expect(scanPage('<!-- x\n').unclosed).toBe(0);
    expect(scanPage('```\na\n```\n').unclosed).toBeNull();
  });

  it('splits stacked front matter and detects an unclosed block', () => {
    const page = scanPage('---\na: 1\n---\n\n---\nb: 2\n---\n# T\n');
    expect(page.frontMatter).toEqual([
      { open: 0, start: 1, end: 2, closed: true },
      { open: 4, start: 5, end: 6, closed: true },
    ]);
    expect(page.body).toBe(7);
    const open = scanPage('---\na: 1\n# T\n');
    expect(open.frontMatter).toEqual([{ open: 0, start: 1, end: 3, closed: false }]);
    expect(open.headings).toHaveLength(1);
    expect(scanPage('---\na: 1\n---\n\n---\n\n# T\n').frontMatter).toHaveLength(1);
  });

  it('finds what a merge or an elision left behind', () => {
    expect(conflictMarkers(['=======\n', '<<<<<<< HEAD\n', 'a\n', '=======\n', 'b\n', '>>>>>>> x\n'])).toEqual([
      1, 3, 5,
    ]);
    expect(
      elidedLines(['...\n', 'a ...\n', '<!-- ... rest unchanged ... -->\n', '# [...]\n', '... and more\n']),
    ).toEqual([0, 2, 3]);
  });

  it('finds the end of a fence by its own delimiter', () => {
    const lines = ['````md', '```', '````', 'x'];
    expect(fenceOpened('````md')).toEqual({ mark: '````', info: 'md' });
    expect(fenceEnd(lines, 0, '````')).toBe(2);
    expect(fenceEnd(['```', 'a'], 0, '```')).toBe(2);
    expect(fenceOpened('``` a ``` b')).toBeNull();
  });
});

const piece = fc.constantFrom(
  ...['# A', '## B ##', '---', 'a: 1', '  b: "two"', '```', '~~~', '<!-- x', '-->', '| A | B |', '|---|---|'],
  ...['| 1 | `x | y` |', '- [ ] open', '  - [x] done', '**Status:** x', 'Phase: 3', 'words', '', '\ufeff', '1. one'],
);
const anyText = fc.array(fc.tuple(piece, fc.constantFrom('\n', '\r\n')), { maxLength: 25 }).chain((parts) =>
  fc.boolean().map((cut) =>
    parts
      .map(([text, end]) => text + end)
      .join('')
      .slice(0, cut ? -1 : undefined),
  ),
);

describe('edits of a page', () => {
  it('leave any text as it is when there is none', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const page = scanPage(text);
        expect(page.lines.join('')).toBe(text);
        expect(editPage(page).apply()).toBe(text);
        const same = editPage(page);
        for (const line of page.lines.keys()) same.set(line, page.line(line));
        expect(same.changed).toBe(false);
        expect(same.apply()).toBe(text);
      }),
    );
  });

  it('say what was set, and every other line as before', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.constantFrom('new', '| a |', ''), (text, number, words) => {
        const before = scanPage(text);
        fc.pre(before.lines.length > 0);
        const at = number % before.lines.length;
        const after = scanPage(edited(text, (edit) => edit.set(at, words)));
        expect(after.lines.map((_, line) => after.line(line))).toEqual(
          before.lines.map((_, line) => (line === at ? words : before.line(line))).slice(0, after.lines.length),
        );
        for (const [line, whole] of after.lines.entries()) if (line !== at) expect(whole).toBe(before.lines[line]);
      }),
    );
  });

  it('keep line ends and the byte order mark', () => {
    const text = '\ufeffa\r\nb\nc';
    expect(edited(text, (edit) => edit.set(0, 'A'))).toBe('\ufeffA\r\nb\nc');
    expect(edited(text, (edit) => edit.remove(0))).toBe('\ufeffb\nc');
    expect(edited(text, (edit) => edit.insert(3, ['d']))).toBe('\ufeffa\r\nb\nc\r\nd\r\n');
    expect(edited(text, (edit) => edit.replace(2, 3, ['x', 'y']))).toBe('\ufeffa\r\nb\nx\r\ny\r\n');
    expect(edited(text, (edit) => edit.remove(1))).toBe('\ufeffa\r\nc');
  });

  it('are refused where two touch one line, or the second is ignored', () => {
    const page = scanPage('a\nb\n');
    const strict = editPage(page);
    strict.set(0, 'x');
    expect(() => strict.set(0, 'y')).toThrow('Two edits of line 1');
    const mild = editPage(page, 'ignored');
    mild.set(0, 'x');
    mild.remove(0, 2);
    expect(mild.apply()).toBe('x\nb\n');
  });
});

describe('a table', () => {
  const text = '## T\n\n| ID | What |\n|----|------|\n| 1 | a \\| b |\n| 2 | — |\n';

  it('is read by the names of its columns', () => {
    const [table] = tablesIn(scanPage(text), 0, 6);
    expect(table?.rows.map((row) => cellOf(table, row, 'what'))).toEqual(['a | b', undefined]);
    expect(table?.rows.map((row) => cellOf(table, row, 'no', 'id'))).toEqual(['1', '2']);
  });

  it('reads back any cell that it wrote', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }), (texts) => {
        const names = texts.map((_, index) => `c${index}`);
        const row = renderRow(names, Object.fromEntries(names.map((name, index) => [name, texts[index]])));
        const page = scanPage(`| ${names.join(' | ')} |\n|${'---|'.repeat(names.length)}\n${row}\n`);
        const [table] = tablesIn(page, 0, 3);
        const said = texts.map((one) => one.replace(/\r\n?/g, '\n').trim());
        fc.pre(said.every((one) => !/^[-—–]$/.test(one)));
        expect(names.map((name) => (table && cellOf(table, table.rows[0] as never, name)) || '')).toEqual(said);
      }),
    );
  });

  it('gets rows at its top or end, and is made with its section where it is missing', () => {
    const place = { heading: '## T', titles: ['ID', 'What'], at: 0 };
    const add = (where: 'top' | 'end') =>
      edited(text, (edit, page) => addRows(edit, page, partIn(page, /^T/), place, [{ id: '3', what: 'c' }], where));
    expect(add('top')).toContain('|------|\n| 3 | c |\n| 1 |');
    expect(add('end')).toContain('| 2 | — |\n| 3 | c |\n');
    const made = edited('', (edit, page) => addRows(edit, page, null, place, [{ id: '3' }], 'end'));
    expect(made).toBe('\n## T\n\n| ID | What |\n|----|------|\n| 3 | — |\n');
  });

  it('is split and edited by cells', () => {
    expect(splitRow('| a | `x | y` | c\\|d |', true)).toEqual(['a', '`x | y`', 'c\\|d']);
    expect(splitRow('| a | `x | y` |')).toEqual(['a', '`x', 'y`']);
    expect(setCell('|  a  | b |', 1, (old) => `${old}!`)).toBe('|  a  | b! |');
  });
});

it('changes the cells of a row that are named, and no other byte of it', () => {
  const head = '| ID | What | Due |\n|----|------|-----|\n';
  const change = (row: string, values: Record<string, string>) =>
    edited(head + row, (edit, page) => {
      const [table] = tablesIn(page, 0, 3);
      if (table?.rows[0]) setCells(edit, page, table, table.rows[0], values);
    }).slice(head.length);
  expect(change('|  1 |old   |   |\n', { what: 'a|b' })).toBe('|  1 |a\\|b   |   |\n');
  expect(change('| 1 | `code` |   |', { due: 'now' })).toBe('| 1 | `code` | now |');
  expect(change('| 1 |\n', { due: 'now' })).toBe('| 1 | — | now |\n');
  expect(change('| 1 | x\n', { id: '', what: 'y' })).toBe('| — | y\n');
  expect(change('| 1 | x | y |\n', { other: 'z' })).toBe('| 1 | x | y |\n');
});

describe('key lines', () => {
  const nameOf = (label: string) => (['phase', 'status', 'plan'] as const).find((name) => name === label);
  const text = 'Phase: 3 of 5\n- **Status:** `open`\n| **Plan** | 2 |\n```\nPhase: no\n```\nPhase: later\n';

  it('are found in every form, the first of a name', () => {
    const fields = fieldsIn(scanPage(text), 0, 7, nameOf);
    expect([...fields.values()].map(({ name, value }) => [name, value])).toEqual([
      ['phase', '3 of 5'],
      ['status', 'open'],
      ['plan', '2'],
    ]);
  });

  it('change their value and nothing else', () => {
    const change = (name: 'phase' | 'status' | 'plan', value: string) =>
      edited(text, (edit, page) => setField(edit, page, fieldsIn(page, 0, 7, nameOf).get(name) as never, value));
    expect(change('phase', '4\nof 5')).toBe(text.replace('3 of 5', '4 of 5'));
    expect(change('status', 'closed')).toBe(text.replace('`open`', 'closed'));
    expect(change('plan', '3')).toBe(text.replace('| 2 |', '| 3 |'));
  });
});

describe('front matter', () => {
  it('says what was set, in the quotes it had', () => {
    const text = '---\na: "one" # kept\nb: two\nc:\n  d: \'four\'\n---\n# T\n';
    fc.assert(
      fc.property(fc.constantFrom('a', 'b', 'c.d'), fc.string({ maxLength: 12 }), (key, value) => {
        const after = edited(text, (edit, page) => {
          const { fields } = readFrontMatter(page, page.frontMatter[0] as never);
          setFront(edit, page, fields.get(key) as never, value);
        });
        const page = scanPage(after);
        const { fields } = readFrontMatter(page, page.frontMatter[0] as never);
        expect(fields.get(key)?.value).toBe(value.replace(/\s*\n\s*/g, ' ').trim());
        expect(after).toContain('# kept');
        expect(fields.size).toBe(4);
      }),
    );
  });
});

it('reads lists: bullets, boxes, rows, paragraphs, groups and words for none', () => {
  const page = scanPage(
    '- one\n  more\n- [x] two\n\n**Auth:**\n\n- three\n\n| A | B |\n|---|---|\n| 4 | x |\n\nfive\n\nNone.\n',
  );
  const { entries, nones } = readEntries(page, 0, page.lines.length, (text) => text === 'None.');
  expect(entries.map(({ form, text, checked, group }) => [form, text, checked, group])).toEqual([
    ['bullet', 'one\nmore', null, null],
    ['bullet', 'two', true, null],
    ['bullet', 'three', null, 'Auth'],
    ['row', '4 | x', null, 'Auth'],
    ['paragraph', 'five', null, 'Auth'],
  ]);
  expect(nones).toEqual([{ from: 14, to: 15 }]);
});
