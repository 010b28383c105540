import type { RunModel } from '../../core/model/run-model.ts';
import { formatSuite } from '../format.suite.ts';
import { richModel } from '../models.suite.ts';
import { broken, elided, headless, overEscaped } from './damaged.suite.ts';
import { maestro } from './format.ts';
import { byHand, json, next, place, seed, served, tier } from './samples.suite.ts';

const sample = (name: string, text: string, main?: string) => {
  const found = place(main);
  return { name, found, files: new Map([[found.main, text]]) };
};

formatSuite(maestro, {
  models: [
    { name: 'a run in the middle', model: rich() },
    { name: 'an archived run', model: archived() },
  ],
  samples: [
    sample('the first template', seed, '.gemini/state/active-session.md'),
    sample('a server that writes YAML', served),
    sample('a server that writes JSON', json),
    sample('the branch that was not merged', next),
    sample('an archive', served, 'packages/shop/docs/maestro/state/archive/checkout-retries-20260401.md'),
    sample('abbreviated by a model', elided),
    sample('quotes escaped twice', overEscaped),
    sample('broken by hand', broken),
    sample('the smallest tier', tier),
    sample('lists on one line', byHand),
    { ...sample('a log alone', headless), readOnly: true },
  ],
  long(bytes) {
    const entry = seed.slice(seed.indexOf('  - id: 1\n'), seed.indexOf('\n  - id: 2\n'));
    const phases = Array.from({ length: 1500 }, (_, at) => entry.replace('id: 1', `id: ${at + 1}`)).join('');
    const front = seed.slice(0, seed.indexOf('  - id: 1\n')) + phases;
    const log = Array.from(
      { length: 1500 },
      (_, at) => `## Phase ${at + 1}: Token bucket ✓\n\n${'- One more line of it.\n'.repeat(260)}\n`,
    );
    const text = `${front}---\n\n# Rate limits Orchestration Log\n\n${log.join('')}`;
    return { found: place(), files: new Map([[place().main, text.padEnd(bytes, '\n- Padding of the log')]]) };
  },
});

function rich(): RunModel {
  const model = richModel([
    {
      key: '1',
      title: 'Read the old code',
      kind: 'phase',
      status: 'completed',
      agents: ['coder', 'code reviewer'],
      parallel: true,
      wave: 1,
      gate: { state: 'open', by: 'mara' },
      context: ['docs/a.md'],
      checkpoints: ['read'],
      startedAt: '2026-03-01T09:00:00Z',
      endedAt: '2026-03-01T10:00:00Z',
      retries: 1,
      summary: 'It is simple.\n\n# It really is\n\n- mostly',
      built: ['rotate(token)', 'Pattern: one clock', 'Warning: clocks differ: a lot'],
      artifacts: [
        { path: 'src/rotate.ts', change: 'created', note: 'the heart' },
        { path: 'src/it: is.ts', change: 'modified' },
        { path: 'src/old.ts', change: 'deleted' },
        { path: 'docs/report.md' },
      ],
    },
    {
      key: '2',
      title: 'Write "rotation": #1',
      kind: 'phase',
      status: 'in_progress',
      after: ['1'],
      retries: 0,
      checkpoint: 'half',
      startedAt: '2026-03-01T10:00:00Z',
    },
    { key: '2.10', title: 'The clock', kind: 'task', parent: '2', status: 'skipped', retries: 0, reason: 'Not needed' },
    { key: 'p3', title: 'Ship', kind: 'phase', status: 'pending', after: ['2', '2.10'], retries: 0 },
  ]);
  model.run.alias = '2026-03-01-rotate-the-tokens';
  model.run.reason = 'Because: "it" must';
  model.position = { step: '2', words: 'Half of the rotation' };
  model.notes.push(
    { kind: 'dead-end', text: 'Tried the vault\n\nIt is slow', step: '1' },
    { kind: 'worklog', text: 'Validation: Pass, 12 tests', step: '1' },
  );
  model.notes.sort(
    (one, other) => Number(other.text.startsWith('Validation')) - Number(one.text.startsWith('Validation')),
  );
  model.items.sort((one, other) => Number(other.kind === 'error') - Number(one.kind === 'error'));
  return model;
}

function archived(): RunModel {
  const model = rich();
  return {
    ...model,
    run: { ...model.run, status: 'archived', design: { path: '.gemini/plans/archive/tokens-design.md' } },
    steps: model.steps.map((step) => ({ ...step, status: 'completed' as const })),
    usage: [],
  };
}
