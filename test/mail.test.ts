import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Folder, newWorkspace } from './command-line.ts';

/** Sends a request and returns its id. */
function send(folder: Folder, from: string, to: string, ...more: string[]): string {
  const as = from === 'maintainer' ? [] : ['--agent', from];
  const words = ['--subject', 'Review the rotation', '--body', 'src/rotate.ts', '--type', 'request'];
  return folder.data('mail', 'send', '--to', to, ...words, ...as, ...more)['id'];
}

const ids = (letters: { id: string }[]): string[] => letters.map((letter) => letter.id);

describe('mail', () => {
  it('goes from one agent to another and back, and is closed by its sender', () => {
    const folder = newWorkspace();
    const id = send(folder, 'ada', 'bob', '--priority', 'P0');
    expect(folder.data('mail', 'inbox', '--agent', 'bob')).toMatchObject({
      reader: 'bob',
      unread: [{ id, from: 'ada', priority: 'P0', subject: 'Review the rotation', overdue: null }],
    });
    expect(folder.data('mail', 'ack', id, '--note', 'on it', '--agent', 'bob')).toMatchObject({
      status: 'acknowledged',
    });
    expect(folder.data('mail', 'block', id, '--note', 'waits for B-1', '--agent', 'bob')['status']).toBe('blocked');
    expect(ids(folder.data('mail', 'inbox', '--agent', 'bob')['pendingAcks'])).toEqual([id]);
    expect(folder.data('mail', 'action', id, '--note', 'two findings', '--agent', 'bob')['status']).toBe('actioned');
    expect(folder.fault('mail', 'close', id, '--as', 'resolved', '--note', 'x', '--agent', 'bob')).toMatchObject({
      code: 'not_allowed',
      hints: [expect.stringContaining('mail reply')],
    });
    folder.data('mail', 'close', id, '--as', 'resolved', '--note', 'thanks', '--agent', 'ada');
    expect(folder.fault('mail', 'ack', id, '--note', 'x', '--agent', 'bob').code).toBe('illegal');
    const { message } = folder.data('mail', 'show', id);
    expect(message).toMatchObject({ status: 'closed', disposition: 'resolved' });
    expect(message.acks.map((ack: { note: string }) => ack.note)).toEqual([
      'on it',
      'waits for B-1',
      'two findings',
      'thanks',
    ]);
  });

  it('that is closed is listed for both sides, newest first, page by page', () => {
    const folder = newWorkspace();
    const close = (id: string, from: string) =>
      folder.data('mail', 'close', id, '--as', 'resolved', '--note', `done ${id}`, '--agent', from);
    const closed = (...words: string[]) => folder.data('mail', 'inbox', '--closed', ...words);
    for (const to of ['bob', 'bob', 'cleo', 'maintainer']) send(folder, 'ada', to);
    send(folder, 'cleo', 'bob');
    for (const id of ['M-2', 'M-1', 'M-4', 'M-3']) close(id, 'ada');
    expect(closed('--agent', 'bob')).toMatchObject({ reader: 'bob', unread: [], before: null });
    expect(ids(closed('--agent', 'bob')['closed'])).toEqual(['M-1', 'M-2']);
    expect(ids(closed('--agent', 'ada')['closed'])).toEqual(['M-3', 'M-4', 'M-1', 'M-2']);
    expect(ids(folder.person.data('mail', 'inbox', '--closed')['closed'])).toEqual(['M-4']);
    const first = closed('--all', '--limit', '3');
    expect(ids(first['closed'])).toEqual(['M-3', 'M-4', 'M-1']);
    const rest = closed('--all', '--limit', '3', '--before', String(first['before']));
    expect([ids(rest['closed']), rest['before']]).toEqual([['M-2'], null]);
    const said = folder.run('mail', 'inbox', '--closed', '--all', '--limit', '3').out;
    expect(said).toContain('M-3 ada to cleo: Review the rotation\n    resolved by ada: done M-3');
    expect(said).toContain(`--closed --before ${first['before']}`);
    expect(folder.run('mail', 'inbox', '--closed', '--agent', 'eve').out).toBe('There is no closed mail for eve.\n');
    expect(folder.data('mail', 'inbox', '--agent', 'bob')).toMatchObject({ unread: [{ id: 'M-5' }], closed: null });
  });

  it('shows an answer to the sender until it is acknowledged, in the inbox and in the brief', () => {
    const folder = newWorkspace();
    const id = send(folder, 'ada', 'bob');
    folder.data('mail', 'reply', id, '--body', 'Which of the two?', '--agent', 'bob');
    expect(folder.data('mail', 'inbox', '--agent', 'ada')['replies']).toMatchObject([
      { id, news: [{ by: 'bob', text: 'Which of the two?' }] },
    ]);
    const brief = folder.data('resume', '--agent', 'ada');
    expect(brief['text']).toMatch(
      new RegExp(
        `^Open: ${id}, P1 answer of "bob" to your message "Review the rotation" since .*: "Which of the two\\?"$`,
        'm',
      ),
    );
    expect(ids(brief['mail'].replies)).toEqual([id]);
    folder.data('mail', 'ack', id, '--note', 'the first', '--agent', 'ada');
    expect(folder.data('mail', 'inbox', '--agent', 'ada')).toMatchObject({
      replies: [],
      unanswered: [{ id, answered: true }],
    });
    expect(folder.data('resume', '--agent', 'ada')['text']).toContain(`Open: ${id}, P1 message from "ada"`);
  });

  it('to the maintainer reaches any person', () => {
    const folder = newWorkspace();
    const id = send(folder, 'ada', 'maintainer');
    expect(ids(folder.person.data('mail', 'inbox')['unread'])).toEqual([id]);
    expect(folder.person.run('mail', 'inbox').out).toContain(`${id} P1 request from ada: Review the rotation`);
    expect(folder.fault('mail', 'ack', id, '--note', 'x', '--agent', 'maintainer').code).toBe('not_allowed');
    folder.person.data('mail', 'action', id, '--note', 'gate is open');
    expect(folder.data('mail', 'inbox', '--agent', 'ada')['replies']).toHaveLength(1);
  });

  it('is shown at the start and end of a session, which escalates urgent mail to the maintainer', () => {
    const folder = newWorkspace();
    const id = send(folder, 'ada', 'bob');
    const small = send(folder, 'ada', 'bob', '--priority', 'P2');
    const begun = folder.data('session', 'start', '--agent', 'bob');
    expect(begun['mail'].unread).toEqual([id, small]);
    expect(begun['brief']).toContain(`Open: ${id}, P1 message to you from "ada"`);
    const ended = folder.data('session', 'end', '--reason', 'completed', '--agent', 'bob');
    expect(ended).toMatchObject({ escalated: [id], mail: { unread: [{ id }, { id: small }] } });
    expect(ended['hints']).toEqual([`It ended over unread mail: ${id}, ${small}.`, `Left to the maintainer: ${id}.`]);
    const [notice] = folder.person.data('mail', 'inbox')['unread'];
    expect(notice).toMatchObject({ type: 'notify', priority: 'P0', about: id });
    const log = readFileSync(folder.own('worklog/WORKLOG.md'), 'utf8');
    expect(log).toContain(`Escalated: ${id} — Review the rotation — bob ended S-1 without reading it.`);
    folder.data('mail', 'ack', id, '--note', 'late', '--agent', 'bob');
    expect(folder.person.data('mail', 'inbox')['unread']).toEqual([]);
  });

  it('is no longer with the maintainer once its receiver answers or acknowledges it', () => {
    const folder = newWorkspace();
    const id = send(folder, 'ada', 'bob', '--priority', 'P0');
    folder.data('session', 'start', '--agent', 'bob');
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'bob');
    folder.data('mail', 'reply', id, '--body', 'Anybody there?', '--agent', 'ada');
    expect(folder.person.data('mail', 'inbox')['unread']).toMatchObject([{ about: id }]);
    folder.data('mail', 'reply', id, '--body', 'Which line?', '--agent', 'bob');
    expect(folder.person.data('mail', 'inbox')['unread']).toEqual([]);
  });

  it('that is overdue is marked everywhere and escalated to the maintainer once', () => {
    const folder = newWorkspace();
    const id = send(folder, 'ada', 'bob', '--by', '2020-01-01');
    expect(folder.data('mail', 'inbox', '--agent', 'bob')['overdue']).toEqual([id]);
    expect(folder.data('mail', 'inbox', '--agent', 'ada')['overdue']).toEqual([id]);
    expect(folder.run('status').out).toContain(`${id} P1 ada to bob, unread, overdue`);
    expect(folder.data('resume', '--agent', 'bob')['text']).toContain(
      `Open: ${id}, P1 message to you from "ada", overdue, since`,
    );
    expect(folder.data('supervise')).toMatchObject({ crashed: [], escalated: [id] });
    expect(folder.data('supervise')).toMatchObject({ escalated: [], changed: [] });
    expect(folder.data('mail', 'show', id)['message'].escalated.why).toBe('It was to be answered by 2020-01-01.');
    expect(
      folder.fault('mail', 'send', '--to', 'bob', '--type', 'notify', '--subject', 's', '--body', 'b', '--by', 'soon')
        .code,
    ).toBe('invalid');
  });

  it('to an unknown name is sent, with similar names as hints', () => {
    const folder = newWorkspace();
    folder.data('session', 'start', '--agent', 'codex');
    const words = ['--type', 'notify', '--subject', 's', '--body', 'b'];
    expect(folder.data('mail', 'send', '--to', 'codx', ...words)['hints'][0]).toContain('Did you mean "codex"?');
    expect(folder.data('mail', 'send', '--to', 'codex', ...words)['hints']).toEqual([]);
    const { id } = folder.data('mail', 'send', '--to', 'gemini', ...words);
    folder.data('mail', 'ack', id, '--note', 'seen', '--agent', 'gemini');
    expect(folder.data('mail', 'send', '--to', 'gemini', ...words)['hints']).toEqual([]);
  });

  it('ends a wait for mail: what was sent, and what was answered', async () => {
    const folder = newWorkspace();
    const waiting = folder.start('wait', '--for', 'mail', '--timeout', '20', '--agent', 'bob', '--json');
    const id = send(folder, 'ada', 'bob');
    expect((await waiting).json.data).toMatchObject({ state: '1 unread' });
    expect(folder.fault('wait', '--for', 'mail', '--timeout', '0', '--agent', 'ada').code).toBe('unavailable');
    const answered = folder.start('wait', '--for', 'mail', '--timeout', '20', '--agent', 'ada', '--json');
    folder.data('mail', 'reply', id, '--body', 'Yes.', '--agent', 'bob');
    expect((await answered).json.data).toMatchObject({ state: '1 answered' });
    expect(folder.data('wait', '--for', id, '--timeout', '0')).toMatchObject({ state: 'answered' });
  });

  it('is read by the agent of the session, whatever the name of the process', () => {
    const folder = newWorkspace();
    folder.data('session', 'start', '--agent', 'bob');
    const id = send(folder, 'ada', 'bob');
    expect(folder.data('mail', 'inbox', '--session', 'S-1')).toMatchObject({ reader: 'bob', unread: [{ id }] });
    expect(folder.data('wait', '--for', 'mail', '--timeout', '0', '--session', 'S-1')['state']).toBe('1 unread');
  });

  it('shows hostile text as text', () => {
    const folder = newWorkspace();
    folder.data(
      'mail',
      'send',
      '--to',
      'bob',
      '--type',
      'notify',
      '--subject',
      'a\u001b[2J\nb',
      '--body',
      '\u001b]0;x\u0007',
    );
    for (const words of [['mail', 'inbox', '--agent', 'bob'], ['mail', 'show', 'M-1'], ['status']])
      expect(folder.run(...words).out).not.toContain('\u001b');
  });
});

describe('commitments and questions', () => {
  it('are in the brief with owner and due date until they are settled', () => {
    const folder = newWorkspace();
    folder.data('raise', 'commitment', 'Review the rotation', '--to', 'ada', '--due', '2020-01-01', '--agent', 'bob');
    folder.data('raise', 'question', 'Which cookie?', '--to', 'ada', '--agent', 'bob');
    folder.data('session', 'start', '--agent', 'bob');
    folder.data('claim', 'src/**', '--agent', 'bob');
    const brief = folder.data('resume', '--agent', 'ada');
    expect(brief['text']).toMatch(
      /^Open: C-1, commitment of "bob" to "ada", due 2020-01-01, overdue, since .*: "Review the rotation"$/m,
    );
    expect(brief['text']).toMatch(/^Open: Q-1, question to you since .*: "Which cookie\?"$/m);
    expect(brief['others']).toMatchObject([
      { agent: 'bob', state: 'here', owes: ['C-1'], claims: [{ files: ['src/**'] }] },
    ]);
    expect(folder.run('status').out).toContain('C-1 commitment by bob to ada, due 2020-01-01, overdue');
    folder.data('settle', 'C-1', '--as', 'deferred', '--note', 'after the release');
    expect(folder.data('resume', '--agent', 'ada')['commitments']).toEqual([]);
    expect(ids(folder.data('items', '--status', 'deferred')['items'])).toEqual(['C-1']);
    folder.data('settle', 'C-1', '--as', 'resolved');
    expect(folder.data('items', '--status', 'deferred')['items']).toEqual([]);
  });

  it('of others who left show whether they stopped in the middle of a step', () => {
    const folder = newWorkspace();
    folder.data('start', 't1', '--agent', 'bob');
    folder.data('session', 'end', '--reason', 'timeout', '--agent', 'bob');
    folder.data('start', 't3', '--agent', 'cleo');
    folder.data('complete', 't3', '--agent', 'cleo');
    folder.data('session', 'end', '--reason', 'completed', '--agent', 'cleo');
    const brief = folder.data('resume', '--agent', 'ada');
    expect(brief['others']).toMatchObject([
      { agent: 'bob', session: 'S-1', state: 'mid-stream', steps: ['t1'] },
      { agent: 'cleo', session: 'S-2', state: 'complete', steps: ['t3'] },
    ]);
  });
});

describe('an idempotency key', () => {
  it('repeats its command, and is refused for another', () => {
    const folder = newWorkspace();
    const first = folder.data('note', 'once', '--idempotency', 'k1');
    expect(folder.data('note', 'once', '--idempotency', 'k1')).toMatchObject({ id: first['id'], changed: [] });
    expect(folder.fault('note', 'twice', '--idempotency', 'k1')).toMatchObject({
      code: 'usage',
      data: { differs: 'text' },
    });
    const other = folder.fault('raise', 'question', 'once', '--idempotency', 'k1');
    expect(other).toMatchObject({ code: 'usage', data: { recorded: [{ type: 'note.added' }] } });
    expect(folder.data('search', 'twice')['results']).toEqual([]);
  });
});
