import { describe, expect, it } from 'vitest';
import { readPrompt } from '../prompt/prompt.ts';
import { significantWords } from '../prompt/words.ts';
import { addMs } from '../time.ts';
import type { RunFacts } from '../views/run-facts.ts';
import type { RunStateName } from '../views/run-state.ts';
import { fieldOf, type KnownRun, namedRuns, shownInFull, type Viewer } from './candidate.ts';
import { chooseRun } from './choose.ts';
import { explainChoice, explanationLines } from './explain.ts';
import { runsNamed } from './run-name.ts';

const NOW = '2026-11-16T12:00:00.000Z';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const viewer: Viewer = {
  now: NOW,
  machine: 'm1',
  tree: '',
  branch: 'main',
  pid: 7,
  conversations: ['mine'],
  chosen: null,
  passes: new Map(),
};

interface Given extends Partial<Omit<RunFacts, 'place' | 'words'>> {
  title?: string;
  agoMs?: number;
  tree?: string;
  branch?: string;
  machine?: string;
}

function known(run: string, state: RunStateName, given: Given = {}): KnownRun {
  const { title = run, agoMs = MINUTE_MS, tree = '', branch = 'main', machine = 'm1', ...more } = given;
  const facts: RunFacts = {
    format: 1,
    kind: 'ad-hoc',
    status: 'active',
    turn: null,
    sessions: [],
    last: null,
    place: { machine, tree, branch },
    waits: state === 'waiting' ? 'question' : null,
    left: [],
    forPerson: [],
    blockedBy: null,
    isBegun: true,
    isTrivial: false,
    progress: { done: 0, total: 0 },
    uncertain: [],
    conversations: [],
    words: [...significantWords(title)],
    steps: [],
    plan: null,
    asked: null,
    ...more,
  };
  const at = addMs(NOW, -agoMs);
  const word = state === 'waiting' ? 'needs you' : state;
  return { run, title, openedAt: at, updatedAt: at, facts, state: { state, word, why: '' }, isImported: false };
}

const choose = (prompt: string, runs: readonly KnownRun[], by: Partial<Viewer> = {}, given: string | null = null) => {
  const looking = { ...viewer, ...by };
  return chooseRun(readPrompt(prompt), fieldOf(runs, looking), looking, given);
};

describe('the order of candidates', () => {
  const order = (runs: readonly KnownRun[], by: Partial<Viewer> = {}): string[] =>
    fieldOf(runs, { ...viewer, ...by }).candidates.map(({ run }) => run);

  it('is conversation, chosen run, place, state, latest event, id', () => {
    const runs = [
      known('f', 'open', { agoMs: 3 * MINUTE_MS }),
      known('e', 'open', { agoMs: 2 * MINUTE_MS }),
      known('d', 'waiting', { agoMs: 9 * MINUTE_MS }),
      known('c', 'cut off', { agoMs: 10 * MINUTE_MS }),
      known('g', 'cut off', { branch: 'other' }),
      known('h', 'cut off', { tree: 'sauna' }),
      known('i', 'cut off', { machine: 'm2' }),
      known('b', 'open', { machine: 'm2' }),
      known('a', 'open', { tree: 'sauna', conversations: ['mine'] }),
    ];
    expect(order(runs, { chosen: 'b' })).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
  });

  it('is explained by the first rule in which two neighbours differ', () => {
    const runs = [
      known('a', 'open', { conversations: ['mine'], machine: 'm2' }),
      known('b', 'open', { machine: 'm2' }),
      known('c', 'open'),
      known('d', 'open', { tree: 'sauna' }),
      known('e', 'cut off', { machine: 'm3', agoMs: 9 * MINUTE_MS }),
      known('f', 'open', { machine: 'm3' }),
      known('g', 'open', { machine: 'm3', agoMs: 2 * MINUTE_MS }),
      known('h', 'open', { machine: 'm3', agoMs: 2 * MINUTE_MS }),
    ];
    const looking = { ...viewer, chosen: 'b' };
    const explained = explainChoice('c', 'worktree', fieldOf(runs, looking), looking);
    expect(explained.candidates.map(({ run, beforeNext }) => `${run} ${beforeNext}`)).toEqual([
      ...['a conversation', 'b chosen', 'c place', 'd place', 'e state', 'f time', 'g id', 'h null'],
    ]);
    const [why, , first] = explanationLines(explained).split('\n');
    expect(why).toBe('This run was chosen because it is the one last recorded in from this worktree.');
    expect(first).toBe('1. "a" "a", open, on another machine; before the next one by the conversation.');
  });

  it('leaves out what is finished, trivial, working, over or older than two weeks', () => {
    const runs = [
      known('done', 'finished'),
      known('tiny', 'cut off', { isTrivial: true }),
      known('busy', 'working'),
      known('gone', 'archived'),
      known('old', 'open', { agoMs: 15 * DAY_MS }),
      known('plan', 'open', { agoMs: 15 * DAY_MS, kind: 'planned', progress: { done: 1, total: 2 } }),
    ];
    expect(order(runs)).toEqual(['plan']);
    expect(namedRuns(fieldOf(runs, viewer), 'plan')).toMatchObject({ runs: [{ run: 'busy' }], more: 1 });
    expect(namedRuns(fieldOf([known('old', 'open', { agoMs: 15 * DAY_MS })], viewer), null)).toEqual({
      runs: [],
      more: 0,
    });
  });

  it('leaves out the run of a program unless it waits for a person, and never continues one that rests', () => {
    const resting = known('lg-1', 'finished', { source: 'langgraph' });
    const waiting = known('lg-2', 'open', { source: 'langgraph', forPerson: ['question Q-1'] });
    expect(order([resting, known('lg-3', 'open', { source: 'langgraph' }), waiting])).toEqual(['lg-2']);
    expect(choose('continue', [resting])).toMatchObject({ run: null });
  });

  it('shows the first in full in its own working tree only, and not after it was passed over', () => {
    const shown = (runs: readonly KnownRun[], by: Partial<Viewer> = {}) =>
      shownInFull(fieldOf(runs, { ...viewer, ...by }), { ...viewer, ...by })?.run ?? null;
    expect(shown([known('a', 'open')])).toBe('a');
    expect(shown([known('a', 'open', { branch: 'other' })])).toBe('a');
    expect(shown([known('a', 'open', { tree: 'sauna' })])).toBeNull();
    expect(shown([known('a', 'open')], { passes: new Map([['a', 1]]) })).toBeNull();
    expect(shown([known('a', 'cut off')], { passes: new Map([['a', 1]]) })).toBe('a');
    expect(shown([known('a', 'cut off'), known('b', 'open')], { passes: new Map([['a', 2]]) })).toBe('b');
  });

  it('names three others at most', () => {
    const runs = ['a', 'b', 'c', 'd', 'e'].map((run) => known(run, 'open'));
    const { runs: named, more } = namedRuns(fieldOf(runs, viewer), 'a');
    expect([named.length, more]).toEqual([3, 1]);
  });
});

describe('the first prompt', () => {
  const thumbnails = known('2026-11-16-b04e19', 'cut off', { title: 'Thumbnails of portrait photos' });
  const labels = known('2026-11-16-76c215', 'open', { title: 'Bakery price labels' });

  it('of a conversation that is known goes to its run, whatever it says', () => {
    const own = known('own', 'finished', { conversations: ['mine'] });
    expect(choose('Write a privacy page', [labels, own])).toMatchObject({ run: 'own', why: 'same conversation' });
    expect(choose('/compact', [own])).toMatchObject({ run: 'own', kind: 'command' });
  });

  it('that is a command to the client chooses nothing yet', () => {
    expect(choose('/compact', [labels])).toEqual({ run: null, why: 'command', kind: 'command' });
  });

  it('goes to the chosen run unless it names another', () => {
    const by = { chosen: labels.run };
    expect(choose('Write a privacy page', [thumbnails, labels], by)).toMatchObject({
      run: labels.run,
      why: 'chosen run',
      kind: 'request',
    });
    expect(choose('About b04e19: crop first', [thumbnails, labels], by)).toMatchObject({
      run: thumbnails.run,
      why: 'named run',
    });
    expect(choose('Write a page', [known('x', 'completed', { kind: 'planned' })], { chosen: 'x' })).toMatchObject({
      run: null,
    });
    expect(choose('Write a page', [labels], {}, 'given')).toMatchObject({ run: 'given' });
  });

  it('that holds a plan approved in the same process goes to its run', () => {
    const plan = { start: 'read the exif rotation before the crop', pid: 7 };
    const run = known('plan', 'finished', { plan });
    const prompt = 'Implement the following plan:\n\n# Read the EXIF rotation before the crop, then test';
    expect(choose(prompt, [run])).toMatchObject({ run: 'plan', why: 'approved plan' });
    expect(choose(prompt, [run], { pid: 8 })).toMatchObject({ run: null });
  });

  it('that names a title or an unfinished step goes there', () => {
    expect(choose('What about the bakery price labels?', [thumbnails, labels])).toMatchObject({ why: 'named run' });
    const planned = known('plan', 'open', { kind: 'planned', steps: ['Rotate refresh tokens'] });
    expect(choose('Please rotate refresh tokens today', [planned])).toMatchObject({ run: 'plan', why: 'named run' });
  });

  it('that says continue goes to the nearest unfinished run', () => {
    expect(choose('continue', [thumbnails, labels])).toMatchObject({ run: thumbnails.run, kind: 'continuation' });
    expect(choose('continue, but mind the bakery labels', [thumbnails, labels])).toMatchObject({ run: labels.run });
    expect(choose('go on', [known('busy', 'working'), known('far', 'open', { tree: 'x' })])).toMatchObject({
      run: 'busy',
      why: 'continuation of work under way',
    });
    expect(choose('go on', [known('far', 'open', { tree: 'x' }), known('done', 'finished')])).toMatchObject({
      run: 'far',
    });
    expect(choose('go on', [known('done', 'finished')])).toMatchObject({
      run: 'done',
      why: 'continuation of what was finished last',
    });
    expect(choose('go on', [known('done', 'finished', { agoMs: 2 * DAY_MS })])).toMatchObject({
      run: null,
      why: 'nothing to continue',
    });
    expect(choose('go on', [known('old', 'open', { agoMs: 20 * DAY_MS })])).toMatchObject({ run: 'old' });
  });

  it('that names what to continue goes to a run about it, or opens one', () => {
    expect(choose('continue with the thumbnails', [labels, thumbnails])).toMatchObject({ run: thumbnails.run });
    expect(choose('continue with the thumbnails', [labels])).toMatchObject({ run: null, why: 'new request' });
  });

  it('that answers goes to the run that waits', () => {
    const waits = known('waits', 'waiting', { asked: 'Should it get a theme for the night?', agoMs: 9 * MINUTE_MS });
    expect(choose('yes', [labels, waits])).toMatchObject({ run: 'waits', kind: 'answer', why: 'answer' });
    expect(choose('yes', [labels])).toMatchObject({ run: labels.run, kind: 'answer' });
    expect(choose('yes, add a dark theme', [labels, waits])).toMatchObject({ run: 'waits' });
    expect(choose('yes, add a search box', [labels, waits])).toMatchObject({ run: null, kind: 'request' });
  });

  it('that asks for anything else opens a run', () => {
    expect(choose('Write a privacy page', [thumbnails, labels])).toEqual({
      run: null,
      why: 'new request',
      kind: 'request',
    });
  });
});

describe('the name of a run', () => {
  const runs = [
    { run: '2026-11-16-76c215', title: 'Bakery price labels' },
    { run: '2026-11-12-login', title: 'Login that survives a stolen token' },
    { run: '2026-11-13-login', title: 'Login page' },
  ];
  const named = (name: string, toRead = false) => runsNamed(name, runs, toRead).map(({ run }) => run.slice(5));

  it('is an id, its six digits, the id without its date, a prefix, the end of it, or its title', () => {
    expect(named('2026-11-16-76c215')).toEqual(['11-16-76c215']);
    expect(named('76c215')).toEqual(['11-16-76c215']);
    expect(named('login')).toEqual(['11-12-login', '11-13-login']);
    expect(named('2026-11-12')).toEqual(['11-12-login']);
    expect(named('-76c215')).toEqual(['11-16-76c215']);
    expect(named('bakery PRICE labels!')).toEqual(['11-16-76c215']);
    expect(named('stolen')).toEqual([]);
    expect(named('stolen', true)).toEqual(['11-12-login']);
  });
});
