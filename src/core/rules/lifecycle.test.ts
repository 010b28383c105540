import { describe, expect, it } from 'vitest';
import { Fault } from '../fault.ts';
import { isOpenHandoff } from '../fold/state.ts';
import type { Command } from '../journal/command.ts';
import { lifecycles, type Move, moveBetween, moveOf, movesFrom, type Noun } from './lifecycle.ts';
import {
  ada,
  agent,
  type By,
  block,
  bob,
  checkpoint,
  complete,
  decision,
  fail,
  leave,
  MINUTE_MS,
  mail,
  moveMail,
  release,
  reopen,
  retry,
  type Scenario,
  sam,
  scenario,
  settle,
  skip,
  start,
} from './scenario.suite.ts';

/** How to bring a noun into each of its states, how to try each move, and where to read the state. */
interface Walk {
  reach: Record<string, () => Scenario>;
  attempt: Record<string, { by: By; command: Command; wait?: number }>;
  stateOf(run: Scenario): string | undefined;
  /** Moves that are not in the table and change nothing instead of being refused, `state.move`. */
  noOps?: readonly string[];
  /** Refused with another code than `illegal`. */
  refusedAs?: Record<string, string>;
}

const S1 = agent('ada', 'S-1');
const abort: Command = { type: 'run.abort', reason: 'No.' };
const archive: Command = { type: 'run.archive' };
const supervise: Command = { type: 'run.supervise' };
const take: Command = { type: 'claim.take', files: ['a.ts'] };
const letGo: Command = { type: 'claim.release', id: 'L-1' };
const begin: Command = { type: 'effect.begin', name: 'deploy', class: 'unknown' };
const ended = (outcome: 'succeeded' | 'failed'): Command => ({ type: 'effect.end', id: 'X-1', outcome });
const retract: Command = { type: 'decision.retract', id: 'D-1', reason: 'Wrong.' };
const answer = {
  offer: { type: 'handoff.offer', to: 'bob' },
  accept: { type: 'handoff.accept', id: 'H-1' },
  clarify: { type: 'handoff.clarify', id: 'H-1', question: 'What?' },
  decline: { type: 'handoff.decline', id: 'H-1', reason: 'Busy.' },
  withdraw: { type: 'handoff.withdraw', id: 'H-1' },
  finish: { type: 'handoff.finish', id: 'H-1', outcome: 'Done.' },
} as const satisfies Record<string, Command>;
const question: Command = { type: 'item.raise', kind: 'question', text: 'Why?' };

const session = () => scenario('p1').given(ada, start('p1'));
const offered = () => session().given(ada, answer.offer);
const asked = () => scenario().given(ada, question);
const posted = () => scenario().given(ada, mail('bob'));

const walks: Record<Noun, Walk> = {
  run: {
    reach: {
      active: session,
      completed: () => session().given(ada, complete()),
      abandoned: () => session().given(ada, complete(), reopen('p1')).given(sam, abort),
      archived: () => session().given(ada, complete()).given(sam, archive),
    },
    attempt: {
      complete: { by: ada, command: complete('p1') },
      abandon: { by: sam, command: abort },
      reopen: { by: ada, command: reopen('p1') },
      archive: { by: sam, command: archive },
      unarchive: { by: sam, command: { type: 'run.unarchive' } },
    },
    stateOf: (run) => run.state.run?.status,
    noOps: ['completed.complete', 'archived.archive'],
  },
  step: {
    reach: {
      pending: () => scenario('p1', 'p2').given(ada, start('p2')),
      in_progress: () => scenario('p1', 'p2').given(ada, start('p1')),
      failed: () => scenario('p1', 'p2').given(ada, start('p1'), fail()),
      completed: () => scenario('p1', 'p2').given(ada, start('p1'), complete()),
      skipped: () => scenario('p1', 'p2').given(sam, skip('p1')),
    },
    attempt: {
      start: { by: ada, command: start('p1') },
      checkpoint: { by: ada, command: checkpoint('x', 'p1') },
      complete: { by: ada, command: complete('p1') },
      fail: { by: ada, command: fail('p1') },
      release: { by: ada, command: release('p1') },
      retry: { by: ada, command: retry('p1') },
      skip: { by: sam, command: skip('p1') },
      reopen: { by: ada, command: reopen('p1') },
    },
    stateOf: (run) => run.step('p1').status,
    noOps: ['completed.complete', 'pending.release', 'skipped.skip'],
  },
  session: {
    reach: {
      active: session,
      completed: () => session().given(ada, leave('completed')),
      'context-exhausted': () => session().given(ada, leave('context-exhausted')),
      timeout: () => session().given(ada, leave('timeout')),
      'maintainer-directed': () => session().given(ada, leave('maintainer-directed')),
      crashed: () =>
        session()
          .wait(31 * MINUTE_MS)
          .given(sam, supervise)
          .given(bob, start('p1')),
      superseded: () => session().given(ada, leave('superseded')),
    },
    attempt: {
      complete: { by: S1, command: leave('completed') },
      exhaust: { by: S1, command: leave('context-exhausted') },
      expire: { by: S1, command: leave('timeout') },
      direct: { by: S1, command: leave('maintainer-directed') },
      supersede: { by: S1, command: leave('superseded') },
      crash: { by: agent('cleo'), command: supervise, wait: 31 * MINUTE_MS },
    },
    stateOf: (run) => run.session('S-1').status,
    noOps: Object.keys(lifecycles.session).map((state) => `${state}.crash`),
    refusedAs: { crashed: 'fenced', superseded: 'fenced' },
  },
  blocker: {
    reach: {
      active: () => scenario().given(ada, block([])),
      bypassed: () => scenario().given(ada, block([]), settle('B-1', 'bypassed')),
      resolved: () => scenario().given(ada, block([]), settle('B-1', 'resolved')),
    },
    attempt: {
      bypass: { by: ada, command: settle('B-1', 'bypassed') },
      resolve: { by: ada, command: settle('B-1', 'resolved') },
      reactivate: { by: ada, command: settle('B-1', 'active') },
    },
    stateOf: (run) => run.row('item', 'B-1').status,
    noOps: ['active.reactivate', 'bypassed.bypass', 'resolved.resolve'],
  },
  item: {
    reach: {
      open: asked,
      resolved: () => asked().given(ada, settle('Q-1', 'resolved')),
      deferred: () => asked().given(ada, settle('Q-1', 'deferred')),
      withdrawn: () => asked().given(ada, settle('Q-1', 'withdrawn')),
    },
    attempt: {
      resolve: { by: ada, command: settle('Q-1', 'resolved') },
      defer: { by: ada, command: settle('Q-1', 'deferred') },
      withdraw: { by: ada, command: settle('Q-1', 'withdrawn') },
      reopen: { by: ada, command: settle('Q-1', 'active') },
    },
    stateOf: (run) => run.row('item', 'Q-1').status,
    noOps: ['open.reopen', 'resolved.resolve', 'deferred.defer', 'withdrawn.withdraw'],
  },
  message: {
    reach: {
      unread: posted,
      acknowledged: () => posted().given(bob, moveMail('M-1', 'acknowledged')),
      blocked: () => posted().given(bob, moveMail('M-1', 'acknowledged'), moveMail('M-1', 'blocked')),
      actioned: () => posted().given(bob, moveMail('M-1', 'actioned')),
      closed: () => posted().given(ada, moveMail('M-1', 'closed')),
    },
    attempt: {
      acknowledge: { by: bob, command: moveMail('M-1', 'acknowledged') },
      action: { by: bob, command: moveMail('M-1', 'actioned') },
      block: { by: bob, command: moveMail('M-1', 'blocked') },
      close: { by: ada, command: moveMail('M-1', 'closed') },
    },
    stateOf: (run) => run.row('message', 'M-1').status,
    noOps: ['acknowledged.acknowledge', 'actioned.action', 'blocked.block', 'closed.close'],
  },
  effect: {
    reach: {
      began: () => scenario().given(ada, begin),
      ended: () => scenario().given(ada, begin, ended('failed')),
    },
    attempt: { end: { by: ada, command: ended('succeeded') } },
    stateOf: (run) => run.row('effect', 'X-1').status,
  },
  claim: {
    reach: { held: () => scenario().given(ada, take), released: () => scenario().given(ada, take, letGo) },
    attempt: { release: { by: ada, command: letGo } },
    stateOf: (run) => run.row('claim', 'L-1').status,
    noOps: ['released.release'],
  },
  decision: {
    reach: {
      active: () => scenario().given(ada, decision()),
      retracted: () => scenario().given(ada, decision(), retract),
      superseded: () => scenario().given(ada, decision(), decision({ supersedes: 'D-1' })),
    },
    attempt: {
      retract: { by: ada, command: retract },
      supersede: { by: ada, command: decision({ supersedes: 'D-1' }) },
    },
    stateOf: (run) => run.row('decision', 'D-1').status,
    noOps: ['retracted.retract'],
  },
  handoff: {
    reach: {
      offered,
      clarifying: () => offered().given(bob, answer.clarify),
      accepted: () => offered().given(bob, answer.accept),
      declined: () => offered().given(bob, answer.decline),
      withdrawn: () => offered().given(ada, answer.withdraw),
      finished: () => offered().given(bob, answer.accept, answer.finish),
    },
    attempt: {
      accept: { by: bob, command: answer.accept },
      clarify: { by: bob, command: answer.clarify },
      decline: { by: bob, command: answer.decline },
      withdraw: { by: ada, command: answer.withdraw },
      finish: { by: bob, command: answer.finish },
    },
    stateOf: (run) => run.row('handoff', 'H-1').status,
    noOps: ['accepted.accept'],
  },
};

const pairs = (Object.keys(lifecycles) as Noun[]).flatMap((noun) => {
  const states = Object.keys(lifecycles[noun]);
  const moves = [...new Set(states.flatMap((state) => movesFrom(noun, state)))];
  return states.flatMap((state) => moves.map((name) => [noun, state, name] as const));
});

describe('every pair of every table', () => {
  it.each(pairs)('%s: %s, %s', (noun, state, name) => {
    const walk = walks[noun];
    const run = walk.reach[state]?.();
    const attempt = walk.attempt[name];
    if (!run || !attempt) throw new Error(`No way to try ${noun} ${state} ${name}`);
    expect(walk.stateOf(run)).toBe(state);
    if (attempt.wait) run.wait(attempt.wait);
    const move = moveOf(noun, state, name);
    if (move) {
      run.given(attempt.by, attempt.command);
      expect(walk.stateOf(run)).toBe(move.to);
    } else if (walk.noOps?.includes(`${state}.${name}`)) {
      run.given(attempt.by, attempt.command);
      expect(walk.stateOf(run)).toBe(state);
    } else {
      expect(run.refusal(attempt.by, attempt.command).code).toBe(walk.refusedAs?.[state] ?? 'illegal');
    }
  });

  it.each(pairs)('%s: %s, %s is for those the table says', (noun, state, name) => {
    const move = moveOf(noun, state, name);
    const attempt = walks[noun].attempt[name];
    if (!move || !attempt || move.who === 'anyone') return;
    const run = walks[noun].reach[state]?.() as Scenario;
    const stranger = agent('stranger');
    try {
      run.when(stranger, attempt.command);
      expect.unreachable(`A stranger may ${name} a ${noun}`);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(Fault);
      expect(['not_allowed', 'held', 'not_found']).toContain((thrown as Fault).code);
    }
  });
});

describe('the tables', () => {
  it('lead only to states they know', () => {
    for (const [noun, table] of Object.entries(lifecycles)) {
      for (const moves of Object.values(table) as Record<string, Move>[]) {
        for (const move of Object.values(moves)) expect(Object.keys(table), noun).toContain(move.to);
      }
    }
  });

  it('say which handoffs folded state keeps: those that a move can still change', () => {
    for (const status of Object.keys(lifecycles.handoff) as (keyof typeof lifecycles.handoff)[])
      expect(isOpenHandoff(status), status).toBe(movesFrom('handoff', status).length > 0);
  });

  it('name at most one move between two states, except for steps that stay in progress', () => {
    for (const noun of Object.keys(lifecycles) as Noun[]) {
      for (const state of Object.keys(lifecycles[noun])) {
        const targets = movesFrom(noun, state).map((name) => moveOf(noun, state, name)?.to);
        const others = targets.filter((target) => target !== state);
        expect(new Set(others).size).toBe(others.length);
        for (const to of others) expect(moveBetween(noun, state, to as string)?.to).toBe(to);
      }
    }
  });
});
