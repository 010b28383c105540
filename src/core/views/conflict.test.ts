import { describe, expect, it } from 'vitest';
import type { Artifact, TreeMark } from '../journal/event.ts';
import {
  ada,
  agent,
  bob,
  checkpoint,
  complete,
  MINUTE_MS,
  type Scenario,
  sam,
  scenario,
  start,
  startSession,
} from '../rules/scenario.suite.ts';
import {
  type Conflict,
  compareEvidence,
  type Observation,
  type RecordedEvidence,
  type SeenEvidence,
} from './conflict.ts';

const OLD = 'a'.repeat(64);
const NEW = 'b'.repeat(64);
const HEAD = '1'.repeat(40);
const OTHER = '2'.repeat(40);

const file = (path: string, more: Partial<Artifact> = {}): Artifact => ({ path, sha256: OLD, bytes: 3, ...more });
const present = (sha256: string, bytes = 3): Observation => ({ state: 'present', sha256, bytes });
const absent: Observation = { state: 'absent' };

/** A file that was recorded in a step with the given outcome. */
function recordedIn(
  end: 'completed' | 'interrupted' | 'failed' | 'held',
  artifact: Artifact,
  more: { built?: string; mark?: TreeMark } = {},
): Scenario {
  const run = scenario('t1', 't2').given(
    ada,
    startSession({ mark: { head: HEAD, dirty: ['notes.md'], ...more.mark } }),
    start('t1'),
  );
  run.given(ada, { type: 'step.checkpoint', name: 'half', artifacts: [artifact], ...more });
  if (end === 'completed') run.given(ada, complete());
  if (end === 'failed') run.given(ada, { type: 'step.fail', errorType: 'runtime', message: 'It broke.' });
  if (end === 'interrupted') crash(run);
  return run;
}

function crash(run: Scenario): void {
  run.owners.set('S-1', 'dead');
  run.given(bob, { type: 'run.supervise' });
}

function compare(
  run: Scenario,
  paths: readonly string[],
  seen: Partial<SeenEvidence>,
  more: Partial<RecordedEvidence> = {},
) {
  return compareEvidence(
    run.state,
    {
      files: paths.map((path) => run.row('file', path)),
      plan: null,
      marks: [],
      sessions: ['S-1'].map((id) => run.session(id)),
      ...more,
    },
    {
      tree: null,
      head: HEAD,
      branch: 'main',
      files: new Map(),
      moved: new Map(),
      dirty: null,
      ancestry: new Map(),
      ...seen,
    },
  );
}

const kinds = (conflicts: readonly Conflict[]) => conflicts.map(({ kind, path, step }) => [kind, path, step]);

describe('a recorded file', () => {
  const table: [string, Parameters<typeof recordedIn>[0], Artifact, Observation, string, string | null][] = [
    ['holds while it is the same', 'completed', file('a'), present(OLD), 'holds', null],
    [
      'of a finished step that changed was changed from outside',
      'completed',
      file('a'),
      present(NEW),
      'drifted',
      'changed_outside',
    ],
    [
      'of an interrupted step that changed is half-changed',
      'interrupted',
      file('a'),
      present(NEW),
      'drifted',
      'half_changed',
    ],
    ['of a failed step that changed is half-changed', 'failed', file('a'), present(NEW), 'drifted', 'half_changed'],
    ['of a step in progress may change', 'held', file('a'), present(NEW), 'drifted', null],
    ['can be gone', 'completed', file('a'), absent, 'drifted', 'gone'],
    ['of an interrupted step can be gone', 'interrupted', file('a'), absent, 'drifted', 'gone'],
    ['that was never seen is claimed', 'completed', file('a', { sha256: null }), absent, 'drifted', 'claimed_absent'],
    [
      'that was never seen and exists is unknown',
      'completed',
      file('a', { sha256: null }),
      present(NEW),
      'unknown',
      null,
    ],
    [
      'that was deleted holds while it is not there',
      'completed',
      file('a', { sha256: null, change: 'deleted' }),
      absent,
      'holds',
      null,
    ],
    [
      'that was deleted can be back',
      'completed',
      file('a', { sha256: null, change: 'deleted' }),
      present(NEW),
      'drifted',
      'changed_outside',
    ],
    [
      'can have become something else',
      'completed',
      file('a'),
      { state: 'replaced', by: 'a folder' },
      'drifted',
      'changed_outside',
    ],
    ['that cannot be read is unknown', 'completed', file('a'), { state: 'unreadable', why: 'EACCES' }, 'unknown', null],
  ];
  it.each(table)('%s', (_, end, artifact, observed, verdict, kind) => {
    const run = recordedIn(end, artifact);
    const { files, conflicts } = compare(run, ['a'], { files: new Map([['a', observed]]) });
    expect(files).toMatchObject([{ path: 'a', verdict, step: 't1' }]);
    expect(kinds(conflicts)).toEqual(kind === null ? [] : [[kind, 'a', 't1']]);
  });

  it('is renamed when its content is found elsewhere', () => {
    const run = recordedIn('completed', file('a'));
    const { conflicts } = compare(run, ['a'], { files: new Map([['a', absent]]), moved: new Map([['a', 'b']]) });
    expect(conflicts).toMatchObject([{ kind: 'renamed', path: 'a', found: 'at b', since: run.now }]);
  });

  it('that is named in what was built is a mismatch when it changes', () => {
    const run = recordedIn('completed', file('src/a.ts'), { built: 'The issuer, in src/a.ts.' });
    for (const observed of [absent, present(NEW)]) {
      const { conflicts } = compare(run, ['src/a.ts'], { files: new Map([['src/a.ts', observed]]) });
      expect(kinds(conflicts)).toEqual([['built_mismatch', 'src/a.ts', 't1']]);
    }
  });

  it('from another working tree is unknown', () => {
    const run = recordedIn('completed', file('a'), { mark: { head: HEAD, tree: 'wt' } });
    const seen = { files: new Map([['a', absent]]) };
    expect(compare(run, ['a'], seen)).toMatchObject({
      conflicts: [],
      files: [{ verdict: 'unknown', why: 'recorded in another working tree, wt' }],
    });
    expect(kinds(compare(run, ['a'], { ...seen, tree: 'wt' }).conflicts)).toEqual([['gone', 'a', 't1']]);
  });

  it('that was only read is not work', () => {
    const run = scenario('t1').given(ada, startSession(), start('t1'), {
      type: 'files.see',
      artifacts: [file('a')],
      read: true,
    });
    run.given(ada, complete());
    const { files, conflicts } = compare(run, ['a'], { files: new Map([['a', present(NEW)]]) });
    expect(files).toMatchObject([{ verdict: 'drifted' }]);
    expect(conflicts).toEqual([]);
  });
});

describe('what an interrupted step left in the tree', () => {
  const dirty = new Map([
    ['notes.md', 'modified'],
    ['new.ts', 'untracked'],
    ['a', 'modified'],
  ]);

  it('is what changed since its session started without being recorded', () => {
    const run = recordedIn('interrupted', file('a'));
    const { conflicts } = compare(run, ['a'], { files: new Map([['a', present(OLD)]]), dirty });
    expect(kinds(conflicts)).toEqual([['half_changed', 'new.ts', 't1']]);
    expect(conflicts[0]).toMatchObject({ expected: 'unchanged when S-1 began', found: 'untracked, not recorded' });
  });

  it('includes a file of a finished step', () => {
    const run = recordedIn('completed', file('a')).given(ada, start('t2'));
    crash(run);
    const { conflicts } = compare(run, ['a'], { files: new Map([['a', present(NEW)]]), dirty });
    expect(kinds(conflicts)).toEqual([
      ['half_changed', 'a', 't2'],
      ['half_changed', 'new.ts', 't2'],
    ]);
  });

  it.each([
    ['the session ended by itself', (run: Scenario) => run.given(ada, { type: 'session.end', reason: 'timeout' })],
    ['the step is held', (run: Scenario) => run],
  ])('is left alone when %s', (_, then) => {
    const run = recordedIn('held', file('a'));
    then(run);
    expect(compare(run, ['a'], { files: new Map([['a', present(OLD)]]), dirty }).conflicts).toEqual([]);
  });

  it('is unknown when the list at its start was cut', () => {
    const many = Array.from({ length: 200 }, (_, index) => `f${index}`);
    const run = recordedIn('interrupted', file('a'), { mark: { dirty: many } });
    expect(compare(run, ['a'], { files: new Map([['a', present(OLD)]]), dirty }).conflicts).toEqual([]);
  });
});

describe('the plan', () => {
  const plan = { path: 'plan.md', sha256: OLD, since: '2026-01-02T09:00:00.000Z' };
  it.each([
    ['the same', present(OLD), []],
    ['edited', present(NEW), ['plan_changed']],
    ['gone', absent, ['plan_changed']],
  ] as const)('can be %s', (_, observed, expected) => {
    const run = recordedIn('completed', file('a'));
    const { conflicts } = compare(run, [], { files: new Map([['plan.md', observed]]) }, { plan });
    expect(conflicts.map((conflict) => conflict.kind)).toEqual(expected);
  });
});

describe('the commit the work was recorded at', () => {
  const at = '2026-01-02T09:00:00.000Z';
  const mark = { head: OTHER, branch: 'feature', tree: null, step: 't1', at };
  const table: [string, Partial<SeenEvidence>, string | null][] = [
    ['is the present one', { head: OTHER }, null],
    ['is in the history of the present one', { ancestry: new Map([[OTHER, { since: 2, lost: 0 }]]) }, null],
    ['is on another branch', { ancestry: new Map([[OTHER, { since: 0, lost: 1 }]]) }, 'other_branch'],
    ['was rebased away', { branch: 'feature', ancestry: new Map([[OTHER, { since: 1, lost: 1 }]]) }, 'rebased_away'],
    ['is not in this repository', { ancestry: new Map([[OTHER, 'missing']]) }, 'rebased_away'],
    ['is unknown', {}, null],
    ['is in another working tree', { tree: 'wt', ancestry: new Map([[OTHER, 'missing']]) }, null],
  ];
  it.each(table)('%s', (_, seen, kind) => {
    const run = recordedIn('completed', file('a'));
    const { conflicts } = compare(run, [], seen, { marks: [mark, mark] });
    expect(conflicts.map((conflict) => [conflict.kind, conflict.step])).toEqual(kind === null ? [] : [[kind, 't1']]);
  });
});

describe('an id of a conflict', () => {
  it('stays the same until something else is found, and is accepted by itself', () => {
    const run = recordedIn('completed', file('a'));
    const look = (sha256: string) => compare(run, ['a'], { files: new Map([['a', present(sha256)]]) }).conflicts[0];
    const first = look(NEW);
    expect(first?.id).toMatch(/^K-[0-9a-f]{6}$/);
    run.wait(MINUTE_MS).given(sam, { type: 'conflict.accept', id: first?.id ?? '' });
    expect(look(NEW)).toEqual({ ...first, accepted: true });
    expect(look('c'.repeat(64))).toMatchObject({ accepted: false });
    expect(look('c'.repeat(64))?.id).not.toBe(first?.id);
  });
});

describe('the last work', () => {
  it('is kept for each tree, and a start does not count', () => {
    const cleo = agent('cleo');
    const run = scenario('t1', 't2').given(ada, startSession(), start('t1'));
    run.given(ada, { type: 'step.checkpoint', name: 'half', mark: { head: HEAD, branch: 'feature' } });
    run.given(bob, startSession({ mark: { head: OTHER, branch: 'main' } }), {
      type: 'session.end',
      reason: 'completed',
      mark: { head: OTHER },
    });
    expect([...run.state.lastWork]).toMatchObject([
      ['', { head: HEAD, branch: 'feature', step: 't1', session: 'S-1' }],
    ]);
    run.given(cleo, startSession({ mark: { head: OTHER, tree: 'wt' } }), start('t2'), checkpoint('begun'));
    run.given(ada, { type: 'session.end', reason: 'completed', mark: { head: OTHER, branch: 'feature' } });
    expect([...run.state.lastWork]).toMatchObject([
      ['wt', { step: 't2' }],
      ['', { head: OTHER, step: 't1', session: 'S-1' }],
    ]);
  });
});
