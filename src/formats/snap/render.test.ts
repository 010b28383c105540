import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Account, emptyAccount, type AccountMessage as Message } from '../../core/account.ts';
import type { Files, Found } from '../format.ts';
import { nextAlias } from './alias.ts';
import { contractIn } from './contract-files.ts';
import { snap } from './format.ts';
import { renderSnapshot } from './snapshot.ts';
import { parseSnapshot } from './snapshot-reading.ts';

const now = '2026-03-04T05:06:07.000Z';
const home = 'working-session/';

function fixture(name: string): { found: Found; files: Files; account: Account } {
  const folder = new URL(`../../../test/fixtures/snap/${name}/`, import.meta.url);
  const files = new Map(
    readdirSync(folder)
      .sort()
      .map((file) => [home + file, readFileSync(new URL(file, folder), 'utf8')]),
  );
  const [found] = snap.detect({ paths: [...files.keys()], read: (path) => files.get(path) ?? null });
  const { account } = snap.parse(found as Found, files);
  return { found: found as Found, files, account: account as Account };
}

/** Renders a changed account over its files and reads them back. */
function write(name: string, change: (account: Account) => Account) {
  const { found, files, account } = fixture(name);
  const wanted = change(account);
  const written = snap.render(wanted, found, files, now);
  const all = new Map([...files, ...written]);
  const place = { ...found, files: [...all.keys()] };
  const back = snap.parse(place, all);
  expect([...snap.render(wanted, place, all, now).values()]).toEqual([]);
  const known = new Set(snap.parse(found, files).problems.map((problem) => problem.code));
  expect(back.problems.filter((problem) => problem.level === 'error' && !known.has(problem.code))).toEqual([]);
  const text = (file: string): string => all.get(home + file) ?? '';
  const lost = (file: string): string[] => {
    const after = new Set(text(file).split('\n'));
    return (files.get(home + file) ?? '').split('\n').filter((line) => !after.has(line));
  };
  return { account: back.account as Account, problems: back.problems, written, text, lost, wanted, all, place };
}

const step = (account: Account, key: string) => account.steps.find((one) => one.key === key);

describe('TURNFILE.yaml', () => {
  it('completes a task and leaves every other line', () => {
    const { account, lost, text } = write('pilot', (one) => ({
      ...one,
      steps: one.steps.map((task) => (task.key === 'tide-reader' ? { ...task, status: 'completed' } : task)),
    }));
    expect(step(account, 'tide-reader')?.status).toBe('completed');
    expect(lost('TURNFILE.yaml')).toEqual([
      '# Last modified revision: 12',
      '    current_task: "tide-reader"  # picked up after the review',
      '  revision: 12',
      '      status: "in_progress"',
    ]);
    expect(text('TURNFILE.yaml')).toContain('completed_rev: 13\n      notes: |\n        Two ports read.');
    expect(text('TURNFILE.yaml')).toContain('# Last modified revision: 13\n');
  });

  it('adds a task, a lock and an agent in the style of the file', () => {
    const { account, lost, text } = write('pilot', (one) => ({
      ...one,
      steps: [
        ...one.steps,
        { key: 'tide-chart', title: 'Draw: "a chart"', kind: 'task', status: 'pending', after: ['tide-model'] },
      ],
      claims: [...one.claims, { agent: 'bo', files: ['src/a.ts', 'src/b.ts'], reason: 'Together' }],
      sessions: [...one.sessions, { alias: 'S-9', agent: 'Cy', status: 'active' }],
    }));
    expect(step(account, 'tide-chart')).toMatchObject({ title: 'Draw: "a chart"', after: ['tide-model'] });
    expect(account.claims.map((claim) => claim.alias)).toEqual(['worklog-edit', 'bo-1']);
    expect(account.sessions.find((session) => session.agent === 'Cy')).toMatchObject({
      alias: 'S-9',
      status: 'active',
    });
    expect(lost('TURNFILE.yaml')).toEqual(['# Last modified revision: 12', '# Modified by: ada', '  revision: 12']);
    expect(text('TURNFILE.yaml')).toContain('\n\n    tide-chart:\n      description: "Draw: \\"a chart\\""\n');
  });

  it('fills sections that are empty braces, and empties them again', () => {
    const { text, account } = write('second', (one) => ({
      ...one,
      claims: [{ alias: 'x', agent: 'ada', files: ['a.md'], reason: 'r' }],
    }));
    expect(text('TURNFILE.yaml')).toContain('locks:\n  x:\n    files: ["a.md"]\n    holder: "ada"\n');
    expect(account.claims).toHaveLength(1);
    const none = write('pilot', (one) => ({ ...one, claims: [] }));
    expect(none.text('TURNFILE.yaml')).toContain('\nlocks: {}\n');
    expect(none.account.claims).toEqual([]);
  });

  it('removes a task that the plan no longer has', () => {
    const { account, text } = write('pilot', (one) => ({
      ...one,
      steps: one.steps.filter((task) => task.key !== 'tide-writer'),
      items: one.items.filter((item) => item.kind !== 'blocker'),
    }));
    expect(account.steps.map((task) => task.key)).toEqual(['tide-model', 'tide-reader']);
    expect(text('TURNFILE.yaml')).toContain('The third has another clock.\n\nlocks:');
  });

  it('keeps the words of a task when a failure is told with them', () => {
    const { account } = write('pilot', (one) => ({
      ...one,
      steps: one.steps.map((task) =>
        task.key === 'tide-reader' ? { ...task, status: 'failed', reason: 'No clock' } : task,
      ),
    }));
    expect(step(account, 'tide-reader')).toMatchObject({
      status: 'failed',
      reason: 'No clock',
      summary: 'Two ports read.\nThe third has another clock.',
    });
  });

  it('unblocks a task when its blocker is settled', () => {
    const { account, text } = write('pilot', (one) => ({
      ...one,
      items: one.items.map((item) => (item.kind === 'blocker' ? { ...item, status: 'resolved' } : item)),
    }));
    expect(account.items.some((item) => item.kind === 'blocker' && item.status === 'active')).toBe(false);
    expect(text('TURNFILE.yaml')).not.toContain('"blocked"');
  });

  it('keeps signals, turn queue, availability and priorities when it is made anew', () => {
    const { account } = fixture('pilot');
    const files = snap.render(account, snap.home(account), new Map(), now);
    const text = files.get(`${home}TURNFILE.yaml`) ?? '';
    for (const words of [
      'id: "SIG-002"',
      'action: "review"',
      'status: "away"',
      'priority: "P0"',
      'completed_rev: 6',
      'active_step: "P2-B"',
    ])
      expect(text).toContain(words);
    expect(text).toContain('  revision: 13\n');
    const back = snap.parse({ ...snap.home(account), files: [...files.keys()] }, files).account as Account;
    expect(back.steps).toEqual(account.steps);
    expect(back.messages.length).toBe(account.messages.length);
  });

  it('names a duplicate key with its line and is not written', () => {
    const { found, files } = fixture('duplicate');
    const { problems, writable } = snap.parse(found, files);
    expect(problems.find((problem) => problem.code === 'duplicate_key')).toMatchObject({ level: 'error', line: 58 });
    expect(writable).toBe(false);
  });

  it('tells what the lint of the format tells', () => {
    const { found, files } = fixture('pilot');
    const codes = (change: (text: string) => string): string[] => {
      const text = change(files.get(found.main) ?? '');
      return snap.parse(found, new Map(files).set(found.main, text)).problems.map((problem) => problem.code);
    };
    expect(codes((text) => text.replace('current_task: "tide-reader"', 'current_task: "nowhere"'))).toContain(
      'unknown_task',
    );
    expect(codes((text) => text.replace('- "tide-model"', '- "gone"'))).toContain('unknown_dependency');
    expect(codes((text) => text.replace('completed_rev: 6', 'completed_rev: 1'))).toContain('revision_order');
    expect(codes((text) => text.replace('completed_rev: 6', 'completed_rev: null'))).toContain('no_completed_rev');
    expect(codes((text) => text.replace('id: "SIG-002"', 'id: "SIG-001"'))).toContain('duplicate_signal');
    expect(codes((text) => text.replace('rev: 9', 'rev: 99'))).toContain('signal_revision');
    expect(codes((text) => text.replace('holder: "ada"', 'holder: "zoe"'))).toContain('unknown_holder');
    expect(codes((text) => text.replace('acquired_rev: 11', 'acquired_rev: 3'))).toContain('stale_lock');
    expect(codes((text) => text.replace('revision: 12\n# Mod', 'revision: 11\n# Mod'))).toContain('header_revision');
    expect(codes((text) => text.replace('status: "done"', 'status: "finished"'))).toContain('unknown_status');
    expect(codes((text) => text.replace('"0.1.0"', '"2.0.0"'))).toContain('newer_version');
  });
});

describe('MAILBOX.md', () => {
  it('reads cards and not what a payload quotes', () => {
    const { account } = fixture('pilot');
    expect(account.messages.map((message) => [message.alias, message.status])).toEqual([
      ['MSG-20260201-001', 'closed'],
      ['MSG-20260202-002', 'closed'],
      ['MSG-20260203-003', 'actioned'],
      ['MSG-20260203-004', 'unread'],
    ]);
    expect(account.messages[2]).toMatchObject({
      acks: [
        { by: 'Ada', at: '2026-02-03', note: 'Taken as they are.' },
        { by: 'Bo', at: '2026-02-03', note: 'Good.' },
      ],
      replies: [{ from: 'Ada', body: 'One question remains:\nwhich epoch?' }],
      body: '**Context:** The model is final.',
    });
  });

  it('names what does not agree, with its line', () => {
    const { found, files } = fixture('pilot');
    const told = snap.parse(found, files).problems.map(({ code, line }) => `${code}:${line}`);
    expect(told).toEqual(
      expect.arrayContaining([
        'inbox_count:17',
        'unknown_status:83',
        'active_and_closed:77',
        'not_queued:56',
        'split_table:96',
      ]),
    );
  });

  it('holds the payload of a card against its token, in both forms of an envelope', () => {
    const { found, files } = fixture('pilot');
    const codes = (token: string, bullet: string): string[] => {
      const envelope = `${bullet}Revision: REV-20260203-clock-01-h${token}\n${bullet}Ask: fyi\n\n\`\`\`text\nTick\n\`\`\`\n`;
      const text = (files.get(`${home}MAILBOX.md`) ?? '').replace('Please look at the payload.\n', envelope);
      const { problems } = snap.parse(found, new Map(files).set(`${home}MAILBOX.md`, text));
      return problems
        .map((problem) => problem.code)
        .filter((code) => code.includes('token_') || code.includes('_token'));
    };
    const right = createHash('sha256').update('Tick\n').digest('hex').slice(0, 8);
    expect(codes(right, '')).toEqual(['bad_token']);
    expect(codes(right, '- ')).toEqual(['bad_token']);
    expect(codes('0c33aebb', '- ')).toEqual(['token_changed', 'bad_token']);
    expect(codes('00000000', '')).toEqual(['placeholder_token', 'bad_token']);
  });

  it('finds the payload that was accepted unread among those that are right', () => {
    const { found, files } = fixture('payloads');
    const told = snap.parse(found, files).problems.map(({ code, line }) => `${code}:${line}`);
    expect(told.filter((one) => one.includes('token'))).toEqual(['token_changed:40']);
  });

  it('leaves what stands in a fence as it is, whatever it holds and whatever stands before it', () => {
    const payload = '````text\n# Title\n<!-- open\n```\n---\n**Ack:** x | y | z\n````';
    const body = `<!-- said\n# Heading\n-->\n~~~\nnobody closes this\n\n${payload}\n\n\t\`\`\`js`;
    const { account, text, problems } = write('pilot', (one) => ({
      ...one,
      messages: [...one.messages, { ...(one.messages.at(-1) as Message), alias: 'MSG-20260204-001', body }],
    }));
    expect(text('MAILBOX.md')).toContain(`\n${payload}\n`);
    expect(account.messages.find((one) => one.alias === 'MSG-20260204-001')?.body).toBe(body);
    expect(problems.filter((one) => one.level === 'error')).toEqual([]);
  });

  it('is not spoiled by the marks of a merge that somebody wrote about', () => {
    const marks = '<<<<<<< HEAD\none\n=======\nother\n>>>>>>> theirs';
    for (const body of [marks, `Look:\n\n\`\`\`\n${marks}\n\`\`\`\n\n\`\`\`\n# kept\n\`\`\``]) {
      const { account, text } = write('pilot', (one) => ({
        ...one,
        messages: [...one.messages, { ...(one.messages.at(-1) as Message), alias: 'MSG-20260204-001', body }],
      }));
      expect(account.messages.find((one) => one.alias === 'MSG-20260204-001')?.body).toBe(body);
      expect(text('MAILBOX.md').includes('\n```\n# kept\n```')).toBe(body !== marks);
    }
  });

  it('acknowledges a message where it stands and puts the tables right', () => {
    const { text, lost, problems } = write('pilot', (one) => ({
      ...one,
      messages: one.messages.map((message) =>
        message.alias === 'MSG-20260203-004'
          ? {
              ...message,
              status: 'acknowledged',
              acks: [{ by: 'Bo', at: '2026-02-04', to: 'acknowledged', note: 'On it' }],
            }
          : message,
      ),
    }));
    expect(lost('MAILBOX.md')).toEqual(['| Bo | 2 | MSG-20260203-004 | next session |', '**Status:** unread']);
    expect(text('MAILBOX.md')).toContain('\n\n**Ack:** Bo | 2026-02-04 | acknowledged: On it\n\nPlease look');
    const codes = problems.map((problem) => problem.code);
    expect(codes).not.toContain('inbox_count');
    expect(codes).not.toContain('not_queued');
  });

  it('moves a message that is closed to the archive', () => {
    const { text, account, all } = write('pilot', (one) => ({
      ...one,
      messages: one.messages.map((message) =>
        message.alias === 'MSG-20260203-004'
          ? {
              ...message,
              status: 'closed',
              disposition: 'resolved',
              acks: [{ by: 'Ada', at: '2026-02-05', to: 'closed', note: 'Done' }],
            }
          : message,
      ),
    }));
    expect(text('MAILBOX.md')).not.toContain('### MSG-20260203-004');
    expect(text('MAILBOX.md')).toContain('| MSG-20260203-004 | 2026-02-03 | Ada -> Bo | closed (resolved) | Done |');
    expect(text('MAILBOX_ARCHIVE.md')).toContain('**Review scope:** full');
    expect(text('MAILBOX_ARCHIVE.md')).toContain('### MSG-20260203-099');
    expect(account.messages.at(-1)).toMatchObject({
      alias: 'MSG-20260203-004',
      status: 'closed',
      body: expect.stringContaining('## Not a section'),
    });
    expect(nextAlias(all, 'message', '2026-02-03')).toBe('MSG-20260203-100');
  });

  it('posts a new message first, under the next id', () => {
    const { text, account } = write('pilot', (one) => ({
      ...one,
      messages: [
        ...one.messages,
        {
          id: 'M-7',
          from: 'Bo',
          to: 'Ada',
          type: 'notify',
          priority: 'P2',
          status: 'unread',
          subject: 'Hello',
          body: '### MSG-1\n\n```\nopen',
          at: '2026-02-05T10:00:00Z',
        },
      ],
    }));
    expect(account.messages.at(-1)).toMatchObject({ alias: 'MSG-20260205-001', body: '### MSG-1\n\n```\nopen' });
    expect(text('MAILBOX.md').indexOf('### MSG-20260205-001')).toBeLessThan(
      text('MAILBOX.md').indexOf('### MSG-20260203-004'),
    );
    expect(text('MAILBOX.md')).toContain('| Ada | 1 | MSG-20260205-001 | none |');
  });

  it('does not take a comment behind a card for its words', () => {
    const { account } = write('template', (one) => ({
      ...one,
      messages: [
        {
          from: 'ada',
          to: 'bo',
          type: 'notify',
          priority: 'P2',
          status: 'unread',
          subject: 'Hi',
          body: 'There',
          at: '2026-02-05',
        },
      ],
    }));
    expect(account.messages).toMatchObject([{ alias: 'MSG-20260205-001', body: 'There' }]);
  });

  it('changes a card in the old form as a table', () => {
    const { text, lost } = write('plain', (one) => ({
      ...one,
      messages: one.messages.map((message) => ({ ...message, status: 'acknowledged' as const })),
    }));
    expect(text('MAILBOX.md')).toContain('| Status | acknowledged |');
    expect(lost('MAILBOX.md')).toEqual(['| Bo | 1 | MSG-20260301-001 | none |', '| Status | unread |']);
  });
});

describe('OPEN_QUESTIONS.md', () => {
  it('moves a question to where its state belongs and counts again', () => {
    const { text, account } = write('pilot', (one) => ({
      ...one,
      items: one.items.map((item) =>
        item.alias === 'OQ-003' ? { ...item, status: 'deferred', resolution: 'After the audit' } : item,
      ),
    }));
    expect(text('OPEN_QUESTIONS.md')).toContain(
      '| OQ-003 | PRD-002 #1, PRD-004 | Which epoch? | deferred | After the audit |',
    );
    expect(text('OPEN_QUESTIONS.md')).toContain('(0 active, 1 deferred, 1 resolved.)');
    expect(text('OPEN_QUESTIONS.md')).not.toContain('*No deferred');
    expect(account.items.find((item) => item.alias === 'OQ-003')?.status).toBe('deferred');
  });

  it('finds columns by their names and writes into those that are there', () => {
    const { account } = fixture('second');
    expect(account.items[0]).toMatchObject({ alias: 'OQ-001', by: 'Ada', raisedAt: '2026-06-12', step: 'run' });
    expect(account.items[2]).toMatchObject({ alias: 'OQ-D01', status: 'deferred', resolution: 'After the first run' });
    const { text } = write('second', (one) => ({
      ...one,
      items: [...one.items, { kind: 'question', text: 'New?', status: 'open' }],
    }));
    expect(text('OPEN_QUESTIONS.md')).toContain('| OQ-003 | New? | — | — | — |');
  });
});

describe('WORKLOG.md', () => {
  it('tells a note, a session that ended and who is working now', () => {
    const { text, account, lost } = write('pilot', (one) => ({
      ...one,
      sessions: one.sessions.map((session) =>
        session.alias === 'ada-session-3'
          ? { ...session, status: 'context-exhausted', endedAt: '2026-02-04T12:00:00Z', completed: ['two ports'] }
          : session,
      ),
      notes: [...one.notes, { kind: 'worklog', text: 'Read the manual', by: 'Ada', at: '2026-02-04' }],
      next: 'Read the third port first.',
    }));
    expect(lost('WORKLOG.md')).toEqual([
      'Now Working (Ada): tide-reader, third port.',
      'Next Review Checkpoint: Read the third port with its own clock.',
    ]);
    expect(text('WORKLOG.md')).toContain(
      '2026-02-04T12:00:00Z — ada (ada-session-3, context-exhausted): finished two ports',
    );
    expect(account.sessions.find((session) => session.alias === 'ada-session-3')?.status).toBe('context-exhausted');
    expect(account.notes.at(-1)?.text).toBe('Read the manual');
    expect(account.next).toBe('Read the third port first.');
  });

  it('puts what is new of one session under one heading, and a gap before every heading', () => {
    const account: Account = {
      ...emptyAccount('Tides'),
      items: [{ kind: 'commitment', text: 'Send the table', status: 'open', by: 'Ada' }],
      notes: [{ kind: 'worklog', text: 'Looked', by: 'Ada', at: '2026-03-04T05:00:00Z' }],
      sessions: [{ alias: 'S-1', agent: 'Ada', status: 'completed', endedAt: '2026-03-04T05:06:00Z' }],
    };
    const text = snap.render(account, snap.home(account), new Map(), now).get(`${home}WORKLOG.md`) ?? '';
    expect(text.match(/^## Session 1\b/gm)).toHaveLength(1);
    expect(text).toMatch(/Looked\n\n### Ada: session ended/);
    expect(text.match(/[^\n]\n#{2,3} /g)).toBeNull();
  });

  it('follows the work to the task that is under way, not to the phase above it', () => {
    const account: Account = {
      ...emptyAccount('Tides'),
      steps: [
        { key: 'p1', title: 'Model', kind: 'phase', status: 'in_progress' },
        { key: 'r1', title: 'Read', kind: 'task', parent: 'p1', status: 'in_progress' },
      ],
    };
    const text = snap.render(account, snap.home(account), new Map(), now).get(`${home}TURNFILE.yaml`) ?? '';
    expect(text).toContain('active_step: "r1"');
  });

  it('logs the session that another one of the same agent takes the place of', () => {
    const { account, text } = write('second', (one) => ({
      ...one,
      sessions: [...one.sessions, { alias: 'S-5', agent: 'ada', status: 'active' }],
    }));
    expect(account.sessions.map((session) => session.alias)).toEqual(['ada-session-0', 'S-5']);
    expect(text('TURNFILE.yaml')).toContain('session_id: "S-5"');
  });

  it('keeps bars, backslashes and line feeds of a decision', () => {
    const decision = 'a\\|b | c\nd <br> \\';
    const { account } = write('pilot', (one) => ({
      ...one,
      decisions: [...one.decisions, { decision, at: '2026-02-09' }],
    }));
    expect(account.decisions.map((one) => one.decision)).toContain(decision);
  });

  it('takes erased words out', () => {
    const { text } = write('pilot', (one) => ({
      ...one,
      notes: one.notes.map((note) => ({ ...note, text: '[erased]' })),
      decisions: one.decisions.map((decision) => ({ ...decision, decision: '[erased]' })),
    }));
    expect(text('WORKLOG.md')).not.toContain('The model is done');
    expect(text('WORKLOG.md')).not.toContain('Harmonic terms');
  });
});

const snapshot = renderSnapshot({
  run: 'rotate',
  session: 'S-2',
  agent: 'ada',
  sequence: 1,
  timestamp: '2026-03-04T05:00:00.000Z',
  closeReason: 'context-exhausted',
  reconstructed: false,
  endedAt: null,
  branch: 'main',
  head: 'abc1234',
  journalVersion: 9,
  task: { status: 'partial', step: 'p2', title: 'Rotate', checkpoint: null, also: [], next: 'Run the clock test' },
  mail: {
    unread: [{ id: 'MSG-20260304-001', facts: 'from bo', words: 'Mind the skew' }],
    pendingAcks: [],
    unansweredUnread: [],
    awaitingClose: [],
  },
  commitments: [],
  modified: [],
  reading: [],
  decisions: [],
  why: null,
  questions: [],
});

function closed(): Account {
  return {
    ...emptyAccount('Rotate the tokens'),
    steps: [
      { key: 'p1', title: 'Read', kind: 'task', status: 'completed', agents: ['bo'] },
      { key: 'p2', title: 'Rotate', kind: 'task', status: 'in_progress', agents: ['ada'], after: ['p1'] },
    ],
    sessions: [
      { id: 'S-1', agent: 'bo', status: 'active', workingOn: 'p1' },
      { id: 'S-2', agent: 'ada', status: 'context-exhausted', endedAt: '2026-03-04T05:00:00.000Z', workingOn: 'p2' },
    ],
    messages: [
      {
        alias: 'MSG-20260304-001',
        from: 'bo',
        to: 'ada',
        type: 'request',
        priority: 'P1',
        status: 'unread',
        subject: 'Mind the skew',
        body: 'Clocks differ by a minute.',
        at: '2026-03-04',
      },
    ],
    next: 'Run the clock test',
    kept: { snapshots: [{ agent: 'ada', sequence: 1, session: 'S-2', sessionNumber: 2, text: snapshot.text }] },
  };
}

describe('chat files', () => {
  it('get each closing snapshot once, as their last entry, under its number and with the same token', () => {
    const account = closed();
    const files = snap.render(account, snap.home(account), new Map(), now);
    const chat = files.get(`${home}chat-ada.md`) ?? '';
    expect(chat).toContain('## Session 2 closing state\n\n```yaml\nsession_id:');
    expect(parseSnapshot(chat).value).toMatchObject({ token: snapshot.token, tokenVerdict: 'valid' });
    const place = { ...snap.home(account), files: [...files.keys()] };
    expect(snap.render(account, place, files, now).size).toBe(0);
    expect(files.get(`${home}WORKLOG.md`)).toContain(
      'Full resumption snapshot: working-session/chat-ada.md § Session 2 closing state.',
    );
  });

  it('are held to the same facts as the files beside them', () => {
    const account = closed();
    const files = snap.render(account, snap.home(account), new Map(), now);
    const contract = contractIn({ ...snap.home(account), files: [...files.keys()] }, files);
    expect(contract.mail('Ada')).toMatchObject({ unread: ['MSG-20260304-001'], awaitingClose: [] });
    expect(contract.mail('bo')).toMatchObject({ unansweredUnread: ['MSG-20260304-001'] });
    expect(contract.tasks('ada')[0]).toMatchObject({ source: 'TURNFILE.yaml' });
  });
});

describe('MAILBOX.json', () => {
  const close = (one: Account): Account => ({
    ...one,
    messages: one.messages.map((message) =>
      message.alias === 'MSG-20260203-003'
        ? { ...message, status: 'closed', acks: [{ by: 'Bo', at: '2026-02-04', note: 'Merged' }] }
        : message,
    ),
  });

  it('is made anew with the mailbox it stands beside, and with no other write', () => {
    const { text, written } = write('payloads', close);
    const read = JSON.parse(text('MAILBOX.json'));
    expect(read).toMatchObject({
      generated_at: now,
      source_file: 'working-session/MAILBOX.md',
      format_version: 'mailbox-compact-v1',
      metadata: { date_initialized: '2026-02-03', full_history: '`working-session/MAILBOX_ARCHIVE.md`' },
      inbox_snapshot: [{ agent: 'Ada', unread: 0, oldest_unread: 'none', needs_response_by: 'none' }, {}, {}],
      closed_summary: [{ id: 'MSG-20260203-003', from_to: 'Bo -> Ada', outcome: 'Merged', due: '' }],
      written_by: 'exporter',
    });
    expect(Object.keys(read).at(-1)).toBe('written_by');
    expect(read.open_queue.map((row: { id: string }) => row.id)).toEqual([
      'MSG-20260203-004',
      'MSG-20260203-002',
      'MSG-20260203-001',
    ]);
    expect(read.active_messages[0]).toMatchObject({
      id: 'MSG-20260203-004',
      fields: { from: 'Bo -> Ada', status: 'actioned', closure_owner: 'Bo' },
      summary: [expect.stringContaining('## What changes')],
      ack: [expect.stringContaining('Ada | 2026-02-03 | **Apply.**')],
      reply: [],
    });
    expect([...written.keys()]).toContain(`${home}MAILBOX.json`);
    const { written: other } = write('payloads', (one) => ({
      ...one,
      items: [...one.items, { kind: 'question', text: 'Which epoch?', status: 'open' }],
    }));
    expect([...other.keys()]).not.toContain(`${home}MAILBOX.json`);
  });

  it('is not made where nobody keeps one, and a damaged one is made whole', () => {
    const { found, files, account } = fixture('payloads');
    const without = new Map([...files].filter(([path]) => !path.endsWith('.json')));
    const place = { ...found, files: [...without.keys()] };
    expect([...snap.render(close(account), place, without, now).keys()]).not.toContain(`${home}MAILBOX.json`);
    const damaged = new Map(files).set(`${home}MAILBOX.json`, '{"generated_at": ');
    const made = snap.render(close(account), found, damaged, now).get(`${home}MAILBOX.json`) ?? '';
    expect(JSON.parse(made)).toMatchObject({
      source_file: 'working-session/MAILBOX.md',
      active_messages: [{}, {}, {}],
    });
  });
});

describe('a reader without the tool', () => {
  it('starts work within four reads: snapshot, Turnfile, status lines, unread mail', () => {
    const account = closed();
    const files = snap.render(account, snap.home(account), new Map(), now);
    let reads = 0;
    const read = (file: string): string => {
      reads++;
      return files.get(home + file) ?? '';
    };
    const chat = read('chat-ada.md');
    const last = chat.slice(chat.lastIndexOf('\n## Session '));
    const next = /- Next action: (.*)/.exec(last)?.[1];
    const task = /- Task: (\S+),/.exec(last)?.[1];
    const turnfile = read('TURNFILE.yaml');
    const entry = turnfile
      .slice(turnfile.indexOf(`    ${task}:`))
      .split('\n')
      .slice(0, 12)
      .join('\n');
    const status = read('WORKLOG.md').split('\n').slice(0, 10);
    const mailbox = read('MAILBOX.md');
    const row = mailbox
      .split('\n')
      .find((line) => line.startsWith('| ada |'))
      ?.split('|')
      .map((cell) => cell.trim());
    const card = mailbox.slice(mailbox.indexOf(`### ${row?.[3]}`));
    expect(reads).toBe(4);
    expect(next).toContain('Run the clock test');
    expect(task).toBe('p2');
    expect(entry).toContain('description: "Rotate"');
    expect(entry).toContain('status: "in_progress"');
    expect(entry).toContain('depends_on: ["p1"]');
    expect(status.find((line) => line.startsWith('Now Working (bo):'))).toContain('S-1');
    expect(status.find((line) => line.startsWith('Next Review Checkpoint:'))).toContain('Run the clock test');
    expect(row?.[2]).toBe('1');
    expect(card).toContain('**Subject:** Mind the skew');
    expect(card).toContain('Clocks differ by a minute.');
  });
});

describe('salvage', () => {
  it('puts a run together from a torn Turnfile, the chats and the worklog', () => {
    const { found, files } = fixture('pilot');
    const torn = new Map(files).set(found.main, `${(files.get(found.main) ?? '').slice(0, 1340)}\n<<<<<<< HEAD\n`);
    const salvaged = snap.salvage(found, { paths: [...torn.keys()], read: (path) => torn.get(path) ?? null });
    expect(salvaged?.account.steps).toMatchObject([
      { key: 'tide-model', status: 'completed' },
      { key: 'tide-reader', status: 'in_progress', agents: ['ada'] },
    ]);
    expect(salvaged?.account.decisions.length).toBe(3);
    expect(salvaged?.account.messages.length).toBe(4);
    expect(salvaged?.confidence.map((one) => one.confidence)).toEqual(['medium', 'medium']);
    expect(salvaged?.sources).toContain('working-session/chat-ada.md');
  });

  it('says that there is nothing where there is nothing', () => {
    expect(
      snap.salvage({ format: 'snap', main: 'x/TURNFILE.yaml', files: [] }, { paths: [], read: () => null }),
    ).toBeNull();
  });
});

describe('ids', () => {
  it('rise for each day and count those that are only mentioned', () => {
    const files = new Map([['a', 'see MSG-20260101-007 and OQ-012, OQ-009']]);
    expect(nextAlias(files, 'message', '2026-01-01T00:00:00Z')).toBe('MSG-20260101-008');
    expect(nextAlias(files, 'message', '2026-01-02')).toBe('MSG-20260102-001');
    expect(nextAlias(files, 'question', '2026-01-02', ['OQ-020'])).toBe('OQ-021');
    expect(nextAlias(files, 'task', '2026-01-02')).toBe('task-001');
  });
});
