import { describe, expect, it } from 'vitest';
import { ada, agent, bob, mail, moveMail, sam, scenario } from '../scenario.suite.ts';

const cleo = agent('cleo');
const sent = () => scenario().given(ada, mail('bob'));

describe('a message', () => {
  it('is sent and answered', () => {
    const run = sent();
    expect(run.state.messages.get('M-1')).toMatchObject({ from: 'ada', to: 'bob', status: 'unread', type: 'request' });
    run.given(bob, { type: 'message.reply', id: 'M-1', body: 'Yes.' });
    expect(run.state.messages.get('M-1')?.replies).toMatchObject([{ from: 'bob', body: 'Yes.' }]);
  });

  it('is taken on by its receiver and nobody else', () => {
    for (const to of ['acknowledged', 'actioned'] as const) {
      for (const by of [ada, cleo, sam]) {
        const fault = sent().refusal(by, moveMail('M-1', to));
        expect(fault).toMatchObject({ code: 'not_allowed', data: { id: 'M-1', who: 'bob' } });
        expect(fault.hints[0]).toContain('holdfast mail reply M-1');
      }
      expect(sent().when(bob, moveMail('M-1', to)).types).toEqual(['message.moved']);
    }
  });

  it('to the maintainer is taken on by any person', () => {
    const run = scenario().given(ada, mail('maintainer'));
    expect(run.when(sam, moveMail('M-1', 'acknowledged')).types).toEqual(['message.moved']);
    expect(scenario().given(ada, mail('maintainer')).refusal(bob, moveMail('M-1', 'acknowledged')).code).toBe(
      'not_allowed',
    );
  });

  it('is closed by its sender or a person, a notice by anybody', () => {
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

  it('is abandoned by a person only', () => {
    const abandon = moveMail('M-1', 'closed', { disposition: 'abandoned' });
    expect(sent().refusal(ada, abandon).code).toBe('not_allowed');
    expect(sent().when(sam, abandon).body('message.moved').disposition).toBe('abandoned');
  });

  it('is deferred by a person only, and stays where it is', () => {
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
