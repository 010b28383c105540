import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Command } from '../src/core/journal/command.ts';
import type { operations } from '../src/operations/index.ts';
import type { openContext } from '../src/operations/open.ts';
import type { Operation } from '../src/operations/operation.ts';

/** The built product, passed in by a script and the tests. */
export interface Product {
  openContext: typeof openContext;
  operations: typeof operations;
}

export type Play = (
  who: string,
  operation: keyof typeof operations,
  input: Record<string, unknown>,
) => Promise<unknown>;

const MINUTE_MS = 60_000;
const PEOPLE = new Set(['ada', 'grace']);
const models = { claude: 'claude-opus-4-6', codex: 'gpt-5.4-codex', gemini: 'gemini-3-pro' } as const;

/** The secret of a token with which ada signs in. */
export async function tokenOfAda(product: Product, dir: string): Promise<string> {
  const story = openStory(product, dir);
  const made = await story.on('auth')('ada', 'token.add', { name: 'ada', scope: 'maintain' });
  await story.close();
  return (made as { secret: string }).secret;
}

/** Records operations at times in the past. */
export function openStory({ openContext: open, operations: all }: Product, dir: string) {
  let clock = Date.now();
  const now = () => new Date(clock).toISOString();
  const context = open({ dir, now, actor: { kind: 'person', name: 'ada' }, evidence: 'terminal' });
  return {
    /** Sets the clock to so many minutes ago. */
    at(minutesAgo: number): void {
      clock = Date.now() - minutesAgo * MINUTE_MS;
    },
    pass(minutes: number): void {
      clock += minutes * MINUTE_MS;
    },
    /** Runs an operation on a run; a name that is not one of the known people is an agent. */
    on:
      (run: string): Play =>
      async (who, name, input) => {
        clock += 1000;
        const operation: Operation = await all[name]();
        const actor = { kind: PEOPLE.has(who) ? ('person' as const) : ('agent' as const), name: who };
        const evidence = actor.kind === 'person' ? ('terminal' as const) : ('agent-shell' as const);
        const identity = { actor, evidence, session: null, key: null };
        const parsed = v.parse(operation.input, name === 'session.start' ? { agent: who, ...input } : input);
        return (await operation.run({ ...context, run, identity }, parsed)).data;
      },
    /** Records what a client's hook would: commands of a session. */
    async hook(run: string, agent: string, session: string | null, command: Command): Promise<string | null> {
      clock += 1000;
      const engine = await context.engine();
      const actor = { kind: 'agent' as const, name: agent };
      return (await engine.execute(run, command, { actor, evidence: 'hook', session, key: null })).session;
    },
    /** The id of the effect that began last. */
    async lastEffect(run: string): Promise<string> {
      const { effects } = await (await context.engine()).load(run);
      return [...effects.keys()].at(-1) ?? '';
    },
    workspace: () => context.workspace()?.id ?? '',
    close: () => context.close(),
  };
}

/** Five runs in different states, one of them with a full history. */
export async function buildWorld(product: Product, dir: string): Promise<void> {
  const git = (...words: string[]) => execFileSync('git', ['-C', dir, ...words], { stdio: 'ignore' });
  git('init', '-q', '-b', 'main');
  mkdirSync(join(dir, 'src'));
  for (const name of ['rotation.ts', 'store.ts', 'middleware.ts']) {
    writeFileSync(join(dir, 'src', name), `export const ${name.split('.')[0]} = 1;\n`);
  }
  const story = openStory(product, dir);
  await recordOthers(story);
  await recordAuth(story, dir);
  await story.close();
}

export type Story = ReturnType<typeof openStory>;

async function recordOthers(story: Story): Promise<void> {
  story.at(60 * 70);
  const search = story.on('search-index');
  await openRun(
    search,
    'search-index',
    'Rebuild the search index',
    'Queries answer within 50 ms at ten times the data',
  );
  await addSteps(search, ['s1 Measure the present index', 's2 Write the new mapping', 's3 Move the readers over']);
  await search('codex', 'session.start', {});
  await search('codex', 'start', { key: 's1' });
  story.pass(40);
  await search('codex', 'complete', { key: 's1', summary: 'p99 is 340 ms; the mapping is the reason.' });
  await search('codex', 'start', { key: 's2' });
  await search('codex', 'checkpoint', { name: 'fields-listed', next: 'Write the analyzers for German and Japanese' });
  await search('codex', 'session.end', { reason: 'context-exhausted', next: 'Write the analyzers' });

  story.at(60 * 30);
  const docs = story.on('handbook');
  await openRun(docs, 'handbook', 'Handbook for new maintainers', 'A newcomer ships a fix on the first day');
  await addSteps(docs, ['h1 Outline', 'h2 First draft', 'h3 Read it aloud to a newcomer']);
  for (const key of ['h1', 'h2', 'h3']) {
    await docs('gemini', 'start', { key });
    story.pass(30);
    await docs('gemini', 'complete', { key });
  }
  await docs('gemini', 'session.end', { reason: 'completed' });

  story.at(60 * 9);
  const release = story.on('release-4-2');
  await openRun(release, 'release-4-2', 'Release 4.2', 'Out on Thursday, with no one paged');
  await addSteps(release, ['r1 Freeze', 'r2 Rehearse the migration', 'r3 Ship']);
  await release('ada', 'raise', {
    kind: 'blocker',
    text: 'The signing key expired; security has to issue a new one',
    affects: ['r1'],
  });

  story.at(95);
  const crawler = story.on('crawler');
  await openRun(crawler, 'crawler', 'Crawler obeys robots.txt again', 'No site complains twice');
  await addSteps(crawler, ['c1 Reproduce the complaint', 'c2 Parse the directives', 'c3 Replay last week']);
  await crawler('qwen', 'session.start', {});
  await crawler('qwen', 'start', { key: 'c1' });
  story.pass(4);
  await crawler('qwen', 'checkpoint', { name: 'reproduced' });
}

async function openRun(play: Play, id: string, title: string, goal: string): Promise<void> {
  await play('ada', 'init', { id, title, goal });
}

async function addSteps(play: Play, lines: readonly string[]): Promise<void> {
  let before: string | null = null;
  for (const line of lines) {
    const [key = '', ...words] = line.split(' ');
    await play('ada', 'plan.add', { key, title: words.join(' '), ...(before ? { after: [before] } : {}) });
    before = key;
  }
}

async function recordAuth(story: Story, dir: string): Promise<void> {
  const play = story.on('auth');
  story.at(60 * 26);
  await openRun(play, 'auth', 'Tokens that rotate', 'A stolen refresh token is worth nothing after its next use');
  await planAuth(play);
  await firstSession(story, play);
  await crashAndHandoff(story, play);
  await thisMorning(story, play);
  // A change that is not recorded, so that the file conflicts.
  writeFileSync(join(dir, 'src', 'store.ts'), 'export const store = 2; // changed by hand\n');
}

async function planAuth(play: Play): Promise<void> {
  const add = (key: string, title: string, more: Record<string, unknown> = {}) =>
    play('ada', 'plan.add', { key, title, ...more });
  await add('p1', 'Foundations', { kind: 'phase' });
  await add('p1.1', 'Write down what an attacker can do', { parent: 'p1' });
  await add('p1.2', 'Choose the token format', { parent: 'p1', after: ['p1.1'] });
  await add('p2', 'Rotation', { kind: 'phase', after: ['p1'] });
  await add('p2.1', 'Store families of tokens', { parent: 'p2', checkpoints: ['schema', 'queries', 'tested'] });
  await add('p2.2', 'Rotate on every use', { parent: 'p2', after: ['p2.1'], checkpoints: ['drafted', 'tested'] });
  await add('p2.3', 'Detect reuse and revoke the family', { parent: 'p2', after: ['p2.1'] });
  await add('p3', 'Rollout', { kind: 'phase' });
  await add('p3.1', 'Rehearse with a copy of production', { parent: 'p3', gate: true });
  await add('p3.2', 'Move the clients over', { parent: 'p3', after: ['p3.1'] });
  await add('p3.3', 'Tell the client teams', { parent: 'p3' });
}

async function firstSession(story: Story, play: Play): Promise<void> {
  await play('claude', 'session.start', { role: 'architect' });
  await play('claude', 'start', { key: 'p1.1' });
  story.pass(35);
  await play('claude', 'usage.add', { input: 129_000, output: 6200, cached: 88_000, model: models.claude });
  await play('claude', 'complete', {
    key: 'p1.1',
    summary: 'Theft from a device and from a log are the two that matter.',
  });
  await play('claude', 'start', { key: 'p1.2' });
  await play('claude', 'decide', {
    type: 'technology',
    context: 'Refresh tokens must be revocable at once',
    decision: 'Sign them as JWT with a short life',
    reason: 'No lookup is needed to verify one',
    affects: ['p1.2'],
  });
  story.pass(25);
  await play('claude', 'decide', {
    type: 'technology',
    context: 'Revocation needs a lookup whatever the format',
    decision: 'Opaque tokens, hashed at rest, in families',
    reason: 'A lookup is needed anyway to notice reuse, and nothing can be read from a leaked one',
    alternatives: ['JWT with a deny list', 'PASETO'],
    supersedes: 'D-1',
    affects: ['p1.2', 'p2.1'],
  });
  await play('ada', 'note', {
    kind: 'constraint',
    text: 'No client may have to log in again on the day of the switch.',
  });
  await play('claude', 'complete', {
    key: 'p1.2',
    summary: 'Opaque, 256 bit, hashed at rest.',
    artifacts: ['src/store.ts'],
  });
  await play('claude', 'usage.add', { input: 176_000, output: 9100, cached: 140_000, model: models.claude });
  await play('claude', 'session.end', { reason: 'completed', next: 'Store families of tokens: start with the schema' });
}

async function crashAndHandoff(story: Story, play: Play): Promise<void> {
  story.at(60 * 20);
  await play('codex', 'session.start', {});
  await play('codex', 'start', { key: 'p2.1' });
  story.pass(20);
  await play('codex', 'checkpoint', { name: 'schema', next: 'Write the queries', artifacts: ['src/store.ts'] });
  await play('codex', 'usage.add', { input: 107_000, output: 12_400, cached: 45_000, model: models.codex });
  // The session stops responding; supervision notices.
  story.pass(90);
  await play('ada', 'supervise', {});
  await play('claude', 'session.start', {});
  await play('claude', 'start', { key: 'p2.1' });
  story.pass(30);
  await play('claude', 'checkpoint', { name: 'queries', artifacts: ['src/store.ts', 'src/middleware.ts'] });
  story.pass(25);
  await play('claude', 'checkpoint', { name: 'tested' });
  await play('claude', 'complete', {
    key: 'p2.1',
    summary: 'Families with a parent and a generation.',
    artifacts: ['src/store.ts'],
  });
  await play('claude', 'usage.add', { input: 268_000, output: 14_800, cached: 210_000, model: models.claude });
  await play('claude', 'start', { key: 'p2.2' });
  await play('claude', 'decide', {
    type: 'architecture',
    context: 'Two requests of one client may race for the next token',
    decision: 'A token stays good for ten seconds after its successor was given out',
    reason: 'Phones retry; without it they are logged out at random',
    irreversible: true,
    affects: ['p2.2'],
  });
  story.pass(20);
  await play('claude', 'checkpoint', { name: 'drafted', next: 'Test the race of two requests' });
  const { id } = (await play('claude', 'handoff', {
    to: 'codex',
    message: 'The draft is done; the race needs tests.',
  })) as { id: string };
  await play('codex', 'handoff.accept', { id });
  story.pass(45);
  await play('codex', 'usage.add', { input: 167_000, output: 10_900, cached: 120_000, model: models.codex });
  await play('codex', 'complete', {
    key: 'p2.2',
    summary: 'Rotation with a grace of ten seconds.',
    artifacts: ['src/rotation.ts'],
  });
  await play('codex', 'verify', { key: 'p2.2', result: 'pass' });
  await play('codex', 'session.end', { reason: 'completed' });
}

async function thisMorning(story: Story, play: Play): Promise<void> {
  story.at(48);
  await play('claude', 'session.start', {});
  await play('claude', 'start', { key: 'p2.3' });
  await play('gemini', 'session.start', { role: 'verifier' });
  await play('gemini', 'effect.begin', { name: 'terraform apply -target=module.rehearsal', class: 'irreversible' });
  await play('gemini', 'usage.add', { input: 30_000, output: 2300, cached: 9000, model: models.gemini });
  await play('gemini', 'raise', {
    kind: 'finding',
    severity: 'should_fix',
    text: 'The grace of ten seconds is not in the metrics',
  });
  await play('claude', 'raise', {
    kind: 'question',
    text: 'Revoke the family silently, or tell the person whose token was reused?',
    step: 'p2.3',
  });
  await play('gemini', 'mail.send', {
    to: 'maintainer',
    type: 'decision-required',
    priority: 'P1',
    subject: 'The rehearsal needs a copy of production',
    body: 'The copy holds personal data. Either it is masked first (about two hours), or the rehearsal runs where production runs.\n\nWhich?',
  });
  await play('claude', 'mail.send', {
    to: 'gemini',
    type: 'request',
    priority: 'P2',
    subject: 'Please look at the race once more',
    body: 'I changed the lock from the token to its family.',
  });
  await play('gemini', 'mail.ack', { id: 'M-3', note: 'After the rehearsal.' });
  await play('claude', 'note', { text: 'The audit table wants an index before reuse can be noticed in time.' });
  await play('claude', 'raise', {
    kind: 'commitment',
    text: 'A table of all revocations for the security team',
    to: 'ada',
    due: 'Friday',
  });
  story.pass(44);
  await play('claude', 'usage.add', { input: 193_000, output: 7700, cached: 160_000, model: models.claude });
  await play('claude', 'checkpoint', { name: 'reuse-noticed', next: 'Revoke the family in one statement' });
}
