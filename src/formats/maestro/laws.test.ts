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
