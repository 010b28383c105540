import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Line, line } from '../../core/line.ts';
import { estimateTokens } from '../../core/tokens.ts';
import {
  decodePath,
  type Entry,
  encodePath,
  renderChatEntry,
  renderSnapshot,
  type Snapshot,
  sectionTitles,
} from './snapshot.ts';
import { parseSnapshot, snapshotsInChat } from './snapshot-reading.ts';

const entry = (id: string, words = 'words', facts: Line | '' = ''): Entry => ({ id, facts, words });

const left: Snapshot = {
  run: 'auth',
  session: 'S-12',
  agent: 'claude',
  sequence: 3,
  timestamp: '2026-11-15T10:41:00.000Z',
  closeReason: 'context-exhausted',
  reconstructed: false,
  endedAt: null,
  branch: 'feature/auth',
  head: '014bb9b2cc2093b19a1ae2b084f63c6aaeae87ff',
  journalVersion: 412,
  task: {
    status: 'partial',
    step: 't2',
    title: 'Rotate tokens',
    checkpoint: 'drafted',
    also: [],
    next: { derived: null, declared: 'wire the router' },
  },
  mail: {
    unread: [entry('M-31', 'Review of rotation', line`from codex, P1`)],
    pendingAcks: [],
    unansweredUnread: [entry('M-29', 'See M-7', line`to codex`)],
    awaitingClose: [entry('M-30'), entry('M-28')],
  },
  commitments: [entry('C-1', 'review the plan', line`to codex`)],
  modified: [
    { path: 'src/refresh.ts', change: line`modified`, note: 'the old store was removed' },
    { path: 'src/old.ts', change: line`deleted`, note: null },
  ],
  reading: [{ path: 'docs/plan.md', lines: 120, tokens: 1100, note: line`read, context` }],
  decisions: [{ ...entry('D-7', 'httpOnly cookie'), reason: 'XSS' }],
  why: 'the tests need a database',
  questions: [{ ...entry('Q-4', 'every use?', line`open`), alias: 'OQ-031' }],
};

describe('a snapshot', () => {
  it('is read back as it was written, without a problem', () => {
    const { text, token, omitted } = renderSnapshot(left);
    expect(omitted).toEqual({});
    const { value, problems } = parseSnapshot(text);
    expect(problems).toEqual([]);
    expect(value).toMatchObject({
      session: 'S-12',
      agent: 'claude',
      run: 'auth',
      branch: 'feature/auth',
      head: left.head,
      journalVersion: 412,
      closeReason: 'context-exhausted',
      token,
      tokenVerdict: 'valid',
      task: { status: 'partial', step: 't2', next: 'wire the router' },
      mail: {
        unread: { count: 1, ids: ['M-31'] },
        pendingAcks: { count: 0, ids: [] },
        unansweredUnread: { count: 1, ids: ['M-29'] },
        awaitingClose: { count: 2, ids: ['M-30', 'M-28'] },
      },
      modified: [
        { path: 'src/refresh.ts', mayBeGone: false },
        { path: 'src/old.ts', mayBeGone: true },
      ],
      reading: [{ path: 'docs/plan.md', lines: 120, tokens: 1100 }],
      questions: ['OQ-031|Q-4'],
    });
    expect(token).toMatch(/^REV-20261115-snapshot-claude-3-h[0-9a-f]{8}$/);
  });

  it('has the same token in a chat file, independent of the text around it', () => {
    const { text, token } = renderSnapshot(left);
    const chat = `# Chat of claude\n\nHello.\n\n${renderChatEntry(text, 'Session 7 closing state')}\n\n\n## Session 8\n\nMore.\n`;
    expect(snapshotsInChat(chat)).toMatchObject([
      { value: { title: 'Session 7 closing state', line: 5, token, tokenVerdict: 'valid' }, problems: [] },
    ]);
    expect(parseSnapshot(chat.replaceAll('\n', '\r\n')).value?.tokenVerdict).toBe('valid');
    expect(parseSnapshot(`\ufeff${text}`).value?.tokenVerdict).toBe('valid');
  });

  it('detects every changed byte', () => {
    const { text } = renderSnapshot(left);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: text.length - 2 }), (at) => {
        const changed = text.slice(0, at) + (text[at] === 'x' ? 'y' : 'x') + text.slice(at + 1);
        return parseSnapshot(changed).value?.tokenVerdict !== 'valid';
      }),
      { numRuns: 2000 },
    );
  });

  it('distinguishes a placeholder, an invented token, a malformed one and none', () => {
    const { text, token } = renderSnapshot(left);
    const verdict = (other: string) => parseSnapshot(text.replace(token, other)).value?.tokenVerdict;
    expect(verdict(`${token.slice(0, -8)}00000000`)).toBe('placeholder');
    expect(verdict(`${token.slice(0, -8)}deadbeef`)).toBe('changed');
    expect(verdict('REV-20261115-snapshot-codex-3-hdeadbeef')).toBe('malformed');
    expect(verdict('REV-20261115-snapshot-claude-03')).toBe('malformed');
    expect(verdict('null')).toBe('missing');
  });

  it('never costs more than 1,500 tokens, and counts what it leaves out', () => {
    const many = Array.from({ length: 3000 }, (_, index) =>
      entry(`C-${index + 1}`, 'a promise with many words '.repeat(40)),
    );
    const { text, omitted } = renderSnapshot({
      ...left,
      task: {
        ...left.task,
        next: { derived: null, declared: 'go on '.repeat(5000) },
        title: 'Title '.repeat(500),
        also: many.map((one) => one.id),
      },
      mail: { unread: many, pendingAcks: many, unansweredUnread: many, awaitingClose: many },
      commitments: many,
      modified: many.map(({ id, words }) => ({
        path: `src/deeply/nested/folder/${id}.ts`,
        change: line`modified`,
        note: words,
      })),
      reading: many.map(({ id }) => ({ path: `src/${id}.ts`, lines: 1, tokens: 1, note: line`read` })),
      decisions: many,
      questions: many,
      why: 'why '.repeat(9000),
    });
    expect(estimateTokens(text)).toBeLessThanOrEqual(1500);
    expect(Object.keys(omitted).sort()).toEqual(
      Object.keys(sectionTitles)
        .filter((name) => name !== 'task')
        .sort(),
    );
    expect(text).toContain(`${omitted.commitments} more, left out for length`);
    const { value, problems } = parseSnapshot(text);
    expect(problems).toEqual([]);
    expect(value).toMatchObject({ tokenVerdict: 'valid', mail: { unread: { count: 3000 } } });
  });

  it('keeps text that looks like markup as text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('#', '`', '\n', '-', ' ', 'a', ':', '<', '"', '~') }), (words) => {
        const { text } = renderSnapshot({
          ...left,
          task: { ...left.task, next: { derived: null, declared: `x${words}` }, title: words },
          why: words,
          decisions: [entry('D-1', words)],
          modified: [{ path: `a${words}`, change: line`modified`, note: words }],
          branch: words,
        });
        const { value, problems } = parseSnapshot(text);
        expect(problems).toEqual([]);
        expect(value).toMatchObject({ tokenVerdict: 'valid', task: { status: 'partial', step: 't2' } });
        expect(value?.modified).toMatchObject([{ path: `a${words}` }]);
        expect(value?.decisions).toHaveLength(2);
      }),
    );
    expect(decodePath(encodePath('100%25 `a`\n'))).toBe('100%25 `a`\n');
  });
});

/** The forms of real snapshots, with other text. */
const fenced = `## Session Close — State Snapshot (Session 4)

\`\`\`yaml
---
session_id: ada-session-4
agent: Ada
timestamp: 2026-02-08
close_reason: maintainer-directed (before the clean-up)
revision: REV-20260208-snapshot-ada-s4-01
---
\`\`\`

### 1. Active Task Status

**Status:** Complete. All three were done.

### Mailbox state

- **Ada unread:** 2
- **Bob unread:** 0
- **Pending acks from Ada:** None.

### Open commitments / carry-forward

1. **Review:** the plan.

### Key files changed this session

- New: BASELINE.md, evals/{a,b}.mjs, docs/archive/ (three of them)
- \`notes/old.md\` — archived

### Files to read on resume (ordered)

1. \`notes/WORKLOG.md\` (status block only, lines 1–11) — ~11 lines / ~2.5K tokens — now
2. notes/boot.md (v8) — orientation (~900 tokens)

### OQs touched

- OQ-029 through OQ-031: resolved.
`;

describe('a snapshot as people write it', () => {
  it('is read from a fence in the middle of a file, under other headings', () => {
    const { value, problems } = parseSnapshot(`# Chat\n\n${fenced}`);
    expect(value).toMatchObject({
      agent: 'Ada',
      session: 'ada-session-4',
      closeReason: 'maintainer-directed',
      tokenVerdict: 'malformed',
      task: { status: 'complete' },
      mail: { unread: { count: 2 }, pendingAcks: { count: 0 } },
      modified: [
        { path: 'BASELINE.md' },
        { path: 'evals/a.mjs' },
        { path: 'evals/b.mjs' },
        { path: 'docs/archive/' },
        { path: 'notes/old.md', mayBeGone: true },
      ],
      reading: [
        { path: 'notes/WORKLOG.md', lines: 11, tokens: 2500 },
        { path: 'notes/boot.md', lines: null, tokens: 900 },
      ],
      questions: ['OQ-029', 'OQ-030', 'OQ-031'],
      decisions: null,
    });
    const codes = problems.map(({ code, line }) => `${code} ${line}`);
    expect(codes).toEqual(
      expect.arrayContaining([
        'close_reason 10',
        'bad_token 11',
        'renamed_heading 15',
        'missing_section 3',
        'status 15',
      ]),
    );
  });

  it('is read from bold labels, from bullets and with other keys', () => {
    const bold = `### Session 9 closing state\n\n\`\`\`yaml\nsession_id: ada-9\nagent: ada\ndate: 2026-02-08\nclose_reason: completed\nrevision_token: REV-20260208-snapshot-ada-9-h00000000\n\`\`\`\n\n**Active task at close:** None.\n\n**Mailbox state:**\n- Unread: 0\n\n**Open questions touched:**\n- OQ-041/042\n`;
    expect(parseSnapshot(bold)).toMatchObject({
      value: {
        timestamp: '2026-02-08',
        tokenVerdict: 'placeholder',
        questions: ['OQ-041', 'OQ-042'],
        task: { status: 'complete' },
      },
      problems: expect.arrayContaining([expect.objectContaining({ code: 'renamed_key', line: 6 })]),
    });
    const bullets =
      '## Session 14 Close Snapshot\n\n- Session: `codex-session-14`\n- Mailbox state: Codex unread `3`; Ada unread `0`.\n- Carry-forward:\n  - Review.\n';
    expect(parseSnapshot(bullets)).toMatchObject({
      value: {
        agent: 'codex',
        session: 'codex-session-14',
        mail: { unread: { count: 3 } },
        commitments: ['Review.'],
        tokenVerdict: 'missing',
      },
      problems: expect.arrayContaining([expect.objectContaining({ code: 'no_front_matter' })]),
    });
    const fields =
      '## Session 13\n**Session:** ada-13\n**Date:** 2026-02-11\n**Close reason:** Maintainer-directed close\n**Turnfile revision:** ~30\n';
    expect(parseSnapshot(fields).value).toMatchObject({
      session: 'ada-13',
      closeReason: 'maintainer-directed',
      journalVersion: null,
    });
  });

  it('is one of several in a chat file; a section that only has the word is not one', () => {
    const { text } = renderSnapshot(left);
    const chat = `${fenced}\n## Inbox Snapshot\n\n| Agent | Unread |\n\n<!--\n${fenced}\n-->\n\n${renderChatEntry(text, 'Session 5 closing state')}`;
    expect(snapshotsInChat(chat).map(({ value }) => value?.session)).toEqual(['ada-session-4', 'S-12']);
    expect(parseSnapshot('# Notes\n\nNothing here.\n')).toMatchObject({
      value: null,
      problems: [{ code: 'no_snapshot' }],
    });
  });

  it('never throws on any text', () => {
    const piece = fc.constantFrom(
      '---\n',
      '```yaml\n',
      '```\n',
      '### Active task\n',
      '## x\n',
      'agent: a\n',
      'close_reason: b\n',
      '- `a` — b\n',
      '**Mailbox state:**',
      'OQ-1–9',
      '\n',
      ' ',
      '"',
      '<!--',
      '{a,',
      '*',
      ':',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => snapshotsInChat(pieces.join('')).length >= 0),
    );
    fc.assert(fc.property(fc.string(), (text) => snapshotsInChat(text).length >= 0));
    for (const part of [
      '---\nagent: a\n',
      '```\n',
      '### \n',
      '<!--\n',
      '- `',
      '**',
      '\n',
      '# x\n- ',
      '{a,{',
      'OQ-1/',
    ]) {
      snapshotsInChat(`---\nagent: a\nclose_reason: b\n---\n### Active task\n${part.repeat(20_000)}`);
    }
  });
});
