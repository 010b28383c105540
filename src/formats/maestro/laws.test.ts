import { expect, it } from 'vitest';
import type { RunModel } from '../../core/model/run-model.ts';
import { lawsSuite } from '../laws.suite.ts';
import { maestro } from './format.ts';
import { byHand, json, next, place, seed, served } from './samples.suite.ts';

const sample = (name: string, text: string) => ({ name, found: place(), files: new Map([[place().main, text]]) });

lawsSuite(maestro, {
  runs: Number(process.env['LAW_CASES'] ?? 200),
  samples: [
    sample('the first template', seed),
    sample('a server that writes YAML', served),
    sample('a server that writes JSON', json),
    sample('the branch that was not merged', next),
    sample('lists on one line', byHand),
  ],
  plan: ['1', '2', '3'].map((key) => ({ key, title: `Phase ${key}`, kind: 'phase', status: 'pending' })),
  keys: {
    title: ['name', 'title'],
    status: ['status', 'started', 'completed'],
    artifacts: ['files_created'],
    retries: ['retry_count'],
    startedAt: ['started'],
    built: [
      'downstream_context',
      'key_interfaces_introduced',
      'patterns_established',
      'integration_points',
      'assumptions',
      'warnings',
    ],
  },
  computed: ['updated', 'current_phase', 'total_phases'],
  keyed: (text) => text.slice(0, text.indexOf('\n---', 4)),
});

it('M1: notes that say the same are one line of the log', () => {
  const { found, files } = sample('the first template', seed);
  const model = maestro.parse(found, files).model as RunModel;
  const note = { kind: 'worklog', text: 'The clock drifts', step: model.steps[0]?.key ?? '1' } as const;
  const written = maestro.render(
    { ...model, notes: [...model.notes, note, { ...note }] },
    found,
    files,
    '2026-03-04T05:06:07.000Z',
  );
  expect([...written.values()].join('').match(/The clock drifts$/gm)).toHaveLength(1);
});
