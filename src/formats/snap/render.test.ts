import { describe, expect, it } from 'vitest';
import { line } from '../../core/line.ts';
import { emptyRunModel, type RunModel } from '../../core/model/run-model.ts';
import { renderSnapshot } from '../documents/snapshot.ts';
import { parseSnapshot } from '../documents/snapshot-reading.ts';
import { contractIn } from './contract-files.ts';
import { fixture, home, now, write } from './fixture.suite.ts';
import { snap } from './format.ts';

describe('OPEN_QUESTIONS.md', () => {
  it('moves a question to the section of its state and updates the counts', () => {
    const { text, model } = write('pilot', (one) => ({
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
    expect(model.items.find((item) => item.alias === 'OQ-003')?.status).toBe('deferred');
  });

  it('finds columns by name and writes into those that exist', () => {
    const { model } = fixture('second');
    expect(model.items[0]).toMatchObject({ alias: 'OQ-001', by: 'Ada', raisedAt: '2026-06-12', step: 'run' });
    expect(model.items[2]).toMatchObject({ alias: 'OQ-D01', status: 'deferred', resolution: 'After the first run' });
    const { text } = write('second', (one) => ({
      ...one,
      items: [...one.items, { kind: 'question', text: 'New?', status: 'open' }],
    }));
    expect(text('OPEN_QUESTIONS.md')).toContain('| OQ-003 | New? | — | — | — |');
  });
});

describe('WORKLOG.md', () => {
  it('writes a note, an ended session and who is working now', () => {
    const { text, model, lost } = write('pilot', (one) => ({
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
    expect(model.sessions.find((session) => session.alias === 'ada-session-3')?.status).toBe('context-exhausted');
    expect(model.notes.at(-1)?.text).toBe('Read the manual');
    expect(model.next).toBe('Read the third port first.');
  });

  it('adds new entries of one session under one heading, with a blank line before every heading', () => {
    const model: RunModel = {
      ...emptyRunModel('Tides'),
      items: [{ kind: 'commitment', text: 'Send the table', status: 'open', by: 'Ada' }],
      notes: [{ kind: 'worklog', text: 'Looked', by: 'Ada', at: '2026-03-04T05:00:00Z' }],
      sessions: [{ alias: 'S-1', agent: 'Ada', status: 'completed', endedAt: '2026-03-04T05:06:00Z' }],
    };
    const text = snap.render(model, snap.home(model), new Map(), now).get(`${home}WORKLOG.md`) ?? '';
    expect(text.match(/^## Session 1\b/gm)).toHaveLength(1);
    expect(text).toMatch(/Looked\n\n### Ada: session ended/);
    expect(text.match(/[^\n]\n#{2,3} /g)).toBeNull();
  });

  it('points to the task in progress, not to its phase', () => {
    const model: RunModel = {
      ...emptyRunModel('Tides'),
      steps: [
        { key: 'p1', title: 'Model', kind: 'phase', status: 'in_progress' },
        { key: 'r1', title: 'Read', kind: 'task', parent: 'p1', status: 'in_progress' },
      ],
    };
    const text = snap.render(model, snap.home(model), new Map(), now).get(`${home}TURNFILE.yaml`) ?? '';
    expect(text).toContain('active_step: "r1"');
  });

  it('logs a session replaced by another one of the same agent', () => {
    const { model, text } = write('second', (one) => ({
      ...one,
      sessions: [...one.sessions, { alias: 'S-5', agent: 'ada', status: 'active' }],
    }));
    expect(model.sessions.map((session) => session.alias)).toEqual(['ada-session-0', 'S-5']);
    expect(text('TURNFILE.yaml')).toContain('session_id: "S-5"');
  });

  it('keeps bars, backslashes and line feeds of a decision', () => {
    const decision = 'a\\|b | c\nd <br> \\';
    const { model } = write('pilot', (one) => ({
      ...one,
      decisions: [...one.decisions, { decision, at: '2026-02-09' }],
    }));
    expect(model.decisions.map((one) => one.decision)).toContain(decision);
  });

  it('removes erased text', () => {
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
  task: {
    status: 'partial',
    step: 'p2',
    title: 'Rotate',
    checkpoint: null,
    also: [],
    next: { derived: null, declared: 'Run the clock test' },
  },
  mail: {
    unread: [{ id: 'MSG-20260304-001', facts: line`from bo`, words: 'Mind the skew' }],
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

function closed(): RunModel {
  return {
    ...emptyRunModel('Rotate the tokens'),
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
    kept: {
      snapshots: [
        {
          id: 'P-1',
          isClosing: true,
          agent: 'ada',
          session: 'S-2',
          sessionNumber: 2,
          token: snapshot.token,
          text: snapshot.text,
        },
      ],
    },
  };
}

describe('chat files', () => {
  it('get each closing snapshot once, as their last entry, under its number and with the same token', () => {
    const model = closed();
    const files = snap.render(model, snap.home(model), new Map(), now);
    const chat = files.get(`${home}chat-ada.md`) ?? '';
    expect(chat).toContain('## Session 2 closing state\n\n```yaml\nsession_id:');
    expect(parseSnapshot(chat).value).toMatchObject({ token: snapshot.token, tokenVerdict: 'valid' });
    const place = { ...snap.home(model), files: [...files.keys()] };
    expect(snap.render(model, place, files, now).size).toBe(0);
    expect(files.get(`${home}WORKLOG.md`)).toContain(
      'Full resumption snapshot: working-session/chat-ada.md § Session 2 closing state.',
    );
  });

  it('are checked against the same facts as the files beside them', () => {
    const model = closed();
    const files = snap.render(model, snap.home(model), new Map(), now);
    const contract = contractIn({ ...snap.home(model), files: [...files.keys()] }, files);
    expect(contract.mail('Ada')).toMatchObject({ unread: ['MSG-20260304-001'], awaitingClose: [] });
    expect(contract.mail('bo')).toMatchObject({ unansweredUnread: ['MSG-20260304-001'] });
    expect(contract.tasks('ada')[0]).toMatchObject({ source: 'TURNFILE.yaml' });
  });
});

describe('a reader without the tool', () => {
  it('starts work within four reads: snapshot, Turnfile, status lines, unread mail', () => {
    const model = closed();
    const files = snap.render(model, snap.home(model), new Map(), now);
    let reads = 0;
    const read = (file: string): string => {
      reads++;
      return files.get(home + file) ?? '';
    };
    const chat = read('chat-ada.md');
    const last = chat.slice(chat.lastIndexOf('\n## Session '));
    const next = /- Next action: (.*)/.exec(last)?.[1];
    const task = /- Task: "(\S+)",/.exec(last)?.[1];
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

describe('repair', () => {
  it('rebuilds a run from a damaged Turnfile, the chats and the worklog', () => {
    const { found, files } = fixture('pilot');
    const torn = new Map(files).set(found.main, `${(files.get(found.main) ?? '').slice(0, 1340)}\n<<<<<<< HEAD\n`);
    const repaired = snap.repair(found, { paths: [...torn.keys()], read: (path) => torn.get(path) ?? null });
    expect(repaired?.model.steps).toMatchObject([
      { key: 'tide-model', status: 'completed' },
      { key: 'tide-reader', status: 'in_progress', agents: ['ada'] },
    ]);
    expect(repaired?.model.decisions.length).toBe(3);
    expect(repaired?.model.messages.length).toBe(4);
    expect(repaired?.confidence.map((one) => one.confidence)).toEqual(['medium', 'medium']);
    expect(repaired?.sources).toContain('working-session/chat-ada.md');
  });

  it('returns null where there is nothing', () => {
    expect(
      snap.repair({ format: 'snap', main: 'x/TURNFILE.yaml', files: [] }, { paths: [], read: () => null }),
    ).toBeNull();
  });
});
