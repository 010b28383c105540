import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { formatSuite } from '../format.suite.ts';
import type { Files, Found } from '../format.ts';
import { gsd } from '../gsd/format.ts';
import { richModel } from '../models.suite.ts';
import { describeRows } from '../text/rows.ts';
import { codewalk } from './format.ts';
import { blockerRows, decisionRows, sessionRows } from './rows.ts';
import { fenced, folderSample, full, samples, short } from './samples.suite.ts';
import { fromTables, toTables } from './tables.ts';

const now = '2026-07-01T12:00:00.000Z';
const found: Found = { format: 'codewalk', main: 'STATE.md', files: ['STATE.md'] };
const files = (text: string): Files => new Map([['STATE.md', text]]);
const model = (text: string): RunModel => {
  const parsed = codewalk.parse(found, files(text));
  if (!parsed.model) throw new Error('There is no run model.');
  return parsed.model;
};

const steps: RunModel['steps'] = [
  { key: '1', title: 'Read', kind: 'phase', status: 'completed' },
  { key: '2', title: 'Rotate', kind: 'phase', status: 'in_progress' },
  { key: '2-1', title: 'The job', kind: 'plan', parent: '2', status: 'in_progress', wave: 1 },
];
const all = richModel(steps);
// This format cannot hold findings, errors and commitments.
const rich: RunModel = {
  ...all,
  run: { ...all.run, alias: 'init-1' },
  items: all.items
    .filter(({ kind }) => kind === 'blocker' || kind === 'question')
    .map(({ alias, raisedAt, ...item }) =>
      item.kind === 'question' ? { ...item, by: 'x' } : { ...item, alias, raisedAt },
    ) as RunModel['items'],
};
const second: RunModel = {
  ...rich,
  run: { title: 'yes', alias: 'init-2', status: 'completed', reason: 'Done' },
  decisions: [
    {
      decision: 'no',
      context: 'Line one\nline two\n',
      reason: '# not a comment: "quoted"',
      status: 'retracted',
      supersedes: 'D1',
    },
    { decision: 'Keep *anchors* & - dashes', status: 'active', at: '2024-01-15' },
  ],
  items: [
    {
      alias: 'block-007',
      kind: 'blocker',
      text: 'On hold',
      status: 'resolved',
      resolution: 'Off hold',
      settledAt: '2024-01-16T00:00:00Z',
      followUp: ['2-1'],
      to: 'mara',
      due: 'soon',
      severity: 'must_fix',
      type: 'timeout',
      step: '2',
    },
  ],
  sessions: [
    {
      alias: 'session-003',
      status: 'crashed',
      startedAt: '2024-01-14T13:00:00Z',
      notes: ['one', 'two'],
      role: 'worker',
      next: 'Go on',
    },
    {
      alias: 'session-004',
      status: 'context-exhausted',
      startedAt: '2024-01-14T14:00:00Z',
      continues: 'session-003',
      why: 'Context limit reached',
      workingOn: 'It',
    },
  ],
  files: [{ path: 'a b.ts', change: 'created', note: 'New' }],
  next: 'First this.\n\n  Then that.',
};

formatSuite(codewalk, {
  models: [
    { name: 'rich', model: rich },
    { name: 'second', model: second },
  ],
  samples,
  long: (bytes) => {
    const words = 'Rows and not text since they are asked for one by one '.repeat(70);
    const entry = `  - date: 2024-01-14\n    context: Where berths live\n    decision: ${words}\n    reason: Queries stay simple\n`;
    return {
      found,
      files: files(short.replace('decisions:\n', `decisions:\n${entry.repeat(Math.ceil(bytes / entry.length))}`)),
    };
  },
});

describe('codewalk: reading', () => {
  it('reads every field of the short forms', () => {
    const run = model(short);
    expect(run.run).toMatchObject({ alias: 'init-9f2', title: 'Harbour relay' });
    expect(run.steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      '1 completed',
      '2 in_progress',
      '2-3 in_progress',
      '2-3.read-the-second-page in_progress',
      '3 pending',
      '4 pending',
    ]);
    expect(run.position?.step).toBe('2-3.read-the-second-page');
    expect(run.steps[3]).toMatchObject({ wave: 1, built: ['Tables are cut by ruling lines'] });
    expect(run.decisions[1]).toEqual({
      context: 'Poll interval',
      decision: '7 days',
      reason: 'Tides are known',
      alternatives: ['Daily: too many requests'],
      irreversible: true,
      at: '2024-01-15',
      status: 'active',
    });
    expect(run.items).toEqual([
      {
        alias: 'block-001',
        kind: 'blocker',
        text: 'Waiting for the harbour office',
        status: 'active',
        affects: ['Phase 3: Berths'],
        workaround: "Use last year's",
        raisedAt: '2024-01-15',
      },
    ]);
    expect(run.sessions.map(({ alias, status }) => `${alias} ${status}`)).toEqual([
      'session-001 completed',
      'session-002 active',
    ]);
    expect(run.next).toBe('Read the second page.\nThen the third.');
    expect(run.files.map(({ path }) => path)).toEqual(['src/pdf.ts', 'src/tide.ts']);
    expect(run.kept).toEqual({ codewalk: { owner: 'mara' }, 'codewalk-counted': { phase: '2', tasks: 8, done: 5 } });
  });

  it('reads the full forms, a decimal phase and a session that continues after a crash', () => {
    const run = model(full);
    expect(run.position?.step).toBe('2.1');
    expect(run.items[1]).toMatchObject({ status: 'bypassed', text: "It's raining", followUp: ['task-abc'] });
    expect(run.sessions).toMatchObject([
      { status: 'context-exhausted', contextUsage: 62, why: 'Context limit reached' },
      { status: 'crashed' },
      { status: 'active', continues: 'session-004' },
    ]);
  });

  it('reads entries in their own files, also prose', () => {
    const { model: run } = codewalk.parse(folderSample.found, folderSample.files);
    expect(run?.decisions.map(({ decision }) => decision)).toEqual(['PDF', 'Hemp']);
    expect(run?.items[0]).toMatchObject({ alias: 'block-001', text: 'The office is closed' });
    expect(run?.sessions[0]).toMatchObject({ alias: 'session-001', agent: 'w' });
  });

  it('is distinguished from other STATE.md files by its top key', () => {
    const tree = (text: string) => ({ paths: ['.planning/STATE.md'], read: () => text });
    expect(codewalk.detect(tree(short))).toHaveLength(1);
    expect(gsd.detect(tree(short))).toHaveLength(0);
    expect(codewalk.detect(tree(fenced))).toHaveLength(1);
    expect(codewalk.detect(tree('# Project State\n\n## Decisions\n\n- initiative: none\n'))).toHaveLength(0);
    expect(gsd.detect(tree('# Project State\n\n## Decisions\n\n- initiative: none\n'))).toHaveLength(1);
  });

  it('warns about contradictions', () => {
    const text = short
      .replace('phases_completed: 1', 'phases_completed: 9')
      .replace('ended: 2024-01-14T17', 'ended: 2024-01-13T17')
      .replace('41%', '120%')
      .replace('owner: mara', 'title: again');
    const { problems } = codewalk.parse(found, files(text));
    expect(problems.map(({ code, line }) => `${code}:${line}`)).toEqual([
      'duplicate_key:70',
      'completed_above_total:18',
      'percent_above_100:21',
      'percent_disagrees:21',
      'ended_before_started:47',
    ]);
  });
});

it('has every field of its entries in the documentation', () => {
  const page = readFileSync('docs/formats/codewalk.md', 'utf8').replace(/ +/g, ' ');
  const tables = { decisions: decisionRows, blockers: blockerRows, sessions: sessionRows };
  for (const [name, rows] of Object.entries(tables))
    for (const row of describeRows(`${name}[]`, rows)) expect(page).toContain(row);
});

describe('codewalk: writing in place', () => {
  const change = (text: string, edit: (run: RunModel) => void): string[] => {
    const run = structuredClone(model(text));
    edit(run);
    const after = codewalk.render(run, found, files(text), now).get('STATE.md') ?? text;
    expect(codewalk.render(run, found, files(after), now).size).toBe(0);
    const there = new Set(text.split('\n'));
    return after.split('\n').filter((line) => !there.has(line));
  };

  const bypassed = { status: 'bypassed', workaround: 'Ask the neighbour' };

  it('changes only the lines of what changed', () => {
    expect(change(short, (run) => void Object.assign(run.items[0] as object, bypassed))).toEqual([
      '    workaround: "Ask the neighbour"',
      '    status: bypassed',
    ]);
    expect(change(full, (run) => void Object.assign(run.items[0] as object, bypassed))).toEqual([
      '    workaround: "Ask the neighbour"',
    ]);
    expect(
      change(
        short,
        (run) =>
          void Object.assign(run.sessions[1] as object, { status: 'completed', endedAt: '2024-01-15T17:00:00Z' }),
      ),
    ).toEqual(['    status: completed', '    ended: 2024-01-15T17:00:00Z']);
    expect(change(short, (run) => void Object.assign(run, { next: 'Rest.' }))).toEqual(['  Rest.']);
  });

  it('takes a blocker that is resolved off the page, and leaves one that the page has as resolved', () => {
    const resolve = (run: RunModel) =>
      void Object.assign(run.items[0] as object, { status: 'resolved', resolution: 'They opened' });
    expect(change(short, resolve)).toEqual(['blockers: []']);
    expect(change(full, resolve)).toEqual([]);
    const resolved = full.replace('status: active\n    description: "No', 'status: resolved\n    description: "No');
    expect(change(resolved, (run) => void Object.assign(run.items[1] as object, bypassed))).toEqual([
      '    workaround: "Ask the neighbour"',
    ]);
  });

  it('moves position, counters and bar when a task is done', () => {
    const lines = change(short, (run) => {
      for (const step of run.steps) if (step.key.startsWith('2')) step.status = 'completed';
    });
    expect(lines).toEqual([
      '  phase: 3',
      '  phase_name: "Phase 3"',
      '  status: pending',
      '  phases_completed: 2',
      '  current_phase_tasks: 1',
      '  current_phase_completed: 0',
      '  bar: "████████░░░░░░░░ 50%"',
      '  key_implementations: []',
    ]);
  });

  it('counts what the file counts and what is named here, the same after any number of writes', () => {
    const run = structuredClone(model(short));
    const step = run.steps.find(({ key }) => key === run.position?.step);
    Object.assign(step ?? {}, { status: 'completed' });
    // The phase has a task left, which the file does not name.
    run.steps.push({ key: '2.last', title: 'Last', kind: 'task', parent: '2', status: 'in_progress' });
    let text = short;
    for (let turn = 0; turn < 3; turn++) {
      text = codewalk.render(run, found, files(text), now).get('STATE.md') ?? text;
      expect(text).toContain('current_phase_tasks: 8\n');
      expect(text).toContain('current_phase_completed: 6\n');
    }
    for (const [index] of Array.from({ length: 7 }).entries())
      run.steps.push({ key: `2.${index}`, title: `T${index}`, kind: 'task', parent: '2', status: 'pending' });
    // A plan with as many tasks as were counted is the better source.
    text = codewalk.render(run, found, files(text), now).get('STATE.md') ?? text;
    expect(text).toContain('current_phase_tasks: 9\n');
    expect(text).toContain('current_phase_completed: 1\n');
  });

  it('adds entries with the next id, also inside a fence', () => {
    const add = (run: RunModel) => {
      run.decisions.push({ decision: 'Go', reason: 'Wind: strong', status: 'active', at: '2024-02-01' });
      run.items.push({ kind: 'blocker', text: 'Fog', status: 'active' });
    };
    const expected = [
      '  - date: 2024-02-01',
      '    decision: Go',
      '    reason: "Wind: strong"',
      '  - id: block-002',
      '    status: active',
      '    description: Fog',
      '    workaround: null',
      '    resolution: null',
    ];
    expect(change(short, add)).toEqual(expected.filter((line) => !short.split('\n').includes(line)));
    expect(change(fenced, add)).toEqual(expected.filter((line) => !fenced.split('\n').includes(line)));
  });

  it('writes a new entry of a folder into its own file', () => {
    const run = structuredClone(codewalk.parse(folderSample.found, folderSample.files).model as RunModel);
    run.decisions.push({ decision: 'Go', context: 'Wind & waves', status: 'active', at: '2024-02-01' });
    Object.assign(run.items[0] as object, { status: 'resolved' });
    const written = codewalk.render(run, folderSample.found, folderSample.files, now);
    expect([...written.keys()]).toEqual([
      '.planning/blockers/block-001-office.md',
      '.planning/decisions/2024-02-01-wind-waves.md',
    ]);
    expect(written.get('.planning/blockers/block-001-office.md')).toBe(
      'id: block-001\nstatus: resolved\ndescription: The office is closed\n',
    );
  });
});

describe('codewalk: the four tables', () => {
  it('hold a run model and return it', () => {
    const tables = toTables(model(short));
    expect(tables.initiative_state[0]).toMatchObject({
      initiative_id: 'init-9f2',
      current_phase: 2,
      current_plan: 3,
      current_task: 'Read the second page',
      current_wave: 1,
      status: 'in_progress',
    });
    expect(tables.initiative_decisions[1]).toMatchObject({
      date: 1705276800,
      alternatives_json: '["Daily: too many requests"]',
      reversible: 0,
    });
    const [back] = fromTables(tables);
    expect(back?.decisions.map(({ decision }) => decision)).toEqual(['Rows, not text', '7 days']);
    expect(back?.items[0]).toMatchObject({ alias: 'block-001', status: 'active', raisedAt: '2024-01-15T00:00:00Z' });
    expect(back?.sessions.map(({ status }) => status)).toEqual(['completed', 'active']);
    expect(back?.position?.step).toBe('2-3.read-the-second-page');
  });

  it('keep a crashed session', () => {
    expect(fromTables(toTables(model(full)))[0]?.sessions.map(({ status }) => status)).toEqual([
      'context-exhausted',
      'crashed',
      'active',
    ]);
  });
});
