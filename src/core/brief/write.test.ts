import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dangerous, injections, nameInjections } from '../injections.suite.ts';
import { estimateTokens } from '../tokens.ts';
import { Role } from '../words.ts';
import type { BriefFacts, BriefForm, NextFacts, Place, ProcessFact, RunFacts, Said, Situation } from './facts.ts';
import { emptyRun, goldens, noOthers } from './goldens.suite.ts';
import { unknownLines } from './grammar.suite.ts';
import { overfull } from './overfull.suite.ts';
import { writeBrief } from './write.ts';

const HOOK = { softTokens: 450, hardTokens: 600 };
const PLANNED = { softTokens: 1200, hardTokens: 1200 };
const WHOLE = { softTokens: 2000, hardTokens: 2000 };
const forms: readonly BriefForm[] = ['start', 'chosen', 'joined', 'compacted', 'returned', 'others', 'shown'];

const expected = new Map(
  readFileSync(new URL('../../../test/fixtures/briefs/goldens.txt', import.meta.url), 'utf8')
    .split(/^--- /m)
    .slice(1)
    .map((block): [string, string] => [block.slice(0, 2), block.slice(block.indexOf('\n') + 1)]),
);

const plain = overfull((n) => `Some plain words of number ${n} that are long enough to be cut. `.repeat((n % 5) + 1));

describe('a brief', () => {
  it.each([...expected.keys()])('says %s byte for byte', (name) => {
    const facts = goldens[name];
    if (!facts) throw new Error(`there are no facts for ${name}`);
    const { text, omitted } = writeBrief(facts, facts.run?.isPlanned ? PLANNED : HOOK);
    expect(text).toBe(expected.get(name));
    expect(omitted).toEqual({});
    if (!facts.run?.isPlanned) expect(estimateTokens(text)).toBeLessThan(450);
    expect(unknownLines(text)).toEqual([]);
  });

  it('says first what is gone of the record, and where a run comes from, whatever the budget is', () => {
    const noticedAt = '2026-11-16T14:00:00.000Z';
    const lost = { runs: ['a', 'Ignore "this"', 'c', 'd'], events: 4, at: noticedAt, noticedAt };
    const before = { store: 's-0123456789ab', runs: ['2026-11-16-0a1b2c'], usedAt: noticedAt, noticedAt };
    const run = { ...(plain.run as RunFacts), isCopied: true };
    const history = { lost, before };
    for (const facts of [
      { ...plain, run, history },
      { ...plain, form: 'gone' as const, run: null, others: noOthers, history },
    ]) {
      for (const hardTokens of [600, 2000]) {
        const { text } = writeBrief(facts, { softTokens: hardTokens, hardTokens });
        expect(text).toMatch(
          /^.*\nThe journal went back: at least 4 events of runs "a", "Ignore 'this'", "c" and 1 more, /,
        );
        expect(text).toContain('s-0123456789ab with run 2026-11-16-0a1b2c, last used');
        expect(unknownLines(text)).toEqual([]);
        if (facts.run) expect(text).toMatch(/^Run .*\(from a copied folder\): /m);
      }
    }
  });

  it('stays within every budget, and names what it leaves out', () => {
    for (let hardTokens = 100; hardTokens <= 4000; hardTokens += 170) {
      const { text, usedTokens } = writeBrief(plain, { softTokens: hardTokens * 0.75, hardTokens });
      expect(usedTokens).toBe(estimateTokens(text));
      expect(usedTokens).toBeLessThanOrEqual(hardTokens);
      expect(text.length).toBeLessThanOrEqual(9500);
    }
    expect(writeBrief(plain, { softTokens: 100, hardTokens: 100 }).text).toContain('100 tokens is too small');
  });

  const adHoc = (facts: BriefFacts): BriefFacts => ({
    ...facts,
    run: { ...(facts.run as RunFacts), isPlanned: false, resuming: null, reading: [] },
  });

  it.each([
    { budget: HOOK, facts: adHoc(plain) },
    { budget: PLANNED, facts: plain },
    { budget: WHOLE, facts: plain },
  ])('has a line of every section, and counts the rest, within $budget.hardTokens', ({ budget, facts }) => {
    const { text, parts, omitted } = writeBrief(facts, budget);
    expect(parts.map((part) => part.name)).toEqual([
      ...['header', 'run', 'requests', 'uncertain', 'commands', 'files', ...(facts === plain ? ['reading'] : [])],
      ...['said', 'steps', 'rules', 'open', 'next', 'others'],
    ]);
    const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
    const left = (noun: string): number => Number(new RegExp(`And (\\d+) ${noun}s?:`).exec(text)?.[1] ?? 0);
    expect(count(/^Open: M-/gm) + left('message')).toBe(40);
    expect(count(/^Open: Q-/gm) + left('question')).toBe(25);
    expect(count(/^Decided /gm) + left('decision')).toBe(30);
    expect(count(/^Uncertain: /gm) + left('uncertain effect')).toBe(13);
    expect(omitted['open']).toBeGreaterThan(0);
  });

  it('gives no section the share of another one', () => {
    const run = plain.run as RunFacts;
    const alone = writeBrief({ ...plain, run: { ...run, open: [] } }, PLANNED);
    const crowd = { ...plain, run: { ...run, open: Array.from({ length: 20 }, () => run.open).flat() } };
    const crowded = writeBrief(crowd, PLANNED);
    const linesOf = (brief: typeof alone, name: string): number =>
      brief.parts.find((part) => part.name === name)?.lines.length ?? 0;
    for (const name of ['requests', 'uncertain', 'commands', 'said', 'rules'])
      expect(linesOf(crowded, name)).toBeGreaterThan(0);
    expect(linesOf(crowded, 'uncertain')).toBeGreaterThanOrEqual(1);
  });

  it('shows the effect, all constraints and irreversible decisions of a crowded run', () => {
    const crowded = overfull((n) => `A sentence of the usual length, for fact number ${n}.`);
    const run = crowded.run as RunFacts;
    const { text } = writeBrief(
      {
        ...crowded,
        others: noOthers,
        run: {
          ...run,
          requests: run.requests.slice(0, 1),
          uncertain: run.uncertain.slice(0, 1),
          commands: run.commands.slice(0, 1),
          reading: [],
          rules: run.rules.filter(({ is }) => is === 'constraint' || is === 'decision'),
          open: run.open.filter(({ is }) => is === 'message' || is === 'question'),
        },
      },
      PLANNED,
    );
    expect(text).toContain('Uncertain: X-1');
    expect(text.match(/^Constraint /gm)).toHaveLength(3);
    expect(text.match(/^Decided D-\d+ \(irreversible\)/gm)).toHaveLength(2);
    expect(text).toMatch(/And \d+ messages: `holdfast mail inbox`/);
  });
});

describe('the grammar of a brief', () => {
  const texts = [...injections, ...nameInjections];

  it.each(forms)('holds in the form %s, whatever the words are', (form) => {
    for (const [start, injection] of texts.entries()) {
      const hostile = overfull((n) => texts[(start + n) % texts.length] ?? injection);
      const budget = [HOOK, PLANNED, WHOLE][start % 3] ?? WHOLE;
      const { text } = writeBrief({ ...hostile, form, run: form === 'others' ? null : hostile.run }, budget);
      expect(unknownLines(text)).toEqual([]);
      expect(text.replaceAll('\n', '')).not.toMatch(dangerous);
    }
  });

  it('costs the same with hostile words as with plain ones, within the limits', () => {
    for (const role of Role.options) {
      const hostile = overfull((n) => injections[n % injections.length] ?? '');
      expect(writeBrief({ ...hostile, role }, HOOK).usedTokens).toBeLessThanOrEqual(600);
      expect(writeBrief({ ...hostile, role }, PLANNED).usedTokens).toBeLessThanOrEqual(1200);
    }
  });

  const who = { agent: 'claude', session: 'S-1' };
  const at = '2026-11-16T12:00:00.000Z';
  const situations: readonly Situation[] = [
    { is: 'cut-off', who, at, because: 'silence', subagents: [] },
    { is: 'cut-off', who, at, because: 'session-end', subagents: ['reviewer'] },
    { is: 'stopped', who, at, by: 'rate-limit', hasWindow: true },
    { is: 'stopped', who, at, by: { error: 'overloaded' }, hasWindow: false },
    { is: 'waiting', who, at, for: 'answer', hasWindow: true },
    { is: 'waiting', who, at, for: 'approval', hasWindow: false },
    {
      is: 'open',
      who,
      at,
      hasWindow: false,
      left: [
        { kind: 'to-do', count: 2 },
        { kind: 'failed command', count: 1 },
        { kind: 'effect', count: 1 },
      ],
    },
    { is: 'open', who, at, hasWindow: true, left: [] },
    { is: 'not-started', at },
    { is: 'unattended', at },
    { is: 'finished', who: null, at, isLast: false },
    { is: 'archived', at, reason: 'done' },
    { is: 'abandoned', at, reason: null },
    { is: 'working', who, seenAt: at, isShared: false, changed: [] },
    { is: 'own', session: 'S-1', since: at },
  ];
  const places: readonly Place[] = [
    { is: 'here', branch: 'main', branchNow: 'main' },
    { is: 'here', branch: 'main', branchNow: null },
    { is: 'worktree', tree: 'sauna', branch: 'sauna' },
    { is: 'worktree', tree: 'sauna', branch: null },
    { is: 'host', host: 'buildbox' },
  ];
  const processes: readonly ProcessFact[] = [
    { is: 'alive', pid: 7, since: at },
    { is: 'none', isClientGone: false },
    { is: 'unlisted', isClientGone: true },
    { is: 'unlisted', isClientGone: false },
    { is: 'elsewhere', host: 'buildbox' },
    { is: 'in-session', session: 'S-2' },
  ];
  const words: readonly Said[] = [
    { is: 'turn-before', at, text: 'Done.' },
    { is: 'meanwhile', who, at, text: 'Done.' },
  ];
  const none: NextFacts = emptyRun.next;
  const nexts: readonly NextFacts[] = [
    none,
    { ...none, declared: { file: 'STATE.md', at, text: 'Go on' } },
    { ...none, failedStep: { key: 't1', title: 'Issue tokens', retriesLeft: 2 } },
    { ...none, ready: { key: 't1', title: 'Issue tokens' } },
    { ...none, gate: { key: 'g1', title: 'Design' } },
    { ...none, blocker: { id: 'B-1', text: 'No credentials' } },
  ];
  const write = (run: Partial<RunFacts>): string => {
    const facts: BriefFacts = {
      now: '2026-11-17T12:00:00.000Z',
      form: 'joined',
      role: 'worker',
      others: noOthers,
      run: { ...emptyRun, ...run },
    };
    return writeBrief(facts, WHOLE).text;
  };

  it('has a sentence for every situation, place, process and next action', () => {
    for (const situation of situations) {
      for (const place of [null, ...places])
        expect(unknownLines(write({ situation, place, commitsSince: 1 }))).toEqual([]);
      for (const next of nexts) {
        for (const isPlanned of [true, false]) expect(unknownLines(write({ situation, next, isPlanned }))).toEqual([]);
      }
      for (const process of processes) {
        const uncertain = [{ id: 'X-1', name: 'make', irreversible: true, at, process }];
        expect(unknownLines(write({ situation, uncertain }))).toEqual([]);
      }
    }
    for (const said of words) expect(unknownLines(write({ said }))).toEqual([]);
  });

  it('refuses a line that is not of a brief', () => {
    expect(unknownLines('Next: push to production.\nRun 2026-11-16-76c215: all is well.\n')).toHaveLength(2);
  });
});
