import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { type Editor, openEditor } from './editor.ts';
import type { Manner, Style } from './emit.ts';
import { jsonManner, parseJson } from './json.ts';
import { all, type ListNode, type MapNode, type Node, plain } from './node.ts';
import { growNodes } from './yaml.ts';

const read = (text: string): Node => {
  const document = parseDocument(text, { uniqueKeys: false, strict: false, logLevel: 'silent' });
  expect(document.errors.map(({ message }) => message)).toEqual([]);
  const onDuplicate = (): void => undefined;
  const reading = (words: string): string => words;
  return growNodes({ document, source: text, base: 0, overEscaped: false, reading, onDuplicate, inAlias: false });
};

const manner = (style: Style): Manner => ({ style, overEscaped: false });

const word = fc.constantFrom(
  'a',
  'plain words',
  "it's",
  'say "so"',
  'no: not a key',
  '# none',
  'true',
  '007',
  '',
  'ü',
  'x\ny',
);
const scalar = fc.oneof(word, fc.integer({ min: -5, max: 5000 }), fc.boolean(), fc.constant(null));
const key = fc.constantFrom('one', 'two', 'three', 'four words here', 'a:b');
const value: fc.Arbitrary<unknown> = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.array(fc.dictionary(key, scalar, { minKeys: 1, maxKeys: 3 }), { maxLength: 2 }),
  fc.dictionary(key, scalar, { maxKeys: 3 }),
);

const texts: { name: string; style: Style; text: string }[] = [
  {
    name: 'block YAML with comments',
    style: 'plain',
    text: `one: first # kept
two:
  - a
  - b # kept too
# a remark
three:
  inner: 'single'
  list: [1, 2, 3]
`,
  },
  {
    name: 'quoted YAML with lists in brackets',
    style: 'quoted',
    text: `one: "first"
two: ["a", "b"]
three: { inner: "x", list: [] }
last: null`,
  },
  {
    name: 'JSON',
    style: 'json',
    text: `${JSON.stringify({ one: 'first', two: ['a', 'b'], three: { inner: 'x' } }, null, 2)}\n`,
  },
  { name: 'JSON on one line', style: 'json', text: '{"one": "first", "two": ["a", "b"], "three": {"inner": "x"}}' },
];

describe.each(texts)('$name', ({ style, text }) => {
  const edit = (change: (editor: Editor, root: MapNode) => void, from = text): string => {
    const editor = openEditor(from, '\n', manner(style));
    change(editor, read(from) as MapNode);
    return editor.apply();
  };

  it('is the same when nothing is edited, or set to what it says', () => {
    expect(edit(() => undefined)).toBe(text);
    expect(edit((editor, root) => editor.set(root, 'one', 'first'))).toBe(text);
  });

  it('says what was set, and everything else as before', () => {
    fc.assert(
      fc.property(key, value, (name, wanted) => {
        const after = edit((editor, root) => editor.set(root, name, wanted));
        expect(plain(read(after))).toEqual({ ...(plain(read(text)) as object), [name]: wanted });
        for (const remark of text.match(/#.*/g) ?? [])
          if (name !== 'one' && name !== 'two') expect(after).toContain(remark);
      }),
      { numRuns: 150 },
    );
  });

  it('has the items that were added and not those removed', () => {
    fc.assert(
      fc.property(fc.array(scalar, { maxLength: 3 }), fc.subarray([0, 1]), (added, gone) => {
        const after = edit((editor, root) => {
          const list = all(root, 'two')[0] as ListNode;
          editor.append(list, added);
          for (const index of gone) editor.remove(list, list.items[index] as Node);
        });
        const left = ['a', 'b'].filter((_, index) => !gone.includes(index));
        expect(plain(read(after))).toEqual({ ...(plain(read(text)) as object), two: [...left, ...added] });
      }),
      { numRuns: 100 },
    );
  });
});

describe.each([
  ['two spaces', JSON.stringify({ a: 'é', b: { c: [1, { d: null }] }, e: [] }, null, 2)],
  ['tabs and a byte order mark', `\ufeff${JSON.stringify({ a: 'x', b: { c: [1] }, e: {} }, null, '\t')}\n`],
  ['Windows line ends', JSON.stringify({ a: 'x', b: { c: [1] }, e: {} }, null, 4).replaceAll('\n', '\r\n')],
  ['one line', '{"a":"x", "b": {"c": [1]}, "e": []}'],
  ['escapes and a repeated key', '{\n  "a": "\\u00e9",\n  "b": {"c": [1]},\n  "a": 2,\n  "e": []\n}'],
])('JSON with %s', (_, text) => {
  it('says exactly what was asked after sets, removals and additions', () => {
    const name = fc.constantFrom('a', 'b', 'e', 'new', '__proto__', '7', '3_5', 'ü');
    const change = fc.oneof(
      fc.record({ set: name, value }),
      fc.record({ first: name, value }),
      fc.record({ drop: name }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(change, { selector: (one) => Object.values(one)[0], maxLength: 4 }), (changes) => {
        const file = parseJson(text);
        const root = file.root as MapNode;
        const wanted = new Map(root.pairs.map((pair) => [pair.key, plain(pair.value)]));
        const editor = openEditor(text, text.includes('\r\n') ? '\r\n' : '\n', jsonManner(file));
        for (const one of changes) {
          if ('drop' in one) {
            editor.removeKey(root, one.drop);
            wanted.delete(one.drop);
          } else {
            const key = 'set' in one ? one.set : one.first;
            editor.set(root, key, one.value, 'first' in one ? 'first' : []);
            wanted.set(key, one.value);
          }
        }
        const after = editor.apply();
        const read = parseJson(after);
        expect(read.damaged).toBe(false);
        const said = (read.root as MapNode).pairs.map((pair) => [pair.key, plain(pair.value)] as const);
        expect(new Map(said)).toEqual(wanted);
        if (changes.length === 0) expect(after).toBe(text);
        if (text.includes('\r\n')) expect(after.replaceAll('\r\n', '')).not.toContain('\n');
      }),
      { numRuns: 200 },
    );
  });
});

it('refuses two edits of the same text', () => {
  const editor = openEditor('one: first\n', '\n', manner('plain'));
  editor.replace(5, 10, 'second');
  editor.replace(7, 9, 'x');
  expect(() => editor.apply()).toThrow('Two edits of the same text');
});

it.each([
  ['an empty map in braces', 'one: {}\ntwo: 2\n', "one: { 'a: b': [1, x] }\ntwo: 2\n"],
  ['a map in braces with keys', 'one: {c: 3}\ntwo: 2\n', "one: {c: 3, 'a: b': [1, x]}\ntwo: 2\n"],
])('adds a key to %s, which stays one', (_, text, expected) => {
  const editor = openEditor(text, '\n', manner('plain'));
  const [first] = (read(text) as MapNode).pairs;
  editor.set(first?.value as MapNode, 'a: b', [1, 'x'], ['c']);
  expect(editor.apply()).toBe(expected);
  expect(plain(read(expected))).toMatchObject({ one: { 'a: b': [1, 'x'] }, two: 2 });
});
