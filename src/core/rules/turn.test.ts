import { describe, expect, it } from 'vitest';
import type { Command } from '../journal/command.ts';
import { ada, MINUTE_MS, type Scenario, sam, unopened } from './scenario.suite.ts';

const begin = (request: string): Command => ({ type: 'turn.begin', kind: 'request', request });
const end: Command = { type: 'turn.end', outcome: 'done', said: 'Done.' };

function inSession(): Scenario {
  return unopened().given(
    ada,
    { type: 'run.open', kind: 'ad-hoc', title: 'Work', workspace: 'W-1' },
    { type: 'session.start' },
  );
}

describe('a turn', () => {
  it('is interrupted by the next one', () => {
    const { events } = inSession().given(ada, begin('One')).when(ada, begin('Two'));
    expect(events.map(({ type, body }) => [type, body])).toMatchObject([
      ['turn.ended', { session: 'S-1', outcome: 'interrupted' }],
      ['turn.began', { session: 'S-1', request: 'Two' }],
    ]);
  });

  it('is ended once, however many hooks report it', () => {
    const run = inSession().given(ada, begin('One'), end);
    expect(run.when(ada, end).events).toEqual([]);
    expect(run.when(ada, { ...end, said: 'Another end.' }).types).toEqual(['turn.began', 'turn.ended']);
  });

  it('whose beginning was not reported begins with its end', () => {
    expect(
      inSession()
        .when(ada, end)
        .events.map(({ body }) => body),
    ).toMatchObject([{ kind: 'unknown' }, { outcome: 'done' }]);
  });

  it('ends a question of a tool that the user answered with another prompt', () => {
    const run = inSession().given(ada, begin('One'), {
      type: 'effect.begin',
      name: 'Which?',
      class: 'read',
      asks: 'question',
    });
    expect(run.when(ada, begin('Neither')).types).toEqual(['turn.ended', 'effect.ended', 'turn.began']);
  });

  it('that is over lets its session end without a crash, also while a command runs in the background', () => {
    const run = inSession().given(ada, begin('One'));
    run.given(ada, { type: 'effect.begin', name: 'npm run dev', class: 'unknown', background: true }, {
      ...end,
      background: ['X-1'],
    } as Command);
    run.wait(60 * MINUTE_MS);
    expect(run.when(sam, { type: 'run.supervise' }).body('session.ended')).toMatchObject({ reason: 'completed' });
    expect([...run.state.effects.keys()]).toEqual(['X-1']);
  });

  it('that is open is cut by the end of its session', () => {
    const run = inSession().given(ada, begin('One'), { type: 'session.end', reason: 'completed' });
    expect(run.state.turn).toMatchObject({ endedAt: null, cutBy: 'completed' });
  });

  it('of version 0.1 is folded from its note and its snapshot', () => {
    const run = inSession().given(ada, { type: 'note.add', kind: 'worklog', text: 'Asked: Sort it', asked: true });
    expect(run.state.turn).toMatchObject({ kind: 'request', request: 'Sort it', endedAt: null });
    run.given(ada, { type: 'snapshot.take', why: 'Sorted.', atRest: true });
    expect(run.state.turn).toMatchObject({ outcome: 'done', said: 'Sorted.', endedAt: run.now });
    expect(run.state.requests.first).toMatchObject({ text: 'Sort it' });
  });
});
