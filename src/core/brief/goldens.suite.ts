import type { BriefFacts, RunFacts, Situation, StepFacts } from './facts.ts';

/** The facts behind each text in `test/fixtures/briefs/goldens.txt`. */

const nothingNext: RunFacts['next'] = { declared: null, failedStep: null, ready: null, gate: null, blocker: null };

export const emptyRun: RunFacts = {
  id: '2026-11-16-000000',
  title: 'Some work',
  isPlanned: false,
  suffix: '000000',
  resuming: null,
  situation: { is: 'not-started', at: '2026-11-16T09:00:00.000Z' },
  place: null,
  commitsSince: null,
  requests: [],
  uncertain: [],
  commands: [],
  files: { files: [], total: 0, commits: 0, othersDirty: 0 },
  reading: [],
  said: null,
  steps: null,
  rules: [],
  moreDecisions: 0,
  open: [],
  next: nothingNext,
};

export const noOthers: BriefFacts['others'] = { lines: [], more: 0 };

const today = (time: string): string => `2026-11-16T${time}:00.000Z`;
const here = (branch: string): RunFacts['place'] => ({ is: 'here', branch, branchNow: branch });
const asked = (at: string, text: string): RunFacts['requests'] => [{ is: 'asked', which: 'only', at, text }];

function cutOff(agent: string, at: string, because: 'process' | 'silence' = 'process', session = 'S-1'): Situation {
  return { is: 'cut-off', who: { agent, session }, at, because, subagents: [] };
}

const edited = (path: string, added: number, deleted: number): RunFacts['files']['files'][number] => ({
  path,
  is: 'changed',
  lines: { is: 'edited', added, deleted },
});

const created = (path: string, lines: number): RunFacts['files']['files'][number] => ({
  path,
  is: 'changed',
  lines: { is: 'new', lines },
});

function filesOf(files: RunFacts['files']['files'], more: Partial<RunFacts['files']> = {}): RunFacts['files'] {
  return { files, total: files.length, commits: 0, othersDirty: 0, ...more };
}

function todo(doneTitles: string[], inProgress: string, left: string[], heldBy: string | null = null): StepFacts {
  const entry = (title: string, index: number) => ({ key: `todo-${index + 1}`, title });
  return {
    kind: 'to-do',
    done: doneTitles.length,
    total: doneTitles.length + 1 + left.length,
    doneTitles,
    inProgress: [{ ...entry(inProgress, 0), heldBy }],
    left: left.map(entry),
  };
}

const facts = (
  form: BriefFacts['form'],
  now: string,
  run: Partial<RunFacts>,
  more: Partial<BriefFacts> = {},
): BriefFacts => ({
  now,
  form,
  role: 'worker',
  others: noOthers,
  ...more,
  run: { ...emptyRun, suffix: run.id?.slice(-6) ?? '', ...run },
});

export const goldens: Readonly<Record<string, BriefFacts>> = {
  G1: facts('start', today('14:20'), {
    id: '2026-11-16-76c215',
    situation: cutOff('claude', today('14:02')),
    place: here('invoice-rounding'),
    requests: asked(
      today('13:31'),
      'Round invoice totals half to even, line by line. Leave src/legacy alone. When npm test passes, upload a preview with scripts/preview.sh.',
    ),
    uncertain: [
      {
        id: 'X-7',
        name: 'scripts/preview.sh --env demo',
        irreversible: false,
        at: today('14:01'),
        process: { is: 'none', isClientGone: true },
      },
    ],
    commands: [{ is: 'passed', name: 'npm test', exitCode: 0, at: today('13:58'), changedAfter: 0 }],
    files: filesOf([
      created('test/round.test.ts', 31),
      edited('src/invoice/total.ts', 12, 5),
      created('src/invoice/round.ts', 48),
    ]),
    said: { is: 'before-cut', text: 'All 214 tests pass. Uploading the preview now.' },
    steps: todo(['Write the rounding function', 'Use it per line', 'Test the half cases'], 'Upload a preview', [
      'Note it in the release notes',
    ]),
  }),
  G2: facts('start', today('11:50'), {
    id: '2026-11-16-b04e19',
    situation: cutOff('codex', today('09:47'), 'silence'),
    place: here('main'),
    requests: asked(today('09:20'), 'Thumbnails of portrait photos come out rotated. Fix it; cargo test must pass.'),
    commands: [{ is: 'failed', name: 'cargo test', exitCode: 101, at: today('09:46'), changedAfter: 1 }],
    files: filesOf([edited('src/thumb.rs', 22, 9), created('src/exif.rs', 40)], { othersDirty: 1 }),
    said: { is: 'before-cut', text: 'Orientation 6 still fails because the crop runs before the rotation.' },
  }),
  G3: facts('joined', today('17:05'), {
    id: '2026-11-16-e7712d',
    situation: cutOff('copilot', today('16:52')),
    place: here('main'),
    requests: asked(
      today('16:10'),
      'Load the spring catalogue into the demo shop. Prices in cents. Do not delete old articles.',
    ),
    uncertain: [
      {
        id: 'X-4',
        name: './import-catalogue.sh full',
        irreversible: false,
        at: today('16:51'),
        process: { is: 'alive', pid: 48_211, since: today('16:51') },
      },
    ],
    files: filesOf([
      edited('config/catalogue.yml', 6, 1),
      { path: 'data/articles.json', is: 'unrecorded', lines: { is: 'edited', added: 310, deleted: 0 } },
    ]),
    said: { is: 'before-cut', text: 'The sample import is right; starting the full one, about 20 minutes.' },
    steps: todo(['Convert the prices'], 'Import everything', ['Compare the article counts']),
  }),
  G4: facts('start', '2026-11-17T08:10:00.000Z', {
    id: '2026-11-16-0f3ab8',
    situation: {
      is: 'waiting',
      who: { agent: 'qwen', session: 'S-1' },
      at: today('18:05'),
      for: 'answer',
      hasWindow: false,
    },
    place: here('short-links'),
    requests: [
      { is: 'asked', which: 'first', at: today('17:20'), text: 'Short links should survive a rename of the page.' },
      { is: 'asked', which: 'last', at: today('17:58'), text: 'Use a table for it, not redirects in nginx.' },
    ],
    commands: [{ is: 'passed', name: 'pytest -q', exitCode: 0, at: today('18:03'), changedAfter: 0 }],
    files: filesOf([
      created('tests/test_alias.py', 41),
      edited('links/models.py', 38, 2),
      created('links/migrations/0007_alias.py', 24),
    ]),
    said: {
      is: 'at-end',
      at: today('18:05'),
      text: `The alias table works. ${'A page that is renamed keeps its old name as an alias. '.repeat(6)}\n\nOne thing is left to decide. What should the alias of a deleted page answer, 404 or 410?`,
    },
  }),
  G5: facts('joined', today('11:30'), {
    id: '2026-11-16-5d20c4',
    situation: { is: 'finished', who: { agent: 'opencode', session: 'S-1' }, at: today('10:41'), isLast: true },
    place: here('main'),
    requests: asked(today('10:05'), 'The contact form loses umlauts in the subject. Fix it and commit.'),
    commands: [{ is: 'passed', name: 'npm run build', exitCode: 0, at: today('10:38'), changedAfter: 0 }],
    files: filesOf(
      [
        { path: 'src/mail/subject.ts', is: 'committed', lines: null },
        { path: 'test/subject.test.ts', is: 'committed', lines: null },
      ],
      { commits: 1 },
    ),
    said: {
      is: 'at-end',
      at: today('10:41'),
      text: 'Fixed: the subject is encoded as UTF-8 now. Committed.',
    },
  }),
  G6: facts(
    'joined',
    today('15:40'),
    {
      id: '2026-11-16-c93f07',
      situation: {
        is: 'working',
        who: { agent: 'claude', session: 'S-1' },
        seenAt: '2026-11-16T15:39:40.000Z',
        isShared: true,
        changed: ['src/tiles/evict.ts', 'src/tiles/cache.ts'],
      },
      place: here('tile-cache'),
      requests: asked(today('15:02'), 'Map tiles eat the disk. Cap the cache at 2 GB, least recently used out first.'),
      uncertain: [
        {
          id: 'X-9',
          name: 'npm run soak -- 600',
          irreversible: false,
          at: today('15:36'),
          process: { is: 'in-session', session: 'S-1' },
        },
      ],
      files: filesOf([created('src/tiles/evict.ts', 77), edited('src/tiles/cache.ts', 19, 4)]),
      steps: todo(['Measure the tile sizes', 'Write the eviction'], 'Soak test', ['Document the limit'], 'claude'),
    },
    {
      others: {
        more: 0,
        lines: [
          {
            is: 'unfinished',
            id: '2026-11-14-1ab5e2',
            isPlanned: false,
            title: 'Dark theme for the legend',
            state: 'cut off',
            at: '2026-11-14T15:40:00.000Z',
            agent: 'codex',
            tree: 'legend-dark',
            host: null,
            uncertain: [],
          },
        ],
      },
    },
  ),
  G7: facts('compacted', today('12:15'), {
    id: '2026-11-16-aa41f9',
    situation: { is: 'own', session: 'S-1', since: today('11:20') },
    place: here('webhooks'),
    requests: [
      {
        is: 'asked',
        which: 'first',
        at: today('10:02'),
        text: 'Webhooks must be retried for 24 h with growing pauses. Never touch the billing tables.',
      },
      { is: 'asked', which: 'last', at: today('11:20'), text: 'Also show failed deliveries in the admin page.' },
    ],
    commands: [{ is: 'failed', name: 'go test ./...', exitCode: 1, at: today('12:11'), changedAfter: 2 }],
    files: filesOf([
      created('admin/deliveries.go', 52),
      edited('hooks/retry.go', 120, 14),
      edited('hooks/retry_test.go', 66, 0),
    ]),
    steps: todo(['Store the attempts', 'Growing pauses', 'Stop after 24 h'], 'Admin page', ['Document the header']),
    rules: [
      { is: 'constraint', id: 'N-4', at: today('10:02'), text: 'Never touch the billing tables.' },
      { is: 'dead-end', id: 'N-6', text: 'One cron job per delivery: 40,000 timers, too slow.' },
      {
        is: 'decision',
        id: 'D-2',
        text: 'Pauses double up to 1 h',
        reason: "the partner's firewall blocks faster retries",
        irreversible: false,
        clone: null,
      },
    ],
    open: [{ is: 'question', id: 'Q-1', at: today('11:52'), text: 'Should a 410 stop the retries?', to: 'user' }],
  }),
  G8: facts('returned', '2026-11-17T09:00:00.000Z', {
    id: '2026-11-16-3e8d55',
    situation: cutOff('codex', today('17:40')),
    place: here('loan-reminders'),
    requests: [
      {
        is: 'meanwhile',
        who: { agent: 'gemini', session: 'S-2' },
        at: today('18:20'),
        text: 'Go on, but make the reminder text friendlier first.',
      },
    ],
    uncertain: [
      {
        id: 'X-5',
        name: 'flyctl deploy --app lending-test',
        irreversible: true,
        at: today('17:39'),
        process: { is: 'none', isClientGone: true },
      },
    ],
    files: filesOf(
      [
        { path: 'templates/reminder.txt', is: 'committed', lines: null },
        { path: 'src/reminder.ts', is: 'committed', lines: null },
      ],
      { commits: 1 },
    ),
    said: {
      is: 'meanwhile',
      who: { agent: 'gemini', session: 'S-2' },
      at: today('18:31'),
      text: 'Text changed and committed. I did not deploy.',
    },
  }),
  G9: facts('start', today('16:20'), {
    id: '2026-11-12-login',
    title: 'Login that survives a stolen token',
    isPlanned: true,
    suffix: '8ba095',
    resuming: {
      phase: '2',
      plan: '3',
      kind: 'Task',
      title: 'Rotate refresh tokens',
      checkpoint: 'endpoint_drafted',
      nextCheckpoint: 'router_wired',
      status: 'interrupted',
    },
    situation: cutOff('claude', today('16:02'), 'process', 'S-4'),
    place: here('login'),
    requests: asked(today('15:30'), 'Do the next step of the plan.'),
    files: filesOf([edited('src/refresh.ts', 64, 3), created('test/refresh.test.ts', 22)]),
    reading: [
      { path: 'plans/2-3-PLAN.md', tokens: 900 },
      { path: 'src/refresh.ts', tokens: 1100 },
    ],
    steps: {
      kind: 'plan',
      done: 2,
      total: 4,
      doneTitles: ['Issue tokens', 'Store the family'],
      inProgress: [{ key: '2-3.2', title: 'Rotate refresh tokens', heldBy: null }],
      left: [{ key: '2-3.3', title: 'Revoke the family' }],
    },
    rules: [
      { is: 'constraint', id: 'N-2', at: '2026-11-12T09:10:00.000Z', text: 'Old tokens stay valid for 60 s.' },
      {
        is: 'decision',
        id: 'D-3-k3',
        text: 'httpOnly cookie',
        reason: 'scripts cannot read it',
        irreversible: false,
        clone: 'ada-laptop',
      },
    ],
    next: { ...nothingNext, declared: { by: 'claude', at: today('15:58'), text: 'wire the router' } },
  }),
};
