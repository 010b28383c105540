import { describe, expect, it } from 'vitest';
import { type MessageView, mailOf } from '../views/mail.ts';
import {
  ada,
  agent,
  bob,
  leave,
  MINUTE_MS,
  mail,
  moveMail,
  type Scenario,
  sam,
  scenario,
  startSession,
} from './scenario.suite.ts';

const cleo = agent('cleo');
const sent = () => scenario().given(ada, mail('bob'));

describe('a message', () => {
  it('is sent and answered', () => {
    const run = sent();
    expect(run.state.messages.get('M-1')).toMatchObject({ from: 'ada', to: 'bob', status: 'unread', type: 'request' });
    run.given(bob, { type: 'message.reply', id: 'M-1', body: 'Yes.' });
    expect(run.state.messages.get('M-1')?.replies).toMatchObject([{ from: 'bob', body: 'Yes.' }]);
  });

  it('is acknowledged by its receiver only', () => {
    for (const to of ['acknowledged', 'actioned'] as const) {
      for (const by of [ada, cleo, sam]) {
        const fault = sent().refusal(by, moveMail('M-1', to));
        expect(fault).toMatchObject({ code: 'not_allowed', data: { id: 'M-1', who: 'bob' } });
        expect(fault.hints[0]).toContain('holdfast mail reply M-1');
      }
      expect(sent().when(bob, moveMail('M-1', to)).types).toEqual(['message.moved']);
    }
  });

  it('reaches an agent whose name is written in another case or with other separators', () => {
    const run = scenario().given(ada, mail('Claude_Code'));
    const code = agent('claude-code');
    expect(mailOf(run.state, code.actor, run.now).unread.map(({ id, to }) => [id, to])).toEqual([
      ['M-1', 'Claude_Code'],
    ]);
    expect(mailOf(run.state, agent('claude-2').actor, run.now).unread).toEqual([]);
    expect(run.when(code, moveMail('M-1', 'acknowledged')).types).toEqual(['message.moved']);
    expect(run.when(agent('ADA'), moveMail('M-1', 'closed')).types).toEqual(['message.moved']);
  });

  it('to the maintainer is acknowledged by any person', () => {
    const run = scenario().given(ada, mail('maintainer'));
    expect(run.when(sam, moveMail('M-1', 'acknowledged')).types).toEqual(['message.moved']);
    expect(scenario().given(ada, mail('maintainer')).refusal(bob, moveMail('M-1', 'acknowledged')).code).toBe(
      'not_allowed',
    );
  });

  it('is closed by its sender or a person, a notification by anyone', () => {
    for (const by of [ada, sam]) expect(sent().when(by, moveMail('M-1', 'closed')).types).toEqual(['message.moved']);
    for (const by of [bob, cleo]) expect(sent().refusal(by, moveMail('M-1', 'closed')).code).toBe('not_allowed');
    const notice = scenario().given(ada, mail('bob', { messageType: 'notify' }));
    expect(notice.when(cleo, moveMail('M-1', 'closed')).types).toEqual(['message.moved']);
    expect(notice.state.messages.size).toBe(0);
    expect(notice.row('message', 'M-1')).toMatchObject({ status: 'closed', acks: [{ by: 'cleo', note: 'Because.' }] });
  });

  it('is never opened again', () => {
    const run = sent().given(ada, moveMail('M-1', 'closed'));
    expect(run.when(ada, moveMail('M-1', 'closed')).types).toEqual([]);
    expect(run.refusal(bob, moveMail('M-1', 'acknowledged')).hints[0]).toContain('never opened again');
    expect(run.refusal(bob, { type: 'message.reply', id: 'M-1', body: 'x' }).code).toBe('illegal');
  });

  it('is abandoned by a person only, two sessions after it was escalated', () => {
    const abandon = moveMail('M-1', 'closed', { disposition: 'abandoned' });
    expect(sent().refusal(ada, abandon).code).toBe('not_allowed');
    expect(sent().refusal(sam, abandon)).toMatchObject({ code: 'illegal', data: { escalated: null } });
    const run = sent().given(bob, startSession(), leave()).given(cleo, startSession());
    expect(run.refusal(sam, abandon)).toMatchObject({ code: 'illegal', data: { sessions: 1 } });
    run.given(bob, startSession());
    expect(run.events.findLast((event) => event.type === 'message.moved')).toBeUndefined();
    const closed = run.when(sam, abandon);
    expect(closed.events.map((event) => event.body)).toMatchObject([
      { id: 'M-1', to: 'closed', disposition: 'abandoned' },
      { id: 'M-2', to: 'closed' },
    ]);
  });

  it('is deferred by a person only, and keeps its status', () => {
    const defer = moveMail('M-1', 'closed', { disposition: 'deferred' });
    const run = sent().given(bob, moveMail('M-1', 'acknowledged'));
    expect(run.refusal(ada, defer).code).toBe('not_allowed');
    expect(run.when(sam, defer).body('message.moved')).toMatchObject({ to: 'acknowledged', disposition: 'deferred' });
    expect(run.state.messages.get('M-1')).toMatchObject({ status: 'acknowledged', disposition: 'deferred' });
    expect(run.when(sam, defer).types).toEqual([]);
    expect(run.given(ada, moveMail('M-1', 'closed')).refusal(sam, defer).code).toBe('illegal');
  });

  it('is not found under a wrong id', () => {
    expect(sent().refusal(bob, moveMail('M-2', 'acknowledged'))).toMatchObject({
      code: 'not_found',
      data: { near: ['M-1'] },
    });
  });
});

const reply = (id: string, body = 'Which one?') => ({ type: 'message.reply', id, body }) as const;
const mailFor = (run: Scenario, by: typeof ada) => mailOf(run.state, by.actor, run.now);
const idsOf = (run: Scenario, by: typeof ada) =>
  Object.fromEntries(
    Object.entries({ ...mailFor(run, by) } as Record<string, readonly MessageView[]>).map(([name, messages]) => [
      name,
      messages.map((message) => message.id),
    ]),
  );

describe('replies to a message', () => {
  it('are unread for the sender until it acknowledges them', () => {
    const run = sent().given(bob, reply('M-1'), moveMail('M-1', 'acknowledged'));
    expect(mailFor(run, ada).replies[0]?.news).toMatchObject([
      { by: 'bob', to: null, text: 'Which one?' },
      { by: 'bob', to: 'acknowledged', text: 'Because.' },
    ]);
    expect(run.when(ada, moveMail('M-1', 'acknowledged')).types).toEqual(['message.heard']);
    expect(idsOf(run, ada)).toEqual({ unread: [], pendingAcks: [], replies: [], unanswered: ['M-1'] });
    expect(run.state.messages.get('M-1')?.status).toBe('acknowledged');
    expect(run.refusal(ada, moveMail('M-1', 'actioned')).code).toBe('not_allowed');
  });

  it('go back and forth: an answer marks earlier replies as read', () => {
    const run = sent().given(bob, reply('M-1')).given(ada, reply('M-1', 'The first.'));
    expect(idsOf(run, ada)['replies']).toEqual([]);
    // An unread message is new as a whole; an acknowledged one only by its replies.
    expect(idsOf(run, bob)).toMatchObject({ unread: ['M-1'], replies: [] });
    run.given(bob, moveMail('M-1', 'acknowledged')).given(ada, reply('M-1', 'No, the second.'));
    expect(idsOf(run, bob)).toMatchObject({ unread: [], pendingAcks: ['M-1'], replies: ['M-1'] });
    expect(run.when(bob, moveMail('M-1', 'acknowledged')).types).toEqual(['message.heard']);
    expect(run.when(bob, moveMail('M-1', 'acknowledged')).types).toEqual([]);
  });

  it('that one person read are read for all, who share the mail to the maintainer', () => {
    const run = scenario().given(ada, mail('maintainer')).given(sam, reply('M-1'));
    expect(idsOf(run, sam)).toMatchObject({ unread: ['M-1'], replies: [] });
    run.given(sam, moveMail('M-1', 'actioned'));
    expect(mailFor(run, ada).replies[0]?.news).toHaveLength(2);
    expect(idsOf(run, sam)).toEqual({ unread: [], pendingAcks: [], replies: [], unanswered: [] });
  });

  it('are not shown to third parties', () => {
    const run = sent().given(cleo, reply('M-1', 'I know.'));
    expect(idsOf(run, cleo)).toEqual({ unread: [], pendingAcks: [], replies: [], unanswered: [] });
    expect(idsOf(run, ada)['replies']).toEqual(['M-1']);
  });
});

describe('mail that is not acknowledged', () => {
  const HOUR_MS = 60 * MINUTE_MS;
  const late = (run: Scenario): boolean => mailFor(run, bob).unread[0]?.overdue !== null;
  const posted = (more: Parameters<typeof mail>[1]) => scenario().given(ada, mail('bob', more));

  it('is overdue after the next turn of its receiver if P0, after its next session if P1', () => {
    for (const [priority, afterThis, afterNext] of [
      ['P0', true, true],
      ['P1', false, true],
      ['P2', false, false],
    ] as const) {
      const run = scenario().given(bob, startSession()).wait(1).given(ada, mail('bob', { priority }));
      expect(late(run)).toBe(false);
      run.given({ ...bob, session: 'S-1' }, { type: 'session.end', reason: 'timeout' });
      expect(late(run)).toBe(afterThis);
      run.given(bob, startSession()).given({ ...bob, session: 'S-2' }, leave());
      expect(late(run)).toBe(afterNext);
    }
  });

  it('is overdue by time where its receiver starts no session, and by the date it names', () => {
    expect(late(posted({ priority: 'P0' }).wait(59 * MINUTE_MS))).toBe(false);
    expect(late(posted({ priority: 'P0' }).wait(HOUR_MS))).toBe(true);
    expect(late(posted({ priority: 'P1' }).wait(23 * HOUR_MS))).toBe(false);
    expect(late(posted({ priority: 'P1' }).wait(24 * HOUR_MS))).toBe(true);
    expect(late(posted({ priority: 'P2' }).wait(1000 * HOUR_MS))).toBe(false);
    expect(late(posted({ priority: 'P2', respondBy: '2026-01-02' }).wait(HOUR_MS))).toBe(false);
    expect(late(posted({ priority: 'P2', respondBy: '2026-01-02' }).wait(14 * HOUR_MS))).toBe(true);
    expect(late(posted({ priority: 'P2', respondBy: '2026-01-02 12:00' }).wait(3 * HOUR_MS))).toBe(true);
    expect(late(posted({ priority: 'P2', respondBy: 'next session' }).wait(24 * HOUR_MS))).toBe(true);
    expect(late(posted({ priority: 'P1', messageType: 'notify' }).wait(1000 * HOUR_MS))).toBe(false);
  });

  it('is reported to the maintainer once, and closed there when it is acknowledged', () => {
    const run = posted({ priority: 'P1' }).wait(24 * HOUR_MS);
    const escalated = run.when(cleo, { type: 'message.escalate' });
    expect(escalated.types).toEqual(['message.escalated', 'message.sent', 'note.added']);
    expect(escalated.body('message.sent')).toMatchObject({
      to: 'maintainer',
      from: 'ada',
      priority: 'P0',
      about: 'M-1',
    });
    expect(escalated.body('note.added').text).toMatch(/^Escalated: M-1 — Please look — bob did not acknowledge/);
    expect(run.when(cleo, { type: 'message.escalate' }).types).toEqual([]);
    expect(idsOf(run, sam)['unread']).toEqual(['M-2']);
    run.given(bob, moveMail('M-1', 'acknowledged'));
    expect(idsOf(run, sam)['unread']).toEqual([]);
    expect(run.row('message', 'M-2')).toMatchObject({ status: 'closed', disposition: 'resolved' });
  });

  it('is escalated when a session starts, and when one ends without reading urgent mail', () => {
    expect(posted({ priority: 'P0' }).wait(HOUR_MS).when(cleo, startSession()).types).toContain('message.escalated');
    for (const [more, escalates] of [
      [{ priority: 'P0' }, true],
      [{ priority: 'P1' }, true],
      [{ priority: 'P2' }, false],
      [{ priority: 'P1', messageType: 'notify' }, false],
    ] as const) {
      const left = posted(more).given(bob, startSession()).when(bob, leave());
      expect(left.types.includes('message.escalated')).toBe(escalates);
      expect(left.types).toContain('session.ended');
    }
    expect(posted({ priority: 'P0' }).given(cleo, startSession()).when(cleo, leave()).types).toEqual([
      'session.ended',
      'snapshot.taken',
    ]);
  });

  it('is left alone when a person deferred it, when it is for the maintainer, or with P2 but for the worklog', () => {
    const defer = moveMail('M-1', 'closed', { disposition: 'deferred' });
    const deferred = posted({ priority: 'P0' }).given(sam, defer).wait(HOUR_MS);
    expect(deferred.when(cleo, { type: 'message.escalate' }).types).toEqual([]);
    const above = scenario()
      .given(ada, mail('maintainer', { priority: 'P0' }))
      .wait(HOUR_MS);
    expect(mailFor(above, sam).unread[0]?.overdue).toContain('P0');
    expect(above.when(cleo, { type: 'message.escalate' }).types).toEqual([]);
    const small = posted({ priority: 'P2', respondBy: '2026-01-01' });
    expect(small.when(cleo, { type: 'message.escalate' }).types).toEqual(['message.escalated', 'note.added']);
  });
});
