import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createWorkspace } from '../../../src/workspace/workspace.ts';
import { interfaceActions } from './crash-actions-interfaces.ts';
import { type Answer, type Environment, newPlace, type Place, workedPlace } from './place.ts';

/** An action that is killed in the middle. To test another, add it to the list. */
export interface CrashAction {
  name: string;
  /** The state it starts from; created once, then copied. */
  prepare(env?: Environment): Place;
  /** Adds to a copy what depends on its path. */
  ready?(place: Place): void;
  words: readonly string[];
  input?: string;
  /** Only a person may do it: it is run at a terminal. */
  person?: true;
  /** How it is carried out if that is more than one command. */
  carryOut?(place: Place, env: Environment): Promise<Answer>;
  /** The event types that must be recorded as often as without the crash; all by default. */
  once?: readonly string[];
  /** All files that it leaves are checked, not only mirrors. */
  leavesFiles?: true;
  /** Takes no idempotency key; running it again has the same result by itself. */
  keyless?: true;
  /** Part of the short run too. */
  short?: true;
  /** Tested with the journal on a server too. */
  server?: true;
}

const STATE = 'agent-output/shop/00-session-state.json';

export const crashActions: readonly CrashAction[] = [
  { name: 'init', prepare: newPlace, words: ['init', '--title', 'Work', '--id', 'work'] },
  { name: 'append (note)', prepare: workedPlace, words: ['note', 'Kept once'], short: true, server: true },
  {
    name: 'append (complete)',
    prepare: workedPlace,
    words: ['complete', 't1', '--agent', 'ada', '--summary', 'Tokens are issued'],
    server: true,
  },
  {
    name: 'state put',
    prepare: workedPlace,
    words: ['state', 'put', 'cart', `"${'x'.repeat(9000)}"`, '--agent', 'ada'],
    server: true,
  },
  { name: 'snapshot', prepare: workedPlace, words: ['snapshot', '--next', 'Rotate', '--agent', 'ada'] },
  { name: 'session end', prepare: workedPlace, words: ['session', 'end', '--reason', 'completed', '--agent', 'ada'] },
  { name: 'handoff', prepare: workedPlace, words: ['handoff', '--to', 'bob', '--agent', 'ada'], server: true },
  {
    name: 'handoff accept',
    prepare: offered,
    words: ['handoff', 'accept', 'H-1', '--agent', 'bob'],
    server: true,
  },
  {
    name: 'archive',
    prepare: workedPlace,
    words: ['archive', '--run', 'auth', '--reason', 'Done with it'],
    person: true,
  },
  {
    name: 'archive with a mirror',
    prepare: mirrored,
    words: ['archive', '--run', 'shop', '--reason', 'Done with it'],
    person: true,
    leavesFiles: true,
    server: true,
  },
  {
    name: 'compaction',
    prepare: longWorklog,
    words: ['compact', '--approve'],
    person: true,
    // A refused one releases its claim and ends its session; the next starts another.
    once: ['worklog.compacted'],
    keyless: true,
    server: true,
  },
  {
    name: 'erasure',
    prepare: workedPlace,
    words: ['erase', 'N-1', '--reason', 'A secret'],
    person: true,
    server: true,
  },
  { name: 'rebuilding', prepare: workedPlace, words: ['doctor', '--rebuild'], keyless: true, server: true },
  {
    name: 'migration of the schema',
    prepare: emptyJournal,
    words: ['init', '--title', 'Work', '--id', 'work'],
    server: true,
  },
  {
    name: 'import',
    prepare: exported,
    words: ['journal', 'import', 'auth.jsonl'],
    person: true,
    keyless: true,
    server: true,
  },
  { name: 'adopt with mirror', prepare: foreign, words: ['adopt', STATE, '--mirror'], keyless: true },
  {
    name: 'adopt, file of an older version',
    prepare: (env) => foreign(env, '2.0'),
    words: ['adopt', STATE, '--mirror'],
    keyless: true,
  },
  {
    name: 'mirror write',
    prepare: mirrored,
    words: ['decide', '--context', 'Region', '--decision', 'Stay', '--reason', 'Near'],
    short: true,
  },
  { name: 'mirror write, new file', prepare: workedPlace, words: ['mirror', 'add', 'gsd'] },
  { name: 'mirror sync of an edit', prepare: edited, words: ['mirror', 'sync'], keyless: true },
  ...interfaceActions,
];

function offered(env?: Environment): Place {
  const place = workedPlace(env);
  place.data('handoff', '--to', 'bob', '--agent', 'ada');
  return place;
}

function longWorklog(env?: Environment): Place {
  const place = workedPlace(env);
  for (let number = 0; number < 12; number++) place.data('note', `Line ${number}\n${'and more of it\n'.repeat(40)}`);
  return place;
}

/** As left by an `init` that was killed before the first table was created. */
function emptyJournal(env?: Environment): Place {
  const place = newPlace(env);
  createWorkspace(place.path);
  return place;
}

function exported(env?: Environment): Place {
  const place = newPlace(env);
  const from = workedPlace();
  for (let number = 0; number < 20; number++) from.data('note', `Line ${number}`);
  from.data('journal', 'export', '--out', place.file('auth.jsonl'));
  from.remove();
  place.data('init', '--title', 'Other', '--id', 'other');
  return place;
}

function foreign(env?: Environment, version = '3.0'): Place {
  const place = newPlace(env);
  mkdirSync(dirname(place.file(STATE)), { recursive: true });
  writeFileSync(place.file(STATE), sessionState(version));
  return place;
}

function mirrored(env?: Environment): Place {
  const place = foreign(env);
  place.data('adopt', STATE, '--mirror');
  return place;
}

function edited(env?: Environment): Place {
  const place = mirrored(env);
  const state = JSON.parse(readFileSync(place.file(STATE), 'utf8')) as {
    steps: Record<string, Record<string, unknown>>;
  };
  Object.assign(state.steps['2'] ?? {}, { status: 'complete', completed: '2026-03-02T10:00:00Z' });
  writeFileSync(place.file(STATE), `${JSON.stringify(state, null, 2)}\n`);
  return place;
}

function sessionState(version: string): string {
  const step = (name: string, status: string) => ({
    name,
    agent: 'Worker',
    status,
    sub_step: null,
    started: status === 'pending' ? null : '2026-03-01T09:00:00Z',
    completed: status === 'complete' ? '2026-03-01T10:00:00Z' : null,
    artifacts: [],
    context_files_used: [],
  });
  const names = ['Requirements', 'Architecture', 'Design', 'Governance', 'IaC Plan', 'IaC Code', 'Deploy', 'As-Built'];
  const keys = ['1', '2', '3', '3_5', '4', '5', '6', '7'];
  const state = {
    schema_version: version,
    project: 'shop',
    branch: 'main',
    updated: '2026-03-01T10:00:00Z',
    current_step: 2,
    house_rule: { order: [3, 1, 2] },
    decisions: { region: 'swedencentral', budget: '500 EUR' },
    open_findings: ['Public network access is on'],
    ...(version === '3.0' ? { decision_log: [], review_audit: {} } : {}),
    steps: Object.fromEntries(
      keys.map((key, index) => {
        const status = index === 0 ? 'complete' : index === 1 ? 'in_progress' : 'pending';
        return [key, step(names[index] ?? '', status)];
      }),
    ),
  };
  return `${JSON.stringify(state, null, 2)}\n`;
}
