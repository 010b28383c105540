import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { formatSuite } from '../format.suite.ts';
import { richModel } from '../models.suite.ts';
import { apex } from './format.ts';
import {
  files,
  findings,
  gates,
  HANDOFF,
  handoff,
  logs,
  MAIN,
  markedNames,
  noVersion,
  ownSteps,
  place,
  state,
  step,
  stepList,
  stepNames,
  v1,
  v2,
  v3,
} from './samples.suite.ts';

const started = { startedAt: '2026-03-01T09:00:00Z' };
const steps: RunModel['steps'] = [
  {
    key: '1',
    title: 'Requirements',
    kind: 'step',
    status: 'completed',
    ...started,
    endedAt: '2026-03-01T09:30:00Z',
    agents: ['02-Requirements'],
    artifacts: [{ path: 'docs/asked.md', change: 'created', note: 'Signed' }],
    summary: 'All asked',
    built: ['The list of wishes'],
    wave: 1,
  },
  {
    key: '2',
    title: 'Architecture',
    kind: 'phase',
    status: 'in_progress',
    ...started,
    checkpoint: 'phase_2_waf',
    agents: ['03-Architect'],
    gate: { state: 'open', by: 'mara', at: '2026-03-01T09:40:00Z' },
    after: ['1'],
    retries: 1,
    checkpoints: ['half'],
    context: ['docs/asked.md'],
  },
  {
    key: '3',
    title: 'Design',
    kind: 'step',
    status: 'skipped',
    parallel: true,
    reason: 'Nothing to draw',
    gate: { state: 'open' },
  },
  { key: '3_5', title: 'Governance', kind: 'step', status: 'failed', ...started, gate: { state: 'open' }, parent: '2' },
  {
    key: '5',
    title: 'IaC Code',
    kind: 'step',
    status: 'pending',
    agents: ['06b-Bicep CodeGen'],
    gate: { state: 'open', by: 'mara' },
  },
  { key: 'x', alias: 'X!', title: 'Clean up', kind: 'task', status: 'pending', gate: { state: 'closed' } },
];
const rich = richModel(steps);
const model: RunModel = {
  ...rich,
  run: { ...rich.run, alias: 'rotate', reason: 'Asked for' },
  items: [
    {
      alias: 'F1',
      kind: 'finding',
      text: 'Tokens are logged',
      status: 'open',
      severity: 'must_fix',
      step: '2',
      affects: ['auth'],
      by: 'coder',
      raisedAt: '2026-03-01T10:00:00Z',
      workaround: 'Mask them',
      followUp: ['5'],
      to: 'mara',
      due: 'soon',
      type: 'runtime',
    },
  ],
  decisions: [
    ...rich.decisions,
    { alias: 'D003', decision: 'Older', status: 'superseded' },
    {
      alias: 'D004',
      decision: 'Newer',
      supersedes: 'D003',
      by: 'mara',
      step: '3_5',
      affects: ['a', 'b'],
      status: 'active',
    },
    { key: 'region', decision: 'westeurope', status: 'active' },
  ],
  position: { step: '2', words: 'In the middle' },
};
const done: RunModel = { ...model, run: { ...model.run, status: 'abandoned' }, next: 'Two\nlines' };

const both = { found: place(HANDOFF), files: files(v3, { [HANDOFF]: handoff }) };
formatSuite(apex, {
  models: [
    { name: 'everything', model },
    { name: 'abandoned', model: done },
  ],
  samples: [
    { name: '3.0', found: place(), files: files(v3) },
    { name: '3.0 with a handoff', ...both },
    { name: '1.0', found: place(), files: files(v1), migrates: true },
    { name: '2.0', found: place(), files: files(v2), migrates: true },
    { name: 'no version', found: place(), files: files(noVersion), migrates: true },
    { name: 'decisions in three shapes', found: place(), files: files(logs) },
    { name: 'findings in six shapes', found: place(), files: files(findings) },
    { name: 'gates', found: place(), files: files(gates) },
    { name: 'a list of steps', found: place(), files: files(stepList) },
    { name: 'a list of own steps', found: place(), files: files(ownSteps) },
    { name: 'a list of names', found: place(), files: files(stepNames) },
    { name: 'a list of names with marks', found: place(), files: files(markedNames) },
    { name: 'session-state-v3', found: place(), files: files(v3.replace('"3.0"', '"session-state-v3"')) },
    { name: 'tabs', found: place(), files: files(v3.replace(/^ +/gm, (blanks) => '\t'.repeat(blanks.length / 2))) },
    { name: 'one line', found: place(), files: files(JSON.stringify(JSON.parse(v3))) },
    { name: 'newer', found: place(), files: files(v3.replace('"3.0"', '"4.0"')), readOnly: true },
    { name: 'truncated', found: place(), files: files(v3.slice(0, 96)), readOnly: true },
    {
      name: 'lanes',
      found: place(),
      files: files('{ "lanes": {}, "current_lane": "a", "handoff": {} }\n'),
      readOnly: true,
    },
  ],
  long(bytes) {
    const entry = {
      id: 'D001',
      step: 1,
      agent: '02-Requirements',
      title: 'A title',
      choice: 'w'.repeat(400),
      rationale: 'Because',
      timestamp: '2026-04-02T08:20:00Z',
    };
    const log = Array.from({ length: Math.ceil(bytes / 560) }, (_, index) => ({
      ...entry,
      id: `D${String(index + 1).padStart(3, '0')}`,
      choice: `${index} ${entry.choice}`,
    }));
    return { found: place(), files: files(state({ decision_log: log }, [step('1')])) };
  },
});

describe('apex: location', () => {
  it('is in agent-output, in a folder named by the format’s convention', () => {
    expect(
      apex.home({ ...model, run: { title: 'Größe & Überblick of the very long title', status: 'active' } }).main,
    ).toBe('agent-output/gro-e-uberblick-of-the-very-lo/00-session-state.json');
  });

  it('never overwrites a file it cannot read', () => {
    for (const text of ['', '{', v3.replace('"3.0"', '"9.1"'), v3.slice(0, 300)])
      expect([...apex.render(model, place(), files(text), '2026-05-01T00:00:00.000Z').keys()]).toEqual([]);
    expect([...apex.render(model, place(), new Map(), '2026-05-01T00:00:00.000Z').keys()]).toEqual([MAIN, HANDOFF]);
  });
});

describe('apex: time', () => {
  /**
   * The number of passes over the text cannot be counted from outside, so the test measures how the time grows with the
   * size.
   */
  it.each(['decisions', 'findings', 'steps', 'names', 'artifacts'] as const)(
    'grows with the size and no faster: %s',
    (what) => {
      const sized = (count: number): string => {
        const many = <T>(make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
        switch (what) {
          case 'decisions':
            return state({ decision_log: many((index) => ({ decision: `Choice ${index}`, step: '1' })) }, [step('1')]);
          case 'findings':
            return state({ open_findings: many(() => 'The same words') }, [step('1')]);
          case 'steps':
            return state(
              {},
              many((index) => step(`${index + 1}`)),
            );
          case 'names':
            return state({ current_step: 4 }, []).replace('{\n\n  }', JSON.stringify(many(() => 'The same name')));
          case 'artifacts':
            return state({}, [step('1', { artifacts: many((index) => `agent-output/harbor/01-${index}.md`) })]);
          default:
            return what satisfies never;
        }
      };
      const time = (text: string): number => {
        const began = process.cpuUsage();
        const read = apex.parse(place(), files(text)).model;
        if (!read) throw new Error('The sample cannot be read.');
        const moved = read.steps.map((one) => ({
          ...one,
          status: 'completed' as const,
          artifacts: (one.artifacts ?? []).slice(1),
        }));
        apex.render(
          { ...read, steps: moved, items: [], decisions: [] },
          place(),
          files(text),
          '2026-05-01T00:00:00.000Z',
        );
        const { user, system } = process.cpuUsage(began);
        return user + system;
      };
      const [small, large] = [sized(1500), sized(15_000)];
      time(small);
      const fast = Math.min(time(small), time(small), time(small));
      // Quadratic time would be a hundred times as long; the margin is for garbage collection.
      expect(time(large) / fast).toBeLessThan(45);
    },
  );
});
