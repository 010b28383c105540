import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { foreignEdits } from '../foreign-edits.suite.ts';
import { compared, map, type Sample, writtenBack } from '../format.suite.ts';
import type { Files } from '../format.ts';
import { scanPage } from '../text/page.ts';
import { splitRow } from '../text/table.ts';
import { contractIn } from './contract-files.ts';
import { fixture, home, now, rich, samples } from './fixture.suite.ts';
import { snap } from './format.ts';

/** A folder is read and written whole, so there are fewer cases; more at night: `LAW_CASES=10000 npx vitest run src/formats`. */
const numRuns = Number(process.env['LAW_CASES'] ?? 60);

const pilot = fixture('pilot');

/** One more of everything that the files hold. */
const grown = (model: RunModel): RunModel => ({
  ...model,
  decisions: [...model.decisions, { decision: 'Keep the lamp', status: 'active', by: 'ada', at: now }],
  messages: [
    ...model.messages,
    {
      from: 'ada',
      to: 'ben',
      type: 'request',
      priority: 'P1',
      status: 'unread',
      subject: 'Look',
      body: 'Here',
      at: now,
    },
  ],
  items: [...model.items, { kind: 'question', text: 'Which oil?', status: 'open' }],
});

const sample = fc.constantFrom(...samples);
const read = ({ found }: Sample, files: Files) => snap.parse({ ...found, files: [...files.keys()] }, files);
const written = (model: RunModel, { found }: Sample, files: Files): Files =>
  snap.render(model, { ...found, files: [...files.keys()] }, files, now);

describe('laws', () => {
  it('W1: any spelling of the files is written back as it is', () => {
    const spellings: ((text: string) => string)[] = [
      (text) => text.replace(/\r?\n/g, '\r\n'),
      (text) => `\ufeff${text.replace(/^\ufeff/, '')}`,
      (text) => text.replace(/\n+$/, ''),
      (text) => `${text}\n\n`,
      (text) => text.replace(/^\|(.*)\|$/gm, (_, cells: string) => `|\t${cells}  |`),
    ];
    for (const one of samples) {
      for (const spell of [(text: string) => text, ...spellings]) {
        const files = map(one.files, (text) => spell(text));
        const { model, writable } = read(one, files);
        expect({ name: one.name, writable, written: [...written(model as RunModel, one, files)] }).toEqual({
          name: one.name,
          writable: true,
          written: [],
        });
      }
    }
  });

  it('W2: what is written can be read, except for what the format loses', () => {
    const whole = rich();
    const some = fc.record({
      decisions: fc.shuffledSubarray(whole.decisions),
      items: fc.subarray(whole.items.filter(({ kind }) => kind !== 'blocker')),
      notes: fc.shuffledSubarray(whole.notes),
      messages: fc.subarray(whole.messages),
      claims: fc.subarray(whole.claims),
      words: fc.array(fc.constantFrom('a | b', '~~x~~', '- y', '# z', '**Ack:** no', '<br>', 'é “q”', '  \t.', '|')),
    });
    fc.assert(
      fc.property(some, ({ words, decisions, ...lists }) => {
        const said = words.join(' ').trim();
        const more = decisions.map((one, index) => ({ ...one, decision: `${one.decision} ${index} ${said}`.trim() }));
        const model = { ...whole, ...lists, decisions: more };
        const [back, meant] = compared(writtenBack(snap, model), model, snap.loses);
        expect(back).toEqual(meant);
      }),
      { numRuns },
    );
  });

  /** What follows from entries: revisions, status lines, the inbox and the queue, counts. */
  const derived =
    /^\s*(?:revision|acquired_rev):|^# (?:Last modified|Modified by)|^(?:Now Working|Maintainer Focus|Last updated)|^\| (?:[^|]+ \| \d+ \||MSG-)/;
  const fields = [
    ...['steps.title', 'decisions.context', 'decisions.by', 'items.text', 'items.resolution'],
    ...['messages.subject', 'messages.from', 'messages.respondBy', 'claims.reason', 'claims.agent'],
  ] as const;

  it('W3: a change of one field changes its line, of a row its cell, and what is derived', () => {
    const seen = new Set<string>();
    const change = (one: Sample, path: string, at: number): boolean => {
      const { model } = read(one, one.files);
      const [list, name] = path.split('.') as ['steps', 'title'];
      const entry = (model?.[list] ?? []).filter((entry) => entry[name] !== undefined)[at];
      if (!model || !entry) return false;
      entry[name] = 'Other words';
      for (const [file, text] of written(model, one, one.files)) {
        if (file.endsWith('.json')) continue;
        const before = one.files.get(file) ?? '';
        const gone = missing(before, text).filter((line) => !derived.test(line));
        const come = missing(text, before).filter((line) => !derived.test(line));
        // Where nothing is gone, an entry that was derived from a task or a snapshot has got a row of its own.
        const isMore = gone.length > 1 || (gone.length === 1 && come.length > 1);
        expect(isMore ? { file, path, gone, come } : null).toBeNull();
        const [was = '', is = ''] = [gone[0], come[0]];
        if (!was.startsWith('|') || !is.startsWith('|')) continue;
        seen.add(path);
        const cells = splitRow(was).filter((cell, index) => cell !== splitRow(is)[index]);
        expect({ was, is, cells: cells.length }).toMatchObject({ cells: 1 });
      }
      return true;
    };
    for (const one of samples) for (const path of fields) for (let at = 0; change(one, path, at); ) at++;
    expect([...seen].sort()).toEqual(expect.arrayContaining(['decisions.by', 'decisions.context', 'items.text']));
  });

  it('W4: after any foreign edit of any file, what the folder says is already written', () => {
    fc.assert(
      fc.property(sample, fc.nat(), fc.array(foreignEdits, { minLength: 1, maxLength: 3 }), (one, at, edits) => {
        const files = new Map(one.files);
        const path = [...files.keys()][at % files.size] ?? '';
        files.set(
          path,
          edits.reduce((text, edit) => edit(text), files.get(path) ?? ''),
        );
        const { model, writable } = read(one, files);
        if (model && writable) expect([...written(model, one, files)]).toEqual([]);
      }),
      { numRuns },
    );
  });

  it('W6: a new folder of what was read says it again', () => {
    for (const one of samples) {
      const { model } = read(one, one.files);
      if (!model) throw new Error(`${one.name} cannot be read`);
      const [back, meant] = compared(writtenBack(snap, model), model, [
        ...snap.loses,
        'position',
        'sessions',
        'messages',
      ]);
      expect(back).toEqual(meant);
      const mail = (run: RunModel | null): unknown =>
        run?.messages.map(({ alias, status, subject }) => [alias, status, subject]);
      expect(mail(writtenBack(snap, model))).toEqual(mail(model));
    }
  });

  it('W7: a damaged file is never written over', () => {
    const damage = fc.constantFrom<(text: string, at: number) => string>(
      (text, at) => `${text.slice(0, at)}\u0000${text.slice(at)}`,
      (text) => `<<<<<<< a\n${text}\n=======\n${text}\n>>>>>>> b\n`,
      (text, at) =>
        `${text.slice(0, text.lastIndexOf('\n', at) + 1)}\n\`\`\`\`text\n${text.slice(0, 40).replaceAll('`', '')}`,
      () => '',
    );
    fc.assert(
      fc.property(sample, fc.nat(), fc.nat(), damage, (one, index, at, spoil) => {
        const path = [...one.files.keys()].filter((file) => !file.endsWith('.json'))[index % 2] ?? one.found.main;
        const text = one.files.get(path) ?? '';
        const files = new Map(one.files).set(path, spoil(text, at % (text.length + 1)));
        const { writable } = read(one, files);
        const isSpoilt = !path.endsWith('.yaml') || !writable;
        if (isSpoilt) expect(writable).toBe(false);
        const { model } = read(one, one.files);
        expect(written(grown(model as RunModel), one, files).has(path)).toBe(!isSpoilt);
      }),
      { numRuns },
    );
  });
});

/** Lines of one text that the other lacks. */
function missing(text: string, other: string): string[] {
  const left = new Set(other.split('\n'));
  return text.split('\n').filter((line) => !left.has(line));
}

describe('M6: names', () => {
  /** `Claude Code` in any case, with any separator. */
  const spelling = fc
    .tuple(
      fc.constantFrom('claude', 'Claude', 'CLAUDE'),
      fc.constantFrom('', ' ', '-', '_', '.'),
      fc.constantFrom('code', 'Code', 'CODE'),
    )
    .map((parts) => parts.join(''));

  it('are one in any spelling: the same mail, one row, and the spelling of the file stays', () => {
    const model = grown(pilot.model);
    const [message] = model.messages.slice(-1);
    fc.assert(
      fc.property(spelling, spelling, spelling, (one, other, asked) => {
        const mail = [one, other].map(
          (to, index) => ({ ...message, to, subject: `Look ${index}` }) as RunModel['messages'][number],
        );
        const files = new Map([
          ...pilot.files,
          ...snap.render(
            { ...pilot.model, messages: [...pilot.model.messages, ...mail] },
            pilot.found,
            pilot.files,
            now,
          ),
        ]);
        const text = files.get(`${home}MAILBOX.md`) ?? '';
        const { mail: mailOf } = contractIn({ ...pilot.found, files: [...files.keys()] }, files);
        expect(mailOf(asked)?.unread).toHaveLength(2);
        expect(text.split('\n').filter((line) => /^\| claude[\s._-]?code \| 2 \|/i.test(line))).toHaveLength(1);
        for (const { to } of mail) expect(text).toContain(`-> ${to}\n`);
      }),
      { numRuns },
    );
  });
});

describe('M7: sections that the run model does not have', () => {
  const word = fc.stringMatching(/^[A-Z][a-z]{3,12}$/);
  const section = fc.tuple(
    word,
    fc.array(fc.stringMatching(/^[a-z][a-z |*_.-]{0,40}$/), { minLength: 1, maxLength: 4 }),
  );
  const pages = ['WORKLOG.md', 'MAILBOX.md', 'OPEN_QUESTIONS.md'].map((name) => home + name);

  it('stay byte for byte under any change, and are named with their lines', () => {
    fc.assert(
      fc.property(fc.constantFrom(...pages), fc.nat(), section, (path, at, [title, lines]) => {
        const text = pilot.files.get(path) ?? '';
        const { headings, lines: all } = scanPage(text);
        const starts = headings.filter(({ level }) => level === 2);
        const before = all.slice(0, starts[at % starts.length]?.line);
        const place = before.join('').length;
        const added = `## Lore ${title}\n\n${lines.join('\n')}\n\n`;
        const files = new Map(pilot.files).set(path, text.slice(0, place) + added + text.slice(place));
        const { model, unknown } = snap.parse(pilot.found, files);
        const line = text.slice(0, place).split('\n').length;
        expect(unknown).toContainEqual({ name: `Lore ${title}`, path, line });
        expect(snap.render(model as RunModel, pilot.found, files, now).size).toBe(0);
        const put = snap.render(grown(model as RunModel), pilot.found, files, now);
        expect(put.get(path) ?? files.get(path)).toContain(added);
      }),
      { numRuns },
    );
  });
});

describe('content', () => {
  /** Text that would be a heading, a row, a card, a path or a command if it were not quoted. */
  const hostile = fc.constantFrom(
    '## Session 9',
    '### MSG-20260101-001',
    '**Status:** closed',
    '| a | b |',
    '```\n## Active Messages',
    '---',
    '<!-- hidden',
    '../../etc/passwd',
    '$(touch x)',
    '<<<<<<< HEAD',
    'key: "value"\nrun: |',
  );

  it('W9: never becomes structure or a path outside the folder', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (parts) => {
        const words = parts.join('\n');
        const model: RunModel = {
          ...pilot.model,
          notes: [...pilot.model.notes, { kind: 'worklog', text: words, by: 'ada', at: now }],
          messages: [
            ...pilot.model.messages,
            {
              from: words,
              to: '../ben',
              type: 'notify',
              priority: 'P2',
              status: 'unread',
              subject: words,
              body: words,
              at: now,
            },
          ],
          items: [...pilot.model.items, { kind: 'question', text: words, status: 'open' }],
        };
        const put = snap.render(model, pilot.found, pilot.files, now);
        const files = new Map([...pilot.files, ...put]);
        const back = snap.parse({ ...pilot.found, files: [...files.keys()] }, files);
        expect([...put.keys()].filter((path) => !path.startsWith(home) || path.includes('..'))).toEqual([]);
        expect(back.writable).toBe(true);
        const counts = (one: RunModel | null) => [
          one?.steps.length,
          one?.notes.length,
          one?.messages.length,
          one?.sessions.length,
        ];
        expect(counts(back.model)).toEqual(counts(model));
      }),
      { numRuns },
    );
  });
});
