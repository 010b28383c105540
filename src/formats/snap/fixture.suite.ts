import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import type { Sample } from '../format.suite.ts';
import type { Files, Found } from '../format.ts';
import { richModel } from '../models.suite.ts';
import { snap } from './format.ts';

export const now = '2026-03-04T05:06:07.000Z';
export const home = 'working-session/';

export function fixture(name: string): { found: Found; files: Files; model: RunModel } {
  const folder = new URL(`../../../test/fixtures/snap/${name}/`, import.meta.url);
  const files = new Map(
    readdirSync(folder)
      .sort()
      .map((file) => [home + file, readFileSync(new URL(file, folder), 'utf8')]),
  );
  const [found] = snap.detect({ paths: [...files.keys()], read: (path) => files.get(path) ?? null });
  const { model } = snap.parse(found as Found, files);
  return { found: found as Found, files, model: model as RunModel };
}

/** One of each variant that is written. */
export const samples: readonly Sample[] = ['pilot', 'second', 'template', 'plain', 'payloads'].map((name) => {
  const { found, files } = fixture(name);
  return { name, found, files };
});

/** Renders a changed run model over its files and reads them back. */
export function write(name: string, change: (model: RunModel) => RunModel) {
  const { found, files, model } = fixture(name);
  const wanted = change(model);
  const written = snap.render(wanted, found, files, now);
  const all = new Map([...files, ...written]);
  const place = { ...found, files: [...all.keys()] };
  const back = snap.parse(place, all);
  expect([...snap.render(wanted, place, all, now).values()]).toEqual([]);
  const known = new Set(snap.parse(found, files).problems.map((problem) => problem.code));
  expect(back.problems.filter((problem) => problem.level === 'error' && !known.has(problem.code))).toEqual([]);
  const text = (file: string): string => all.get(home + file) ?? '';
  const lost = (file: string): string[] => {
    const after = new Set(text(file).split('\n'));
    return (files.get(home + file) ?? '').split('\n').filter((line) => !after.has(line));
  };
  return { model: back.model as RunModel, problems: back.problems, written, text, lost, wanted, all, place };
}

export const step = (model: RunModel, key: string) => model.steps.find((one) => one.key === key);

const steps: ModelStep[] = [
  { key: 'p1', title: 'Rotation', kind: 'phase', status: 'in_progress', wave: 1 },
  {
    key: 'p1.1',
    alias: '1.1',
    parent: 'p1',
    title: 'Read the old code',
    kind: 'task',
    status: 'completed',
    agents: ['worker-1', 'worker-2'],
    checkpoints: ['read'],
    checkpoint: 'read',
    startedAt: '2026-03-01T09:00:00Z',
    endedAt: '2026-03-01T10:00:00Z',
    summary: 'It rotates "by hand":\n# every Monday',
    built: ['Nothing'],
    artifacts: [{ path: 'notes.md' }],
  },
  {
    key: 'p1.2',
    title: 'Rotate',
    kind: 'task',
    status: 'in_progress',
    agents: ['worker-2'],
    after: ['p1.1'],
    parallel: true,
    context: ['src/rotate.ts'],
    gate: { state: 'open' },
    retries: 1,
  },
  { key: '2', title: 'Measure', kind: 'step', status: 'failed', reason: 'No clock', agents: ['worker-1'] },
  { key: 'null', title: 'Publish', kind: 'plan', status: 'skipped', summary: 'Nobody asked for it' },
  { key: 'p3', title: 'Clean up', kind: 'task', status: 'pending', after: ['p1.2', '2'], reason: 'Reopened' },
];

/** A run model with everything that the folder can hold, and more. */
export function rich(): RunModel {
  const base = richModel(steps);
  const [blocker, question, ...others] = base.items as [
    RunModel['items'][number],
    RunModel['items'][number],
    ...RunModel['items'],
  ];
  return {
    ...base,
    run: { ...base.run, status: 'completed', reason: 'All done' },
    decisions: [
      ...base.decisions,
      { decision: 'Rotate at noon | one', status: 'superseded', by: 'worker-1', at: '2026-03-01', supersedes: 'D000' },
      { decision: 'Rotate\nnever', status: 'retracted', context: 'A joke' },
    ],
    items: [
      { ...blocker, followUp: ['p3'], step: 'p1.2' },
      ...others.map((item) => ({ ...item, affects: ['auth'] })),
      {
        alias: 'C-1',
        kind: 'commitment',
        text: 'Review the writer',
        status: 'open',
        to: 'worker-2',
        due: 'next session',
        settledAt: now,
      },
      { ...question, affects: ['vault', 'auth'], step: 'p3', to: 'worker-2', due: 'soon', workaround: 'None' },
      { alias: 'OQ-003', kind: 'question', text: 'When?', status: 'deferred', resolution: 'After the audit' },
      { alias: 'OQ-002', kind: 'question', text: 'Why <br> so?', status: 'withdrawn', settledAt: now },
    ],
    notes: [
      ...base.notes,
      {
        alias: 'N-1',
        kind: 'dead-end',
        text: '# Not a heading\n\n```text\n## quiet\n```\n\n---\n\n<!-- open',
        step: 'p1.2',
        at: now,
      },
      { kind: 'deviation', text: '```\nnever closed', by: 'worker-2' },
    ],
    sessions: [
      ...base.sessions.map((session) => ({
        ...session,
        role: 'worker' as const,
        workingOn: 'p1.2',
        next: 'Go on',
        why: 'It was late',
      })),
    ],
    messages: [
      ...base.messages,
      {
        alias: 'MSG-20260301-002',
        from: 'worker-2',
        to: 'Maintainer',
        type: 'decision-required',
        priority: 'P0',
        status: 'closed',
        disposition: 'resolved',
        subject: 'May we?',
        body: '**Ack:** not one\n\\# shielded\n### MSG-20260301-001\n**Status:** unread',
        at: '2026-03-01T11:00:00Z',
        acks: [
          { by: 'Maintainer', at: '2026-03-02', to: 'acknowledged', note: 'Seen | read\ntwice' },
          { by: 'Maintainer', to: 'closed', note: 'You may' },
        ],
        replies: [{ from: 'Maintainer', at: '2026-03-02', body: '## Yes\n\nYou may.' }],
      },
    ],
    claims: base.claims.map((claim) => ({ ...claim, since: now })),
    position: { step: 'p1.2', words: 'in the middle' },
  };
}
