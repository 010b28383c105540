import { readdirSync, readFileSync } from 'node:fs';
import type { ModelStep, RunModel } from '../../core/model/run-model.ts';
import { formatSuite, type Sample } from '../format.suite.ts';
import type { Files, Found } from '../format.ts';
import { richModel } from '../models.suite.ts';
import { snap } from './format.ts';

const now = '2026-03-04T05:06:07.000Z';

function sample(name: string, readOnly = false): Sample {
  const folder = new URL(`../../../test/fixtures/snap/${name}/`, import.meta.url);
  const files = new Map(
    readdirSync(folder)
      .sort()
      .map((file) => [`working-session/${file}`, readFileSync(new URL(file, folder), 'utf8')]),
  );
  const [found] = snap.detect({ paths: [...files.keys()], read: (path) => files.get(path) ?? null });
  if (!found) throw new Error(`${name} is not found`);
  return { name, found, files, ...(readOnly ? { readOnly } : {}) };
}

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

function rich(): RunModel {
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

formatSuite(snap, {
  models: [{ name: 'everything', model: rich() }],
  samples: [
    sample('pilot'),
    sample('second'),
    sample('template'),
    sample('plain'),
    sample('payloads'),
    sample('duplicate', true),
  ],
  long: (bytes) => longFolder(bytes),
});

/** A tenth in the Turnfile, the rest in the mailbox and the worklog, in entries as long as real ones. */
function longFolder(bytes: number): { found: Found; files: Files } {
  const { files, found } = sample('pilot');
  const words = 'Words, words, words.\n'.repeat(60);
  const fill = (line: (index: number) => string, size: number): string => {
    const parts: string[] = [];
    for (let index = 0, length = 0; length < size; index++) {
      const text = line(index);
      parts.push(text);
      length += text.length;
    }
    return parts.join('');
  };
  const at = (path: string): string => files.get(path) ?? '';
  const turnfile = at('working-session/TURNFILE.yaml').replace(
    '    tide-writer:',
    `${fill((index) => `    more-${index}:\n      description: "One more"\n      owner: "bo"\n      status: "done"\n      priority: "P1"\n      depends_on: ["tide-model"]\n      created_by: "ada"\n      created_rev: 1\n      claim_rev: 2\n      completed_rev: 6\n      notes: "Words, words, words"\n\n`, bytes * 0.1)}    tide-writer:`,
  );
  const mailbox = at('working-session/MAILBOX.md').replace(
    '### MSG-20260203-003',
    `${fill(
      (index) =>
        `### MSG-20260203-1${index}\n\n**From:** Ada -> Bo\n**Date:** 2026-02-03\n**Type:** notify\n**Priority:** P2\n**Status:** actioned\n**Subject:** More\n\n\`\`\`text\n${words}\`\`\`\n\n---\n\n`,
      bytes * 0.45,
    )}### MSG-20260203-003`,
  );
  const worklog =
    at('working-session/WORKLOG.md') + fill((index) => `\n### Bo: Entry ${index}\n\n${words}`, bytes * 0.45);
  const long = new Map(files)
    .set('working-session/TURNFILE.yaml', turnfile)
    .set('working-session/MAILBOX.md', mailbox)
    .set('working-session/WORKLOG.md', worklog);
  return { found, files: long };
}
