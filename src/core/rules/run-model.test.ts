import { describe, expect, it } from 'vitest';
import { ada, scenario, settle } from './scenario.suite.ts';

describe('an item that a file reports again', () => {
  it('is recorded in a form that can be read back, although it was settled without a note', () => {
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

  it('keep these numbers, so that no later message gets the same one', () => {
    const run = scenario();
    expect(read(run, 'M-3', 'M-7', 'MSG-20260208-001')).toEqual(['M-3 M-3', 'M-7 M-7', 'M-8 MSG-20260208-001']);
    expect(read(run, 'MSG-20260208-002').at(-1)).toBe('M-9 MSG-20260208-002');
  });

  it('do not make our numbers jump', () => {
    expect(read(scenario(), 'M-999999999', 'M-2')).toEqual(['M-1 M-999999999', 'M-2 M-2']);
  });
});
