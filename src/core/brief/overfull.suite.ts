import type { BriefFacts, RunFacts } from './facts.ts';
import { emptyRun } from './goldens.suite.ts';

/** Facts with more of everything than fits, in every form. Text that someone else chose comes from `words`. */
export function overfull(words: (index: number) => string): BriefFacts {
  const at = (minute: number): string => `2026-11-16T12:${String(minute % 60).padStart(2, '0')}:00.000Z`;
  const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
  const who = { agent: words(1), session: 'S-1' };
  const run: RunFacts = {
    ...emptyRun,
    id: words(2),
    title: words(3),
    isPlanned: true,
    suffix: '0a1b2c',
    resuming: {
      phase: words(4),
      plan: '2.1',
      kind: 'Task',
      title: words(5),
      checkpoint: words(6),
      nextCheckpoint: words(7),
      status: 'interrupted',
    },
    situation: { is: 'cut-off', who, at: at(59), because: 'process', subagents: [words(8)] },
    place: { is: 'here', branch: words(9), branchNow: words(10) },
    commitsSince: 3,
    requests: [
      { is: 'asked', which: 'first', at: at(1), text: words(11) },
      { is: 'asked', which: 'last', at: at(40), text: words(12) },
      { is: 'answered', at: at(20), text: words(13), question: words(14) },
      { is: 'meanwhile', who, at: at(41), text: words(15) },
    ],
    uncertain: [
      ...many(12, (n) => ({
        id: `X-${n + 1}`,
        name: words(n),
        irreversible: n % 2 === 0,
        at: at(n),
        process: { is: 'none' as const, isClientGone: true },
      })),
      { id: words(16), name: words(1), irreversible: false, at: at(2), process: { is: 'elsewhere', host: words(17) } },
    ],
    commands: [
      { is: 'failed', name: words(18), exitCode: 1, at: at(50), changedAfter: 2 },
      { is: 'running', name: words(19) },
      { is: 'passed', name: words(0), exitCode: 0, at: at(51), changedAfter: 4 },
      { is: 'ended', name: words(1), at: at(52) },
    ],
    files: {
      files: many(6, (n) => ({
        path: `${words(n)}/${'deep/'.repeat(20)}${n}.ts`,
        is: (['changed', 'unrecorded', 'committed', 'as-before', 'changed-again', 'named'] as const)[n] ?? 'changed',
        lines: { is: 'edited', added: n, deleted: n },
      })),
      total: 60,
      commits: 2,
      othersDirty: 7,
    },
    reading: many(9, (n) => ({ path: words(n), tokens: 1000 * n })),
    said: { is: 'at-end', at: at(58), text: `${words(2)} ${words(3)}\n\n${words(4)}?` },
    steps: {
      kind: 'plan',
      done: 20,
      total: 60,
      doneTitles: many(20, words),
      inProgress: many(3, (n) => ({ key: words(n), title: words(n + 1), heldBy: n === 1 ? words(n) : null })),
      left: many(37, (n) => ({ key: words(n), title: words(n + 2) })),
    },
    rules: [
      ...many(3, (n) => ({ is: 'constraint' as const, id: `N-${n + 1}`, at: at(n), text: words(n) })),
      ...many(3, (n) => ({ is: 'dead-end' as const, id: `N-${n + 4}`, text: words(n) })),
      ...many(30, (n) => ({
        is: 'decision' as const,
        id: `D-${n + 1}`,
        text: words(n),
        reason: words(n + 1),
        irreversible: n < 2,
        clone: n === 3 ? words(n) : null,
      })),
      { is: 'approved-plan', at: at(3), text: words(5) },
      { is: 'built', text: words(6) },
    ],
    open: [
      { is: 'offer', id: 'H-1', by: words(1), at: at(1), text: words(2) },
      { is: 'error', id: 'E-1', at: at(1), text: words(3), step: words(4) },
      { is: 'blocker', id: 'B-1', at: at(1), text: words(5), affects: many(9, words), workaround: words(6) },
      ...many(25, (n) => ({
        is: 'question' as const,
        id: `Q-${n + 1}`,
        at: at(n),
        text: words(n),
        to: { name: words(n) },
      })),
      ...many(40, (n) => ({
        is: 'message' as const,
        id: `M-${n + 1}`,
        at: at(n),
        text: words(n),
        from: words(n + 1),
        toReader: true,
        priority: 'P1',
        late: n === 0,
        answers: n === 1 ? words(n) : null,
      })),
      {
        is: 'commitment',
        id: 'C-1',
        at: at(1),
        text: words(7),
        by: words(8),
        to: words(9),
        due: words(10),
        late: true,
      },
      { is: 'finding', id: 'F-1', at: at(1), text: words(11), severity: 'must_fix' },
      { is: 'conflict', id: 'K-0a1b2c', at: at(1), path: words(12), kind: 'changed_outside' },
      { is: 'session', who, at: at(1), steps: many(9, words), files: many(9, words) },
    ],
    next: { ...emptyRun.next, declared: { by: words(1), at: at(57), text: words(2) } },
  };
  return {
    now: '2026-11-16T13:00:00.000Z',
    form: 'start',
    role: 'worker',
    run,
    others: {
      more: 9,
      lines: [
        { is: 'working', who, title: words(3), seenAt: at(59), changed: many(3, words) },
        {
          is: 'unfinished',
          id: words(4),
          isPlanned: true,
          title: words(5),
          state: 'cut off',
          at: at(5),
          agent: words(6),
          tree: words(7),
          host: words(8),
          uncertain: ['X-1', 'X-2'],
        },
      ],
    },
  };
}
