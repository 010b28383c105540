import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openHoldfast } from '../src/holdfast.ts';
import { newFolder, newWorkspace } from './command-line.ts';

const character = String.fromCodePoint;
/** Control characters of both sets except NUL, which an argument cannot hold; escapes, direction marks, other scripts. */
const controls = [...Array(31).keys(), ...Array.from({ length: 33 }, (_, index) => 0x7e + index)].map(
  (code) => code + 1,
);
const hostile = [
  `${character(27)}[31mred${character(27)}]0;title${character(7)}`,
  controls.map((code) => character(code)).join(''),
  `${character(0x202e)}desrever${character(0x2066, 0x2069, 0x200e, 0x61c, 0xfeff, 0x2028)}`,
  `日本語 العربية עברית é e${character(0x301)} 🧵👩‍👩‍👧 ${character(0xe0041)} \r\n\ttab`,
  '{"json": "inside", \'quotes\': `backtick`} $(rm) %s \\u001b',
].join('|');

/** Characters that could change a terminal's cursor, colour or direction, and unusual line ends. */
const unsafe = new RegExp(
  `[${[0, 0xb, 0x7f, 0x61c, 0x200e, 0x2028, 0x2066, 0xfeff]
    .map((from, index) => {
      const to = [8, 0x1f, 0x9f, 0x61c, 0x200f, 0x202e, 0x2069, 0xfeff][index] ?? from;
      return `\\u${from.toString(16).padStart(4, '0')}-\\u${to.toString(16).padStart(4, '0')}`;
    })
    .join('')}]`,
);

const ourColours = new RegExp(`${character(27)}\\[(?:[0-2]|3[1-3])m`, 'g');

describe('text of any kind', () => {
  it('is stored as given and shown safely by every command', () => {
    const folder = newWorkspace();
    folder.data('init', '--title', hostile, '--goal', hostile, '--id', 'odd');
    folder.env['HOLDFAST_RUN'] = 'odd';
    folder.data('plan', 'add', 's1', hostile);
    folder.data('plan', 'add', 's2', 'Next', '--context', 'a b\u0085c');
    folder.data('note', hostile);
    folder.data('note', hostile, '--kind', 'constraint');
    folder.data('note', hostile, '--kind', 'dead-end');
    folder.data('decide', '--context', hostile, '--decision', hostile, '--reason', hostile, '--key', '\u202ekey');
    for (const kind of ['blocker', 'question', 'finding', 'commitment', 'error']) folder.data('raise', kind, hostile);
    folder.data('settle', 'B-1', '--as', 'bypassed', '--note', hostile);
    folder.data('effect', 'begin', hostile);
    folder.data('start', 's1', '--agent', 'ada');
    folder.data('checkpoint', '\u202ename', '--next', hostile, '--built', hostile, '--agent', 'ada');

    const events = folder.data('log', '--limit', '100')['events'] as { body: Record<string, string> }[];
    const texts = events.flatMap(({ body }) => ['title', 'text', 'decision', 'next'].map((name) => body[name]));
    expect(texts.filter((text) => text === hostile).length).toBeGreaterThan(10);

    const shown = [
      ['status'],
      ['log', '--limit', '100'],
      ['search', 'red'],
      ['resume'],
      ['decisions'],
      ['items'],
      ['runs'],
      ['sessions'],
      ['plan', 'show'],
      ['complete', '--agent', 'ada'],
      ['start', hostile],
      ['search', hostile],
      ['wait', '--for', hostile.slice(0, 9)],
      [hostile],
      ['status', `--${hostile}`],
      ['note', 'x', '--agent', hostile],
      ['status', '--run', hostile],
      ['note', 'x', '--session', hostile],
      ['plan', 'import', hostile],
      ['status', '--store', hostile],
    ];
    for (const words of shown) {
      for (const flag of ['--no-color', '--color', '--json']) {
        const ran = folder.run(...words, flag);
        expect([words[0], ran.code === 70]).toEqual([words[0], false]);
        const said = ran.out + ran.err;
        expect([words[0], said.includes(`${character(27)}[31mred`)]).toEqual([words[0], false]);
        expect([words[0], unsafe.exec(flag === '--color' ? said.replace(ourColours, '') : said)]).toEqual([
          words[0],
          null,
        ]);
        if (flag === '--json') JSON.parse(ran.out);
      }
    }
    expect(folder.run('doctor').code).toBe(0);
  });

  it('keeps NUL and broken characters, which only a program can pass', async () => {
    const folder = newWorkspace();
    const hf = await openHoldfast({ dir: folder.path, run: 'auth' });
    const odd = `nul${character(0)}nul ${String.fromCharCode(0xd800)} lone`;
    await hf.note({ text: odd });
    await hf.close();
    const [event] = folder.data('log', '--limit', '1')['events'] as { body: { text: string } }[];
    expect(event?.body.text).toBe(odd);
    expect(folder.run('search', 'lone').out).not.toContain(character(0));
    expect(folder.run('doctor').code).toBe(0);
  });

  it('may be 1 MiB long and no longer', async () => {
    const folder = newWorkspace();
    const hf = await openHoldfast({ dir: folder.path, run: 'auth' });
    const limit = 1024 * 1024;
    const full = 'é'.repeat(limit / 2);
    await hf.note({ text: full });
    await expect(hf.note({ text: `${full}x` })).rejects.toMatchObject({ code: 'invalid' });
    await expect(hf.decide({ context: 'c', decision: `${full}x`, reason: 'r' })).rejects.toMatchObject({
      code: 'invalid',
    });
    await hf.close();
    const [event] = folder.data('log', '--limit', '1')['events'] as { body: { text: string } }[];
    expect(event?.body.text === full).toBe(true);
    expect(folder.run('status').out.length + folder.run('log').out.length).toBeLessThan(10_000);
    // One argument may hold 128 KiB on Linux.
    folder.data('note', 'x'.repeat(120_000));
    expect(folder.run('doctor').code).toBe(0);
  });

  it('is refused as a key, a name or a label that could not be typed again', () => {
    const folder = newWorkspace();
    const refused = [
      ['plan', 'add', '../up', 'Title'],
      ['plan', 'add', `k${character(27)}`, 'Title'],
      ['plan', 'add', 'k'.repeat(65), 'Title'],
      ['plan', 'add', 'k', '   '],
      ['init', '--title', 'T', '--id', '../../etc'],
      ['init', '--title', ''],
      ['note', 'x', '--agent', '../ada'],
      ['note', 'x', '--agent', 'a'.repeat(65)],
      ['raise', 'question', 'x', '--to', 'no body'],
      ['effect', 'begin', 'x', '--key', 'two\nlines'],
      ['decide', '--context', 'c', '--decision', 'd', '--reason', 'r', '--key', 'k'.repeat(201)],
    ];
    for (const words of refused) {
      expect([words, folder.fault(...words)]).toMatchObject([words, { code: 'invalid', exit: 2 }]);
    }
    expect(folder.data('log')['version']).toBe(5);
  });
});

describe('the path of a file', () => {
  it('is recorded only if it is inside the workspace', () => {
    const folder = newWorkspace();
    const outside = newFolder();
    writeFileSync(join(outside.path, 'secret'), 'x');
    symlinkSync(join(outside.path, 'secret'), join(folder.path, 'link'));
    symlinkSync(outside.path, join(folder.path, 'linked-folder'));
    folder.data('start', 't1', '--agent', 'ada');
    const version = folder.data('log')['version'];
    for (const path of [
      '../x',
      '/etc/passwd',
      'link',
      'linked-folder/secret',
      'a/../../x',
      '.',
      '',
      join(outside.path, 'secret'),
    ]) {
      const words = ['checkpoint', 'c', '--agent', 'ada', `--artifact=${path}`];
      expect([path, folder.fault(...words)]).toMatchObject([path, { code: 'invalid', exit: 2 }]);
    }
    expect(folder.fault('claim', '../x', '--agent', 'ada')).toMatchObject({ code: 'invalid' });
    expect(
      folder.fault('session', 'end', '--reason', 'completed', '--file-note', '../x=y', '--agent', 'ada'),
    ).toMatchObject({
      code: 'invalid',
    });
    expect(folder.fault('init', '--title', 'T', '--design', join(outside.path, 'secret'))).toMatchObject({
      code: 'invalid',
    });
    expect(folder.data('log')['version']).toBe(version);
  });

  it('is relative to the current folder; a missing file or a folder is named without a hash', () => {
    const folder = newWorkspace();
    mkdirSync(join(folder.path, 'src'));
    writeFileSync(join(folder.path, 'src', 'a b.ts'), 'x');
    symlinkSync(join(folder.path, 'src'), join(folder.path, 'inside'));
    folder.data('start', 't1', '--agent', 'ada');
    const paths = ['a b.ts', '../inside/a b.ts', 'gone.ts', '.', fileURLToPath(new URL(`file://${folder.path}/src`))];
    const given = paths.flatMap((path) => ['--artifact', path]);
    const { step } = folder.data('checkpoint', 'c', '--agent', 'ada', '--dir', join(folder.path, 'src'), ...given);
    expect(step.artifacts).toMatchObject([
      { path: 'src/a b.ts', bytes: 1 },
      { path: 'inside/a b.ts', bytes: 1 },
      { path: 'src/gone.ts', sha256: null },
      { path: 'src', sha256: null },
    ]);
  });
});
