import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from '../src/core/journal/command.ts';
import { hostName } from '../src/workspace/process.ts';
import { openStory, type Product, type Story } from './world.ts';

/**
 * The runs that the pictures of the dashboard show: some recorded by hooks alone, one with sixty steps on two machines, an
 * empty one, a short one, titles of every kind, and many that are finished or archived.
 */
export async function buildScenes(product: Product, dir: string): Promise<void> {
  const git = (...words: string[]) => execFileSync('git', ['-C', dir, ...words], { stdio: 'ignore' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'ada@example.org');
  git('config', 'user.name', 'Ada');
  const tree = new Tree(dir);
  for (const path of [
    'src/login.ts',
    'src/session.ts',
    'src/export.ts',
    'bench/tide.ts',
    'src/cookie.ts',
    'src/tide.ts',
  ])
    tree.write(path, 12);
  git('add', '.');
  git('commit', '-qm', 'Start');
  head = execFileSync('git', ['-C', dir, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  const story = openStory(product, dir);
  await archivedRuns(story);
  await manyRuns(story);
  await harbour(story, tree);
  await finishedByHooks(story, tree, () => {
    git('add', 'src/export.ts');
    git('commit', '-qm', 'Export as CSV');
  });
  await cutOffByHooks(story, tree);
  await emptyPlan(story);
  await threeMinutes(story);
  await oddTitles(story);
  await workingByHooks(story, tree);
  await story.close();
}

/** The commit at which all sessions start. */
let head = '';

/** Files of the working tree, and how a hook reports them. */
class Tree {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  write(path: string, lines: number, word = 'line'): void {
    mkdirSync(dirname(join(this.#dir, path)), { recursive: true });
    writeFileSync(join(this.#dir, path), Array.from({ length: lines }, (_, at) => `// ${word} ${at + 1}\n`).join(''));
  }

  changed(path: string, lines: number, change: 'created' | 'modified' = 'modified'): Command {
    this.write(path, lines, 'changed line');
    const file = join(this.#dir, path);
    const text = Array.from({ length: lines }, (_, at) => `// changed line ${at + 1}\n`).join('');
    const { size, ctimeMs } = statSync(file);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { type: 'files.see', artifacts: [{ path, sha256, bytes: size, stamp: ctimeMs, change }] };
  }
}

interface Hooked {
  run: string;
  agent: string;
  title: string;
  host?: string;
}

/** Opens a run as the first prompt of a conversation does. */
async function openHooked(story: Story, { run, agent, title, host }: Hooked) {
  const workspace = story.workspace();
  await story.hook(run, agent, null, { type: 'run.open', kind: 'ad-hoc', workspace, title, goal: title });
  return session(story, run, agent, host);
}

async function session(story: Story, run: string, agent: string, host?: string) {
  const id = await story.hook(run, agent, null, {
    type: 'session.start',
    agent,
    client: { name: agent, id: `${run}-${agent}-${Math.random()}` },
    mark: { branch: 'main', head },
    ...(host ? { owner: { pid: 4242, host, startedAt: null } } : {}),
  });
  const does = (command: Command) => story.hook(run, agent, id, command);
  return {
    does,
    async ask(request: string) {
      story.pass(1);
      await does({ type: 'turn.begin', kind: 'request', request });
      story.pass(0.5);
    },
    async command(
      name: string,
      exitCode: number | null,
      seconds = 3,
      kind: 'unknown' | 'irreversible' | 'read' = 'unknown',
    ) {
      await does({ type: 'effect.begin', name, class: kind });
      story.pass(seconds / 60);
      if (exitCode === null) return;
      const last = await story.lastEffect(run);
      await does({
        type: 'effect.end',
        id: last,
        outcome: exitCode === 0 ? 'succeeded' : 'failed',
        exitCode,
        seen: true,
      });
    },
    todo: (titles: readonly string[]) =>
      does({
        type: 'plan.add',
        steps: titles.map((title, index) => ({
          key: `todo-${index + 1}`,
          title,
          kind: 'task',
          alias: `${agent}#${index}`,
        })),
      }),
    say: (said: string, asks = false) => does({ type: 'turn.end', outcome: 'done', said, ...(asks ? { asks } : {}) }),
    spend: (input: number, cached: number, output: number) =>
      does({ type: 'usage.add', input, cached, output, model: models[agent] ?? 'unknown' }),
  };
}

const models: Readonly<Record<string, string>> = {
  claude: 'claude-opus-4-6',
  codex: 'gpt-5.4-codex',
  gemini: 'gemini-3-pro',
};

async function workingByHooks(story: Story, tree: Tree): Promise<void> {
  story.at(9);
  const title = 'Remember me on the login page keeps people signed in for 30 days';
  const claude = await openHooked(story, { run: '2026-11-18-76c215', agent: 'claude', title });
  await claude.ask(`${title}. Use a cookie that scripts cannot read.`);
  await claude.todo(['Read how sessions are stored', 'Set an httpOnly cookie', 'Renew it on each visit', 'Test it']);
  await claude.command('rg -n "session" src', 0, 1, 'read');
  await claude.does({ type: 'step.start', step: 'todo-1' });
  await claude.does({ type: 'step.complete', step: 'todo-1' });
  await claude.does({ type: 'step.start', step: 'todo-2' });
  await claude.does(tree.changed('src/session.ts', 31));
  await claude.does(tree.changed('src/cookie.ts', 44, 'created'));
  await claude.command('npm test -- session', 1, 14);
  await claude.spend(61_000, 48_000, 3100);
  await claude.does(tree.changed('src/session.ts', 36));
  await claude.command('npm test -- session', 0, 12);
  await claude.does({ type: 'step.complete', step: 'todo-2' });
  await claude.does({ type: 'step.start', step: 'todo-3' });
  story.pass(1);
  await claude.does(tree.changed('src/login.ts', 29));
  await claude.does({ type: 'effect.begin', name: 'npm run lint', class: 'unknown' });
}

async function cutOffByHooks(story: Story, tree: Tree): Promise<void> {
  story.at(150);
  const title = 'Login answers 500 when the e-mail has a plus sign';
  const claude = await openHooked(story, { run: '2026-11-18-a41f07', agent: 'claude', title });
  await claude.ask(`${title}. Find out why and fix it, with a test.`);
  await claude.todo(['Reproduce it', 'Fix the parser', 'Add a test', 'Publish the patch']);
  await claude.does({ type: 'step.start', step: 'todo-1' });
  await claude.command('curl -s localhost:3000/login -d email=a+b@example.org', 0, 1, 'read');
  await claude.does({ type: 'step.complete', step: 'todo-1' });
  await claude.does({ type: 'step.start', step: 'todo-2' });
  await claude.does(tree.changed('src/mail-address.ts', 18, 'created'));
  await claude.does(tree.changed('test/mail-address.test.ts', 22, 'created'));
  await claude.command('npm test', 1, 4);
  await claude.say('The parser splits at the plus sign. I fixed it; one test still fails on quoted addresses.');
  await claude.ask('Make that test pass too, then publish the patch.');
  await claude.command('npm test', 1, 5);
  story.pass(2);
  await claude.does(tree.changed('src/mail-address.ts', 26));
  await claude.command('npm publish --tag patch', null, 2, 'irreversible');
}

async function finishedByHooks(story: Story, tree: Tree, commit: () => void): Promise<void> {
  story.at(60 * 5);
  const title = 'Accounting needs the bookings as CSV';
  const codex = await openHooked(story, { run: '2026-11-18-0d93be', agent: 'codex', title });
  await codex.ask(`${title}. Stream the rows, do not buffer them.`);
  await codex.does(tree.changed('src/export.ts', 48));
  await codex.command('npm test -- export', 0, 9);
  await codex.command('git commit -am "Export as CSV"', 0, 1);
  commit();
  await codex.spend(44_000, 30_000, 5200);
  await codex.say('GET /export.csv streams the bookings row by row. The tests pass, and it is committed.');
  await codex.does({ type: 'session.end', reason: 'completed' });
}

async function emptyPlan(story: Story): Promise<void> {
  story.at(60 * 2);
  await story.on('spring-clean')('ada', 'init', { id: 'spring-clean', title: 'Spring clean of the build' });
}

async function threeMinutes(story: Story): Promise<void> {
  story.at(60 * 3);
  const play = story.on('hotfix');
  await play('ada', 'init', { id: 'hotfix', title: 'Hotfix for the clock on the start page' });
  for (const [key, title] of [
    ['h1', 'Find the wrong zone'],
    ['h2', 'Use the zone of the visitor'],
    ['h3', 'Ship it'],
  ])
    await play('ada', 'plan.add', { key, title });
  await play('gemini', 'session.start', {});
  for (const key of ['h1', 'h2']) {
    await play('gemini', 'start', { key });
    story.pass(key === 'h1' ? 0.3 : 1.4);
    await play('gemini', 'complete', { key });
  }
  await play('gemini', 'session.end', { reason: 'completed', next: 'Ship it' });
}

async function oddTitles(story: Story): Promise<void> {
  story.at(60 * 26);
  const titles = {
    'long-title': `Make the importer accept ${'every date format that anyone has ever written into a spreadsheet, '.repeat(3)}and say which one it saw`,
    'right-to-left': 'أصلح صفحة تسجيل الدخول عندما يحتوي البريد على علامة زائد',
    emoji: '🚢 Ship the 🧭 compass widget 🎉',
  };
  for (const [id, title] of Object.entries(titles)) {
    await story.on(id)('ada', 'init', { id, title });
    await story.on(id)('ada', 'plan.add', { key: 't1', title });
  }
}

async function manyRuns(story: Story): Promise<void> {
  for (let index = 0; index < 24; index++) {
    story.at(60 * 24 * (24 - index) + 60 * 40);
    const agent = ['claude', 'codex', 'gemini'][index % 3] ?? 'claude';
    const title = subjects[index % subjects.length] ?? '';
    const one = await openHooked(story, {
      run: `2026-10-${String(index + 1).padStart(2, '0')}-${(index * 77_777 + 99_999).toString(16).padStart(6, '0')}`,
      agent,
      title,
    });
    await one.ask(title);
    for (const name of ['npm ci', 'npm test', 'git commit -am "Done"']) await one.command(name, 0);
    await one.say('Done, and the tests pass.');
    await one.does({ type: 'session.end', reason: 'completed' });
  }
}

async function archivedRuns(story: Story): Promise<void> {
  story.at(60 * 24 * 40);
  for (const id of ['winter-move', 'old-survey']) {
    const play = story.on(id);
    await play('ada', 'init', {
      id,
      title: id === 'winter-move' ? 'Move the harbour cameras' : 'Survey of the north pier',
    });
    await play('ada', 'plan.add', { key: 't1', title: 'All of it' });
    await play('ada', 'start', { key: 't1' });
    await play('ada', 'complete', { key: 't1' });
    await play('ada', 'archive', {});
  }
}

const subjects = [
  'Sort the berth list by draught',
  'Tide tables show the wrong day after midnight',
  'Upgrade the map library',
  'Type errors in the weather client',
  'Add a dark theme to the pilot screen',
  'Rename vessel to ship in the API',
  'Why is the dashboard slow on Mondays?',
  'Translate the mooring form',
];

const phases = [
  [
    'Research',
    'Ask the pilots',
    'List the berths',
    'Collect tide data',
    'Compare chart sources',
    'Measure the old page',
    'Interview the harbour master',
    'Write the glossary',
    'Choose a map',
  ],
  ['Data model', 'Berths', 'Vessels', 'Tides', 'Reservations', 'Charts', 'Permissions', 'History', 'Migration'],
  [
    'Tide service',
    'Fetch the stations',
    'Cache them',
    'Interpolate',
    'Serve as JSON',
    'Alarm on gaps',
    'Load test',
    'Benchmark the tide model',
    'Roll out to the pilots',
  ],
  [
    'Chart export',
    'Choose the format',
    'Render depth',
    'Render buoys',
    'Print layout',
    'Download page',
    'Checksums',
    'Sample charts',
    'Sign them',
  ],
  ['One-page view', 'Sketch', 'Berth list', 'Tide curve', 'Map', 'Warnings', 'Keyboard', 'Phone', 'Print'],
  ['Alarms', 'Thresholds', 'Mail', 'Text messages', 'Quiet hours', 'Escalation', 'Test alarm', 'Log', 'Handbook'],
  ['Pilot phase', 'Choose two piers', 'Train the staff', 'Watch a week', 'Collect faults', 'Fix them', 'Second week'],
  ['Release', 'Freeze', 'Announce', 'Switch over', 'Watch the night', 'Retire the old page', 'Write the report'],
] as const;

async function harbour(story: Story, tree: Tree): Promise<void> {
  const play = story.on('harbour');
  story.at(60 * 46);
  await play('ada', 'init', {
    id: 'harbour',
    title: 'Harbour planner: one page for pilots and berths',
    goal: 'A pilot sees berth, tide and warnings on one page, on a phone, in the rain',
  });
  for (const [index, [phase, ...steps]] of phases.entries()) {
    const parent = `p${index + 1}`;
    const after = index > 0 ? { after: [`p${index}`] } : {};
    await play('ada', 'plan.add', { key: parent, title: phase, kind: 'phase', ...(index > 2 ? after : {}) });
    for (const [at, title] of steps.entries()) {
      const gate = parent === 'p3' && at === 5 ? { gate: true } : {};
      await play('ada', 'plan.add', { key: `${parent}.${at + 1}`, title, parent, ...gate });
    }
  }
  await work(story, 'claude', ['p1.1', 'p1.2', 'p1.3', 'p1.4', 'p1.5', 'p1.6'], 7, 44 * 60);
  await work(story, 'codex', ['p1.7', 'p1.8', 'p2.1', 'p2.2', 'p2.3'], 9, 30 * 60);
  await work(story, 'gemini', ['p2.4', 'p2.5', 'p2.6'], 11, 26 * 60, 'build-2 boot');
  await work(story, 'claude', ['p2.7', 'p2.8', 'p3.1', 'p3.2', 'p3.3'], 6, 9 * 60);
  await trouble(story, tree);
}

/** A session that completes steps one after the other. */
async function work(
  story: Story,
  agent: string,
  keys: readonly string[],
  minutes: number,
  ago: number,
  host?: string,
): Promise<void> {
  story.at(ago);
  const one = await session(story, 'harbour', agent, host);
  for (const [index, key] of keys.entries()) {
    await one.does({ type: 'step.start', step: key });
    story.pass(minutes / 2);
    await one.does({ type: 'step.checkpoint', step: key, name: 'half' });
    story.pass(minutes / 2 + index);
    await one.spend(38_000 + index * 9000, 24_000 + index * 6000, 4100);
    await one.does({ type: 'step.complete', step: key, summary: 'Done as planned.' });
  }
  await one.does({ type: 'session.end', reason: 'completed' });
}

async function trouble(story: Story, tree: Tree): Promise<void> {
  const play = story.on('harbour');
  story.at(4 * 60);
  const codex = await session(story, 'harbour', 'codex', 'build-2 boot');
  await codex.does({ type: 'step.start', step: 'p3.7' });
  await codex.does({ type: 'step.checkpoint', step: 'p3.7', name: 'half', next: 'Measure with a full moon' });
  await codex.does(tree.changed('bench/tide.ts', 41));
  await codex.command('npm run bench', 1, 12);
  story.pass(8);
  await codex.does({ type: 'step.checkpoint', step: 'p3.7', name: 'measured' });
  await codex.spend(88_000, 60_000, 9000);
  await codex.does({
    type: 'step.fail',
    step: 'p3.7',
    errorType: 'runtime',
    message: 'The model server answers 503 above ten requests a second.',
  });
  await codex.does({ type: 'session.end', reason: 'completed' });
  story.at(190);
  // A process of this machine that is gone.
  const claude = await session(story, 'harbour', 'claude', hostName());
  await claude.does({ type: 'step.start', step: 'p3.8' });
  await claude.does(tree.changed('src/tide.ts', 30));
  await claude.command('npm test', 0, 21);
  await claude.does({
    type: 'step.checkpoint',
    step: 'p3.8',
    name: 'half',
    next: 'Measure the tide model again, then roll out to the second pier',
  });
  await play('claude', 'decide', {
    context: 'Stations fall silent',
    decision: 'Poll every 30 seconds, then mark the value as stale',
    reason: 'Pilots distrust a frozen number',
    affects: ['p3.8'],
  });
  await play('claude', 'decide', {
    context: 'Charts are legal documents',
    decision: 'Sign every exported chart',
    reason: 'The port authority asks for it',
    irreversible: true,
    affects: ['p4.8'],
  });
  await play('claude', 'note', {
    kind: 'dead-end',
    text: 'Interpolating between stations across the lock gives negative depths.',
  });
  await play('claude', 'raise', {
    kind: 'question',
    text: 'Drop the old map once the second pier is live?',
    step: 'p3.8',
  });
  await play('claude', 'raise', { kind: 'question', text: 'May the tide service keep visitor addresses for a week?' });
  await play('claude', 'raise', { kind: 'question', text: 'Which of the two logos belongs on the printed chart?' });
  await play('claude', 'raise', {
    kind: 'blocker',
    text: 'The certificate of the port authority expired',
    affects: ['p4.8'],
  });
  await play('claude', 'raise', {
    kind: 'finding',
    severity: 'should_fix',
    text: 'The tide curve flickers on old phones',
  });
  await play('claude', 'mail.send', {
    to: 'maintainer',
    type: 'decision-required',
    priority: 'P1',
    subject: 'The load test needs a copy of production',
    body: 'Masked, or on the real machine at night?',
  });
  await claude.command('berthctl release --pier 2 --now', null, 1, 'irreversible');
  await claude.command('mailctl announce --list pilots', null, 1, 'irreversible');
  tree.write('src/tide.ts', 33, 'by hand');
}
