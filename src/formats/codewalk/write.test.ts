import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RunModel } from '../../core/model/run-model.ts';
import type { Files, Found } from '../format.ts';
import { codewalk } from './format.ts';

const now = '2026-07-01T12:00:00.000Z';
const found: Found = { format: 'codewalk', main: 'STATE.md', files: ['STATE.md'] };
const files = (text: string): Files => new Map([['STATE.md', text]]);

/**
 * Writes a changed run model, checks that it reads back and that a second write changes nothing, and returns the text.
 */
function write(text: string, change: (model: RunModel) => void): string {
  const model = structuredClone(codewalk.parse(found, files(text)).model as RunModel);
  change(model);
  const written = codewalk.render(model, found, files(text), now).get('STATE.md') ?? text;
  const back = codewalk.parse(found, files(written));
  expect(back.problems.filter(({ level }) => level === 'error')).toEqual([]);
  expect(back.model).toMatchObject({ items: model.items, decisions: model.decisions, run: { title: model.run.title } });
  expect(codewalk.render(model, found, files(written), now).size).toBe(0);
  return written;
}

describe('codewalk: quoting', () => {
  const values = [
    'a: b',
    'key:',
    ': c',
    'a #b',
    '# c',
    '- d',
    '-',
    'yes',
    'No',
    'on',
    'y',
    'null',
    '~',
    'true',
    '123',
    '-7',
    '1e3',
    '0x1f',
    '2.10',
    '.5',
    "it's",
    'say "hi"',
    `'"`,
    'a, b',
    '{a}',
    '[b]',
    '@c',
    '`d`',
    '*e',
    '&f',
    '!g',
    '%h',
    '? i',
    '| j',
    '> k',
    'back\\slash',
    'a tab\tin it',
    'a bell\u0007',
    'ü — ✓',
    'two\nlines',
    'three: 3\n# lines\n- more\n',
  ];
  const texts = [
    ['plain', 'initiative: a\ntitle: T\n'],
    ['double quotes', 'initiative: a\ntitle: "T"\n'],
    ['single quotes', "initiative: a\ntitle: 'T'\n"],
    ['no value', 'initiative: a\ntitle:\nowner: mara\n'],
    ['a literal block', 'initiative: a\ntitle: |-\n  T\n'],
    ['brackets', '{initiative: a, title: T, owner: mara}\n'],
    ['brackets without a value', '{initiative: a, title: , owner: mara}\n'],
    ['nothing', 'initiative: a\n'],
    ['nothing in brackets', '{initiative: a}\n'],
  ] as const;

  it.each(texts)('keeps every value a string in place of %s', (_, text) => {
    for (const value of values) {
      const written = write(text, (model) => void Object.assign(model.run, { title: value }));
      // YAML 1.1 readers turn more words into other types.
      for (const version of ['1.1', '1.2'] as const)
        expect(String(parse(written, { version }).title).trimEnd(), JSON.stringify(value)).toBe(value.trimEnd());
      expect(written).not.toMatch(/[^\t\n\x20-\x7e\u00a0-\uffff]/);
      expect(typeof parse(written, { version: '1.1' }).title).toBe('string');
    }
  });

  it('quotes keys of unknown sections', () => {
    const kept = { 'a: b': { '- c': 'no', '#': ['d: e', { 'f,': 1 }] }, plain_key: 'x' };
    const model = { ...(codewalk.parse(found, files('initiative: a\n')).model as RunModel), kept: { codewalk: kept } };
    const text = codewalk.render(model, found, new Map(), now).get('STATE.md') ?? '';
    expect(parse(text)).toMatchObject(kept);
    expect(text).toContain('\nplain_key: x\n');
  });
});

describe('codewalk: maps and lists in brackets', () => {
  const head = 'initiative: init-1\ntitle: T\n';
  const bypass = (model: RunModel) =>
    void Object.assign(model.items[0] as object, { status: 'bypassed', workaround: 'Found: it\n- there' });
  const addFog = (model: RunModel) =>
    void model.items.push({ alias: 'block-009', kind: 'blocker', text: 'Fog', status: 'active' });
  const fog = '{ id: block-009, status: active, description: Fog, workaround: null, resolution: null }';

  it.each([
    [
      '{id: b-1, description: No key}',
      '{id: b-1, description: No key, status: bypassed, workaround: "Found: it\\n- there"}',
    ],
    [
      '{ id: b-1, description: No key, }',
      '{ id: b-1, description: No key, status: bypassed, workaround: "Found: it\\n- there", }',
    ],
    [
      '{id: b-1, description: No key} # ask',
      '{id: b-1, description: No key, status: bypassed, workaround: "Found: it\\n- there"} # ask',
    ],
    [
      '{id: b-1, description: No key, workaround:}',
      '{id: b-1, description: No key, workaround: "Found: it\\n- there", status: bypassed}',
    ],
    [
      '{id: b-1, workaround: , description: "No key", status: active}',
      '{id: b-1, workaround: "Found: it\\n- there" , description: "No key", status: bypassed}',
    ],
  ])('adds keys to %s and leaves its other bytes alone', (before, after) => {
    const text = (entry: string) => `${head}blockers:\n  - ${entry}\nowner: mara\n`;
    expect(write(text(before), bypass)).toBe(text(after));
  });

  it('adds keys to a map over several lines, and to an empty one', () => {
    const spread = `${head}blockers:\n  - {\n      id: b-1, # mine\n      description: No key # ask\n    }\n`;
    expect(write(spread, bypass)).toBe(
      spread.replace('No key', 'No key,\n      status: bypassed,\n      workaround: "Found: it\\n- there"'),
    );
    expect(
      write(
        `${head}resume_context: {}\n`,
        (model) => void model.items.push({ kind: 'question', text: 'Who?', status: 'open' }),
      ),
    ).toBe(`${head}resume_context: { open_questions: ["Who?"] }\n`);
  });

  it('keeps the other keys of a map in brackets when a list in it changes', () => {
    const text = `${head}resume_context: {owner: mara, open_questions: [Why?]}\n`;
    expect(write(text, (model) => void model.items.push({ kind: 'question', text: 'a, b', status: 'open' }))).toBe(
      `${head}resume_context: {owner: mara, open_questions: [Why?, "a, b"]}\n`,
    );
  });

  const three = '[{id: b-1, description: One}, {id: b-2, description: Two}, {id: b-3, description: Three}]';
  it.each([
    ['adds an entry', [0, 1, 2], true, three.replace(']', `, ${fog}]`)],
    ['removes the first', [1, 2], false, '[{id: b-2, description: Two}, {id: b-3, description: Three}]'],
    ['removes the first two', [2], false, '[{id: b-3, description: Three}]'],
    ['removes the last two', [0], false, '[{id: b-1, description: One}]'],
    [
      'removes the middle and adds',
      [0, 2],
      true,
      `[{id: b-1, description: One}, {id: b-3, description: Three}, ${fog}]`,
    ],
    ['removes the last and adds', [0, 1], true, `[{id: b-1, description: One}, {id: b-2, description: Two}, ${fog}]`],
    ['removes all', [], false, '[]'],
    ['removes all and adds', [], true, `[${fog}]`],
  ] as const)('%s in a list in brackets', (_, left, adds, after) => {
    const text = (list: string) => `${head}blockers: ${list}\nowner: mara\n`;
    const change = (model: RunModel) => {
      model.items = model.items.filter((_item, index) => (left as readonly number[]).includes(index));
      if (adds) addFog(model);
    };
    expect(write(text(three), change)).toBe(text(after));
  });

  it('makes a list of a single entry when another one is added', () => {
    const text = `${head}blockers:\n  id: b-1\n  description: No key\n  owner: mara\n`;
    expect(parse(write(text, addFog)).blockers).toMatchObject([{ id: 'b-1', owner: 'mara' }, { id: 'block-009' }]);
    expect(write(text, (model) => void model.items.pop())).toBe(`${head}blockers: []\n`);
  });

  it('removes a key from an entry in its own file, and never deletes the file', () => {
    const place = { ...found, main: '.planning/STATE.md', files: ['.planning/STATE.md', '.planning/blockers/b-1.md'] };
    const before = new Map([
      ['.planning/STATE.md', 'initiative: init-1\n'],
      ['.planning/blockers/b-1.md', 'id: b-1\ndescription: No key\naffects:\n  - Phase 2\nstatus: active\n'],
    ]);
    const model = structuredClone(codewalk.parse(place, before).model as RunModel);
    delete model.items[0]?.affects;
    const written = codewalk.render(model, place, before, now);
    expect(written.get('.planning/blockers/b-1.md')).toBe('id: b-1\ndescription: No key\nstatus: active\n');
    expect(codewalk.render({ ...model, items: [] }, place, before, now).size).toBe(0);
  });
});
