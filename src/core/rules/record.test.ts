import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import {
  ada,
  block,
  bob,
  complete,
  decision,
  leave,
  note,
  phase,
  sam,
  scenario,
  settle,
  start,
  task,
} from './scenario.suite.ts';

const retract = (id: string): Command => ({ type: 'decision.retract', id, reason: 'Wrong.' });

describe('a decision', () => {
  it('is of the step in hand, unless another is named or several are', () => {
    const run = scenario('t1', 't2').given(ada, start('t1'));
    expect(run.when(ada, decision()).body('decision.made')).toMatchObject({ step: 't1' });
    expect(run.when(ada, decision({ step: 't2' })).body('decision.made')).toMatchObject({ step: 't2' });
    expect(run.when(bob, decision()).body('decision.made')).not.toHaveProperty('step');
  });

  it('is recorded with its reasons', () => {
    const run = scenario('p1');
    const more = { key: 'db', alternatives: ['Files'], irreversible: true, step: 'p1' };
    expect(run.when(ada, decision({ ...more, decisionType: 'technology' })).body('decision.made')).toMatchObject({
      id: 'D-1',
      type: 'technology',
      key: 'db',
    });
    expect(run.row('decision', 'D-1')).toMatchObject({ status: 'active', by: 'ada', alternatives: ['Files'] });
    expect(run.refusal(ada, decision({ step: 'p9' })).code).toBe('not_found');
  });

  it('supersedes an active one only', () => {
    const run = scenario().given(ada, decision(), decision({ supersedes: 'D-1' }));
    expect(run.row('decision', 'D-1')).toMatchObject({ status: 'superseded', supersededBy: 'D-2' });
    expect(run.state.totals).toMatchObject({ decisions: 2, activeDecisions: 1 });
    const fault = run.refusal(ada, decision({ supersedes: 'D-1' }));
    expect(fault.code).toBe('illegal');
    expect(fault.hints[0]).toContain('superseded by D-2');
    expect(run.given(ada, retract('D-2')).refusal(ada, decision({ supersedes: 'D-2' })).code).toBe('illegal');
  });

  it('is retracted once, also when it was superseded', () => {
    const run = scenario().given(ada, decision(), decision({ supersedes: 'D-1' }), retract('D-1'));
    expect(run.state.totals.activeDecisions).toBe(1);
    expect(run.when(ada, retract('D-1')).types).toEqual([]);
    run.given(ada, retract('D-2'));
    expect(run.state.totals.activeDecisions).toBe(0);
    expect(run.row('decision', 'D-2')).toMatchObject({ status: 'retracted', retractedBecause: 'Wrong.' });
    expect(run.refusal(ada, retract('D-22'))).toMatchObject({ code: 'not_found', data: { near: ['D-2'] } });
  });
});

describe('an item', () => {
  it.each([
    ['blocker', 'B-1', { status: 'active' }],
    ['finding', 'F-1', { status: 'open', severity: 'should_fix' }],
    ['question', 'Q-1', { status: 'open' }],
    ['commitment', 'C-1', { status: 'open' }],
    ['error', 'E-1', { status: 'open', type: 'runtime' }],
  ] as const)('is raised: a %s as %s', (kind, id, facts) => {
    const run = scenario().given(ada, { type: 'item.raise', kind, text: 'Something.' });
    expect(run.state.items.get(id)).toMatchObject({ kind, by: 'ada', ...facts });
  });

  it('names steps that are there', () => {
    expect(scenario().refusal(ada, block([], { step: 'p1' })).code).toBe('not_found');
    expect(scenario().refusal(ada, block([], { followUp: ['p1'] })).code).toBe('not_found');
    expect(
      scenario()
        .given(ada, block([]))
        .refusal(ada, { type: 'item.settle', id: 'B-1', as: 'bypassed', followUp: ['p1'] }).code,
    ).toBe('not_found');
  });

  it('is found by its alias, settled or not, and not found with near ids', () => {
    const run = scenario().given(ada, { type: 'item.raise', kind: 'question', text: 'Why?', alias: 'OQ-031' });
    expect(run.when(ada, settle('OQ-031', 'deferred')).types).toEqual(['item.settled']);
    expect(run.when(ada, settle('OQ-031', 'active')).types).toEqual(['item.reopened']);
    expect(run.refusal(ada, settle('Q-2', 'resolved'))).toMatchObject({ code: 'not_found', data: { near: ['Q-1'] } });
  });

  it('says which steps its settling freed, and writes to whoever held them last', () => {
    const run = scenario(
      phase('a'),
      task('a1', { parent: 'a' }),
      task('a2', { parent: 'a' }),
      task('a3', { after: ['a2'] }),
    );
    run.given(bob, start('a1'), leave()).given(ada, block(['a']), block(['a2']));
    const outcome = run.when(ada, settle('B-1', 'resolved', 'Got it.'));
    expect(outcome.types).toEqual(['item.settled', 'message.sent']);
    expect(outcome.body('item.settled').freed).toEqual(['a1']);
    expect(outcome.body('message.sent')).toMatchObject({
      id: 'M-1',
      from: 'ada',
      to: 'bob',
      type: 'notify',
      about: 'B-1',
    });
    const second = run.when(ada, settle('B-2', 'resolved'));
    expect(second.types).toEqual(['item.settled']);
    expect(second.body('item.settled').freed).toEqual(['a2']);
  });

  it('writes to nobody about a step that the one who settles held last', () => {
    const run = scenario('p1').given(ada, start('p1'), leave(), block(['p1']));
    expect(run.when(ada, settle('B-1', 'resolved')).types).toEqual(['item.settled']);
  });

  it('bypassed keeps its workaround and follow-up steps, and frees again only when active again', () => {
    const run = scenario('p1', 'p2').given(ada, block(['p1']));
    run.given(ada, { type: 'item.settle', id: 'B-1', as: 'bypassed', note: 'A stub.', followUp: ['p2'] });
    expect(run.state.items.get('B-1')).toMatchObject({ status: 'bypassed', workaround: 'A stub.', followUp: ['p2'] });
    expect(run.when(ada, settle('B-1', 'resolved')).body('item.settled').freed).toBeUndefined();
  });

  it('comes back whole when it is reopened', () => {
    const run = scenario().given(ada, { type: 'item.raise', kind: 'finding', text: 'Slow.', severity: 'must_fix' });
    const raised = run.state.items.get('F-1');
    run.wait(1000).given(bob, settle('F-1', 'resolved', 'Faster.'));
    expect(run.state.items.size).toBe(0);
    run.given(bob, settle('F-1', 'active'));
    expect(run.state.items.get('F-1')).toMatchObject({
      text: 'Slow.',
      severity: 'must_fix',
      by: 'ada',
      status: 'open',
      raisedAt: raised?.raisedAt,
    });
  });

  it('tells the legal words when it is refused', () => {
    const run = scenario().given(ada, block([]), settle('B-1', 'resolved'), {
      type: 'item.raise',
      kind: 'question',
      text: '?',
    });
    expect(run.refusal(ada, settle('B-1', 'active')).hints[0]).toContain('raise a new one');
    const fault = run.refusal(ada, settle('Q-1', 'bypassed'));
    expect(fault).toMatchObject({ code: 'illegal', data: { legal: ['resolved', 'deferred', 'withdrawn'] } });
  });
});

describe('an item that a file tells of again', () => {
  it('is recorded in a form that can be read back, though it was settled without a word', () => {
    const run = scenario().given(
      ada,
      { type: 'item.raise', kind: 'question', text: 'Who?' },
      settle('Q-1', 'resolved'),
    );
    const items = [{ alias: 'Q-1', kind: 'question' as const, text: 'Who?', status: 'open' as const }];
    run.given(ada, { type: 'account.read', format: 'gsd', path: 'STATE.md', account: { items } });
    expect(run.state.items.get('Q-1')).toMatchObject({ status: 'open' });
  });
});

describe('messages that a file numbers as we do', () => {
  const read = (run: ReturnType<typeof scenario>, ...aliases: string[]) => {
    const messages = aliases.map((alias) => ({
      ...{ alias, from: 'ada', to: 'bob', type: 'notify' as const, priority: 'P2' as const },
      ...{ status: 'unread' as const, subject: alias, body: '' },
    }));
    run.given(ada, { type: 'account.read', format: 'snap', path: 'MAILBOX.md', account: { messages } });
    return [...run.state.messages.values()].map(({ id, alias }) => `${id} ${alias}`);
  };

  it('have these numbers, so that no later one is called the same', () => {
    const run = scenario();
    expect(read(run, 'M-3', 'M-7', 'MSG-20260208-001')).toEqual(['M-3 M-3', 'M-7 M-7', 'M-8 MSG-20260208-001']);
    expect(read(run, 'MSG-20260208-002').at(-1)).toBe('M-9 MSG-20260208-002');
  });

  it('do not lead ours astray', () => {
    expect(read(scenario(), 'M-999999999', 'M-2')).toEqual(['M-1 M-999999999', 'M-2 M-2']);
  });
});

describe('what is filed', () => {
  it('notes belong to the step that is held, or the one named', () => {
    const run = scenario('p1', 'p2').given(ada, start('p1'));
    expect(run.when(ada, note('x')).body('note.added')).toMatchObject({ id: 'N-1', step: 'p1' });
    expect(run.when(ada, { ...note('x'), step: 'p2' }).body('note.added').step).toBe('p2');
    expect(run.refusal(ada, { ...note('x'), step: 'p9' }).code).toBe('not_found');
    expect(run.state.notes.size).toBe(0);
    run.given(
      ada,
      { type: 'note.add', kind: 'constraint', text: 'No cloud.' },
      { type: 'note.add', kind: 'dead-end', text: 'Not X.' },
    );
    expect([...run.state.notes.keys()]).toEqual(['N-3', 'N-4']);
  });

  it('usage adds up per agent', () => {
    const run = scenario('p1').given(ada, { type: 'usage.add', input: 10, output: 2, cached: 5 });
    const outcome = run.when(sam, { type: 'usage.add', input: 1, output: 1, of: 'ada', step: 'p1' });
    expect(outcome.changed).toContainEqual({ path: 'usage.ada.input', before: 10, after: 11 });
    expect(run.state.usage.get('ada')).toEqual({ agent: 'ada', input: 11, output: 3, cached: 5 });
    expect(run.when(ada, { type: 'usage.add', input: 0, output: 0 }).types).toEqual([]);
    expect(run.refusal(ada, { type: 'usage.add', input: 1, output: 1, step: 'p9' }).code).toBe('not_found');
  });

  it('mirrors and accepted conflicts are recorded once', () => {
    const run = scenario();
    const mirror = { format: 'gsd', path: '.planning/STATE.md' };
    const twice: Command[] = [
      { type: 'mirror.add', ...mirror },
      { type: 'conflict.accept', id: 'K-00ff00' },
    ];
    for (const command of twice) {
      const { types, changed } = run.when(ada, command);
      expect([types.length, changed.length]).toEqual([1, 1]);
      expect(run.when(ada, command)).toMatchObject({ types: [], changed: [] });
    }
    expect(run.when(ada, { type: 'mirror.remove', ...mirror }).changed).toHaveLength(1);
    expect(run.refusal(ada, { type: 'mirror.remove', ...mirror }).code).toBe('not_found');
  });

  it('is erased by a person only', () => {
    const run = scenario('p1').given(ada, start('p1'), complete());
    const erase: Command = { type: 'text.erase', versions: [2], reason: 'A key.' };
    const fault = run.refusal(ada, erase);
    expect(fault.code).toBe('not_allowed');
    expect(fault.hints[0]).toContain('Ask the person you work for');
    expect(run.when(sam, erase).body('text.erased')).toEqual({ versions: [2], reason: 'A key.' });
    expect(run.when(sam, { ...erase, versions: [] }).types).toEqual([]);
  });
});
