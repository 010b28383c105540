import type { ModelStep } from '../../core/model/run-model.ts';
import { lawsSuite } from '../laws.suite.ts';
import { apex } from './format.ts';
import { files, findings, gates, HANDOFF, handoff, logs, ownSteps, place, stepList, v3 } from './samples.suite.ts';
import { WORKFLOW } from './steps.ts';
import { stepRows } from './table.ts';

const keysOf = (field: keyof ModelStep): string[] =>
  stepRows.filter(({ is }) => is === field).flatMap(({ at }) => at.split('|'));
const follows = stepRows.filter(({ is }) => is === '=').flatMap(({ at }) => at.split('|'));

lawsSuite(apex, {
  runs: Number(process.env['LAW_CASES'] ?? 200),
  samples: [
    { name: '3.0', found: place(), files: files(v3) },
    { name: '3.0 with a handoff', found: place(HANDOFF), files: files(v3, { [HANDOFF]: handoff }) },
    { name: 'decisions in three shapes', found: place(), files: files(logs) },
    { name: 'findings in six shapes', found: place(), files: files(findings) },
    { name: 'gates', found: place(), files: files(gates) },
    { name: 'a list of steps', found: place(), files: files(stepList) },
    { name: 'a list of own steps', found: place(), files: files(ownSteps) },
  ],
  plan: WORKFLOW.map(({ key, name }) => ({ key, title: name, kind: 'step', status: 'pending' })),
  keys: {
    title: [...keysOf('title'), 'key'],
    status: [...keysOf('status'), ...keysOf('startedAt'), ...keysOf('endedAt'), ...keysOf('checkpoint'), ...follows],
    checkpoint: keysOf('checkpoint'),
    artifacts: keysOf('artifacts'),
    startedAt: keysOf('startedAt'),
  },
  computed: ['updated', 'current_step'],
  spellings: [
    (text) => (text.startsWith('{') ? text.replace(/^ +/gm, (blanks) => '\t'.repeat(blanks.length / 2)) : text),
  ],
});
