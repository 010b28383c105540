import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { scanPage } from '../text/page.ts';
import { contractIn } from './contract-files.ts';
import { fixture, home, now } from './fixture.suite.ts';
import { snap } from './format.ts';

/** More at night: `SNAP_CASES=10000 npx vitest run src/formats/snap/laws.test.ts`. */
const numRuns = Number(process.env['SNAP_CASES'] ?? 200);

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

describe('names', () => {
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

describe('sections that the run model does not have', () => {
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
        const written = snap.render(grown(model as RunModel), pilot.found, files, now);
        expect(written.get(path) ?? files.get(path)).toContain(added);
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

  it('never becomes structure or a path outside the folder', () => {
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
        const written = snap.render(model, pilot.found, pilot.files, now);
        const files = new Map([...pilot.files, ...written]);
        const back = snap.parse({ ...pilot.found, files: [...files.keys()] }, files);
        expect([...written.keys()].filter((path) => !path.startsWith(home) || path.includes('..'))).toEqual([]);
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
