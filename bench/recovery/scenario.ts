/**
 * Work that is killed and resumed. Every name and every fact has a made-up word, so that an answer contains the fact
 * exactly if it contains the word.
 */
export interface Scenario {
  name: string;
  goal: string;
  /** The first plan; an agent that resumes without an answer has only this, as from a first request. */
  steps: readonly Step[];
  moves: readonly Move[];
}

export interface Step {
  key: string;
  title: string;
  items: readonly Item[];
}

/** What a step consists of, in order: units of work on a file, and side effects. */
export type Item = { unit: string; file: string } | { effect: string; class: 'idempotent' | 'irreversible' };

/** One action of the worker. All but `work` and `perform` are calls of the tool. */
export type Move =
  | { do: 'begin' }
  | { do: 'start'; step: string }
  | { do: 'work'; step: string; unit: string; file: string }
  | { do: 'checkpoint'; step: string; unit: string; file: string; next: string }
  | { do: 'beginEffect'; step: string; effect: string; class: 'idempotent' | 'irreversible' }
  | { do: 'perform'; effect: string }
  | { do: 'endEffect'; step: string; effect: string }
  | { do: 'decide'; step: string; decision: string; reason: string }
  | { do: 'block'; step: string; text: string }
  | { do: 'changePlan'; drop: string; add: Step }
  | { do: 'complete'; step: string };

export function isToolMove(move: Move): boolean {
  return move.do !== 'work' && move.do !== 'perform';
}

const schema: Step = {
  key: 'schema-vq7',
  title: 'Write the schema',
  items: [
    { unit: 'tables-kz4', file: 'schema.sql' },
    { unit: 'indexes-pw2', file: 'schema.sql' },
  ],
};
const migration: Step = {
  key: 'migration-xj5',
  title: 'Migrate the data',
  items: [
    { effect: 'backup-hd8', class: 'idempotent' },
    { unit: 'dry-run-gm3', file: 'dry-run.log' },
    { effect: 'migrate-ty6', class: 'irreversible' },
    { unit: 'counts-rc9', file: 'counts.txt' },
  ],
};
const release: Step = {
  key: 'release-wb2',
  title: 'Release the service',
  items: [
    { effect: 'deploy-nf4', class: 'irreversible' },
    { unit: 'smoke-test-lu8', file: 'smoke.txt' },
  ],
};

/** Irreversible effects between work that can be repeated. */
const releasing: Scenario = {
  name: 'release',
  goal: 'Bookings survive a lost region, goal-zt3',
  steps: [schema, migration, release],
  moves: [
    { do: 'begin' },
    ...movesOf(schema, {
      'tables-kz4': [
        {
          do: 'decide',
          step: 'schema-vq7',
          decision: 'Amounts are whole cents, decided-mk1',
          reason: 'Floats lost a cent in the audit, reason-mk1',
        },
      ],
    }),
    ...movesOf(migration),
    ...movesOf(release),
  ],
};

const cache: Step = {
  key: 'cache-dw3',
  title: 'Cache the price list',
  items: [
    { unit: 'reader-ob6', file: 'reader.txt' },
    { unit: 'expiry-sy1', file: 'expiry.txt' },
  ],
};
const legacy: Step = {
  key: 'legacy-ih9',
  title: 'Port the old importer',
  items: [{ unit: 'importer-ce5', file: 'importer.txt' }],
};
const invoices: Step = {
  key: 'invoices-fu2',
  title: 'Send the invoices',
  items: [{ effect: 'invoices-sent-jp7', class: 'irreversible' }],
};
const bridge: Step = {
  key: 'bridge-qa8',
  title: 'Bridge to the new importer',
  items: [
    { unit: 'adapter-xn4', file: 'bridge.txt' },
    { effect: 'switch-ev2', class: 'irreversible' },
    { unit: 'observed-tg6', file: 'bridge.txt' },
  ],
};

/** The plan changes during the work, and one step is blocked. */
const replanning: Scenario = {
  name: 'replan',
  goal: 'Prices are never older than a minute, goal-by5',
  steps: [cache, legacy, invoices],
  moves: [
    { do: 'begin' },
    ...movesOf(cache, {
      'reader-ob6': [
        {
          do: 'block',
          step: 'invoices-fu2',
          text: 'The tax office has not confirmed the numbers, blocked-rv9',
        },
        {
          do: 'decide',
          step: 'cache-dw3',
          decision: 'Entries expire by version and not by time, decided-cw4',
          reason: 'Clocks of two regions differ by seconds, reason-cw4',
        },
      ],
      'expiry-sy1': [
        { do: 'changePlan', drop: 'legacy-ih9', add: bridge },
        {
          do: 'decide',
          step: 'bridge-qa8',
          decision: 'The old importer is not ported, decided-hz2',
          reason: 'Its vendor ends it in March, reason-hz2',
        },
      ],
    }),
    ...movesOf(bridge),
  ],
};

export const scenarios: readonly Scenario[] = [releasing, replanning];

/** The moves of a step, with more moves after some of its units. */
function movesOf({ key, items }: Step, after: Record<string, readonly Move[]> = {}): Move[] {
  const moves = items.flatMap((item, index): Move[] => {
    if ('effect' in item) {
      return [
        { do: 'beginEffect', step: key, effect: item.effect, class: item.class },
        { do: 'perform', effect: item.effect },
        { do: 'endEffect', step: key, effect: item.effect },
      ];
    }
    const { unit, file } = item;
    const next = `Go on after ${unit}, next-${index}${unit.slice(-3)}`;
    return [
      { do: 'work', step: key, unit, file },
      { do: 'checkpoint', step: key, unit, file, next },
      ...(after[unit] ?? []),
    ];
  });
  return [{ do: 'start', step: key }, ...moves, { do: 'complete', step: key }];
}
