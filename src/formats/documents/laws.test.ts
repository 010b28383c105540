import fc from 'fast-check';
import { expect, it } from 'vitest';
import { line } from '../../core/line.ts';
import { type Attachment, envelopesIn, renderEnvelopes } from './envelope.ts';
import { type Entry, renderChatEntry, renderSnapshot, type Snapshot } from './snapshot.ts';
import { parseSnapshot, snapshotsInChat } from './snapshot-reading.ts';

/**
 * The laws of files, on documents. They are written once and never edited, so the laws of edits and of mirrors (W3 to W6, W8)
 * have no case here. More at night: `LAW_CASES=10000 npx vitest run src/formats`.
 */
const numRuns = Number(process.env['LAW_CASES'] ?? 200);

/** Words that would be structure if they were not quoted. */
const words = fc
  .array(
    fc.constantFrom(
      ...['plain words', '## Active task', '---', '```', 'OQ-9', 'M-9', '- Unread (7):', '"', '`', '<!--', '-->', '|'],
      ...['**Status:** complete', 'REV-20260101-snapshot-x-1-h00000000', '\n', '\r\n', '$(touch x)', '../../x', 'é'],
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join(' '));
const entriesOf = (prefix: string) =>
  fc
    .array(words, { maxLength: 3 })
    .map((all): Entry[] => all.map((said, index) => ({ id: `${prefix}-${index + 1}`, facts: '', words: said })));
const mail = entriesOf('M');
const snapshot: fc.Arbitrary<Snapshot> = fc.record({
  run: words,
  session: fc.constantFrom('S-1', 'S-12'),
  agent: fc.constantFrom('claude', 'codex'),
  sequence: fc.integer({ min: 1, max: 999 }),
  timestamp: fc.constant('2026-11-15T10:41:00.000Z'),
  closeReason: fc.constantFrom('completed', 'timeout', null),
  reconstructed: fc.boolean(),
  endedAt: fc.constantFrom(null, '2026-11-15T10:00:00.000Z'),
  branch: fc.option(words),
  head: fc.constantFrom(null, '014bb9b2cc2093b19a1ae2b084f63c6aaeae87ff'),
  journalVersion: fc.nat(9999),
  task: fc.record({
    status: fc.constantFrom('complete' as const, 'partial' as const, 'blocked' as const),
    step: fc.constantFrom(null, 't1', '2.1'),
    title: fc.option(words),
    checkpoint: fc.option(words),
    also: fc.constant([]),
    next: words.map((declared) => ({ derived: null, declared: `go on ${declared}` })),
  }),
  mail: fc.record({ unread: mail, pendingAcks: mail, unansweredUnread: mail, awaitingClose: mail }),
  commitments: entriesOf('C'),
  modified: fc
    .array(words, { maxLength: 3 })
    .map((all) => all.map((path) => ({ path: `a${path}`, change: line`modified`, note: path }))),
  reading: fc
    .array(words, { maxLength: 3 })
    .map((all) => all.map((path) => ({ path: `a${path}`, lines: 3, tokens: 40, note: line`read` }))),
  decisions: entriesOf('D'),
  why: fc.option(words),
  questions: entriesOf('Q').map((all) => all.map((one) => ({ ...one, facts: line`open` }))),
});

const spellings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => `\ufeff${text}`,
  (text) => `${text}\n\n\n`,
  (text) => `# Chat\n\n${renderChatEntry(text, 'Session 1 closing state')}\n## Session 2\n\nMore.\n`,
];

it('W1, W2, W9: a snapshot says what it was made of, whatever the words are and however it is spelled', () => {
  fc.assert(
    fc.property(snapshot, fc.constantFrom(...spellings), (given, spell) => {
      const { text, token, omitted } = renderSnapshot(given, 100_000);
      const { value, problems } = parseSnapshot(spell(text));
      const count = (ids: readonly Entry[]) => ({ count: ids.length, ids: ids.map(({ id }) => id) });
      expect([omitted, problems]).toEqual([{}, []]);
      expect(value).toMatchObject({
        ...{ token, tokenVerdict: 'valid', session: given.session, agent: given.agent, timestamp: given.timestamp },
        ...{ closeReason: given.closeReason, sessionOpen: given.closeReason === null, head: given.head },
        ...{ reconstructed: given.reconstructed, endedAt: given.endedAt, journalVersion: given.journalVersion },
        task: { status: given.task.status, step: given.task.step },
        mail: {
          unread: count(given.mail.unread),
          pendingAcks: count(given.mail.pendingAcks),
          unansweredUnread: count(given.mail.unansweredUnread),
          awaitingClose: count(given.mail.awaitingClose),
        },
        modified: given.modified.map(({ path }) => ({ path, mayBeGone: false })),
        reading: given.reading.map(({ path }) => ({ path, lines: 3, tokens: 40 })),
        questions: given.questions.map(({ id }) => id),
      });
      expect(value?.commitments).toHaveLength(given.commitments.length);
      expect(value?.decisions).toHaveLength(given.decisions.length + (given.why === null ? 0 : 1));
      expect(snapshotsInChat(spell(text))).toHaveLength(1);
    }),
    { numRuns },
  );
});

it('W7: a snapshot with any line removed, doubled or changed is not valid', () => {
  fc.assert(
    fc.property(snapshot, fc.nat(), fc.constantFrom('remove', 'double', 'change'), (given, at, how) => {
      const lines = renderSnapshot(given).text.trimEnd().split('\n');
      // The first line only opens the front matter.
      const index = 1 + (at % (lines.length - 1));
      const line = lines[index] ?? '';
      lines.splice(index, 1, ...(how === 'remove' ? [] : how === 'double' ? [line, line] : [`${line}x`]));
      expect(snapshotsInChat(lines.join('\n')).map(({ value }) => value?.tokenVerdict)).not.toContain('valid');
    }),
    { numRuns },
  );
});

it('W1, W2, W7: an envelope gives its content back, and no other is valid', () => {
  const attachment: Omit<Attachment, 'content'> = {
    ...{ date: '20260208', topic: 'router-review', sequence: 2, format: 'full-text', reviewScope: 'full' },
    ...{ ask: 'fyi', files: ['src/router.ts'] },
  };
  fc.assert(
    fc.property(words, fc.nat(), fc.constantFrom('\n', '\r\n'), (content, at, eol) => {
      const [text = ''] = renderEnvelopes({ ...attachment, content });
      const meant = `${content.replaceAll('\r\n', '\n').replace(/\n$/, '')}\n`;
      expect(envelopesIn(text.replaceAll('\n', eol))).toMatchObject([{ verdict: 'valid', content: meant }]);
      const place = text.indexOf(meant) + (at % meant.length);
      const other = text[place] === 'x' ? 'y' : 'x';
      const changed = `${text.slice(0, place)}${other}${text.slice(place + 1)}`;
      expect(envelopesIn(changed).map(({ verdict }) => verdict)).not.toContain('valid');
    }),
    { numRuns },
  );
});
