import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildWorld, openStory } from '../demo/world.ts';
import { program } from './command-line.ts';
import {
  type Dashboard,
  expectAccessible,
  hashOf,
  openDashboard,
  product,
  submit,
  views,
} from './dashboard-browser.ts';
import { runAtTerminal } from './terminal.ts';

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard(buildWorld);
}, 90_000);

afterEach(() => dashboard.closePages());
afterAll(() => dashboard?.close());

const visit: Dashboard['visit'] = (...given) => dashboard.visit(...given);
const newPage: Dashboard['newPage'] = (...given) => dashboard.newPage(...given);
const go: Dashboard['go'] = (...given) => dashboard.go(...given);
const command: Dashboard['command'] = (...given) => dashboard.command(...given);
const ask: Dashboard['ask'] = (...given) => dashboard.ask(...given);

describe('a first visit', () => {
  it('signs in with the link, and the token leaves the address', async () => {
    const page = await newPage();
    await page.goto(dashboard.server.link);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    expect(page.url()).toBe(`${dashboard.server.url}/`);
    await page.getByRole('link', { name: /Tokens that rotate/ }).waitFor();
  });

  it('asks for a token without the link, and says when it is not valid', async () => {
    const page = await newPage();
    await page.goto(dashboard.server.url);
    await page.getByLabel('Token').fill('hf_nonsense');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('not valid').waitFor();
    await page.getByLabel('Token').fill(new URL(dashboard.server.link).searchParams.get('token') ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  });
});

describe('the pages', () => {
  it('show the state of every run and what needs a person', async () => {
    const page = await visit();
    for (const [id, word] of [
      ['auth', 'working'],
      ['crawler', 'cut off'],
      ['release-4-2', 'blocked'],
      ['search-index', 'open'],
      ['handbook', 'finished'],
    ] as const) {
      if (word === 'finished') await page.getByText('1 finished run').click();
      await page.locator(`.run-row[href="#/run/${id}"]`).locator('.pill', { hasText: word }).waitFor();
    }
  });

  it('show a run part by part', async () => {
    const page = await visit('#/run/auth');
    const said: Record<(typeof views)[number], string[]> = {
      overview: [
        'terraform apply',
        'Detect reuse and revoke the family',
        'gemini',
        'A token stays good for ten seconds',
      ],
      activity: ['terraform apply', 'outcome unknown', 'src/store.ts'],
      sessions: ['handed to codex', 'reconstructed', 'rules:'],
      decisions: ['Opaque tokens, hashed at rest', 'JWT with a deny list', 'D-1', 'irreversible'],
      mail: ['The rehearsal needs a copy of production', 'After the rehearsal.'],
      tokens: ['claude-opus-4-6', 'gpt-5.4-codex', 'of it cached'],
      brief: ['Holdfast record of', 'tokens', 'No client may have to log in again'],
    };
    for (const view of views) {
      await go(page, hashOf('auth', view));
      for (const words of said[view]) await page.getByText(words).first().waitFor();
    }
  });

  it('show the brief within the budget that was chosen', async () => {
    const page = await visit(hashOf('auth', 'brief'));
    const before = await page.locator('.brief').textContent();
    await page.getByLabel('Budget').fill('400');
    await page.getByText('of 400 tokens').first().waitFor();
    const after = await page.locator('.brief').textContent();
    expect(after?.length).toBeLessThan(before?.length ?? 0);
  });

  it('show a run as it was at an event, without anything to press', async () => {
    const page = await visit('#/run/auth');
    expect(await page.getByLabel('Show the run as it was after event').count()).toBe(0);
    await page.keyboard.press('h');
    await page.getByLabel('Show the run as it was after event').fill('14');
    await page.getByText('Looking at event 14 of').waitFor();
    await page.getByText('0 of 8 steps').waitFor();
    expect(page.url()).toContain('?at=14');
    expect(await page.getByRole('button', { name: /^(Resolve|Answer|Open the gate|Add step)/ }).count()).toBe(0);
    await go(page, '#/run/auth/decisions?at=30');
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByText('Looking at event').waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('at=');
  });

  it('say so where there is nothing, or no such thing', async () => {
    const page = await visit('#/nowhere/at/all');
    await page.getByText('There is no such page.').waitFor();
    await page.goto(`${dashboard.server.url}/#/run/craweler`);
    await page.getByText('There is no such run.').waitFor();
    await page.getByRole('link', { name: /Crawler obeys/ }).click();
    await page.getByRole('heading', { name: 'Crawler obeys robots.txt again' }).waitFor();
    await go(page, hashOf('release-4-2', 'sessions'));
    await page.getByText('No sessions yet.').waitFor();
    await go(page, hashOf('release-4-2', 'decisions'));
    await page.getByText('Agents record decisions here; you can too').waitFor();
  });

  it('can be used with the keyboard', async () => {
    const page = await visit();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Tokens that rotate' }).waitFor();
  });

  it('fit a phone', async () => {
    const page = await visit('#/', { width: 360 });
    for (const hash of ['#/', ...views.map((view) => hashOf('auth', view))]) {
      await go(page, hash);
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect(wide, hash).toBeLessThanOrEqual(0);
    }
    // The tabs are on one line, which scrolls.
    const tabs = await page.getByRole('navigation', { name: 'Parts of this run' }).boundingBox();
    expect(tabs?.height).toBeLessThan(60);
    // One header row; what needs you comes before the plan, two of them, with a link to the rest.
    expect((await page.locator('.top').boundingBox())?.height).toBeLessThan(60);
    await go(page, '#/run/auth');
    const list = page.getByRole('region', { name: 'Needs you' });
    expect(await list.getByRole('listitem').count()).toBe(2);
    await list.getByRole('button', { name: /^all \d/ }).waitFor();
  });

  it('have no accessibility violations, in light and in dark', { timeout: 240_000 }, async () => {
    const page = await visit();
    const hashes = [
      ...['#/', '#/needs', '#/search?q=token', '#/run/none', '#/run/auth?at=40', '#/run/auth?step=p2.3'],
      ...views.map((view) => hashOf('auth', view)),
    ];
    for (const hash of hashes) {
      await go(page, hash);
      if (hash.includes('step=')) await page.getByRole('heading', { name: /Detect reuse/ }).waitFor();
      await expectAccessible(page, hash);
    }
    await go(page, '#/run/auth');
    await page.getByRole('button', { name: 'Resolve: F-1' }).click();
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page, 'a dialog');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /need you/ }).click();
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page, 'the list of what needs you');
  });

  it('have no accessibility violations on the sign-in page', async () => {
    const page = await newPage();
    await page.goto(dashboard.server.url);
    await page.getByLabel('Token').waitFor();
    await expectAccessible(page, 'login');
  });
});

describe('a person', () => {
  const statusOf = (run: string) => ask('status', {}, run) as unknown as Promise<Record<string, { id: string }[]>>;
  const open = async (list: string, run = 'auth') => ((await statusOf(run))[list] ?? []).map((one) => one.id);

  it('answers a question', async () => {
    const page = await visit('#/needs');
    await page.getByRole('button', { name: 'Answer: Q-1' }).click();
    await submit(page, 'Answer Q-1', { 'Your answer': 'Tell them, in plain words.' });
    await page.getByRole('button', { name: 'Answer: Q-1' }).waitFor({ state: 'detached' });
    expect(await open('items')).not.toContain('Q-1');
    const { items } = (await ask('items', { all: true, kind: 'question' }, 'auth')) as unknown as { items: unknown[] };
    expect(items).toEqual([expect.objectContaining({ id: 'Q-1', resolution: 'Tell them, in plain words.' })]);
  });

  it('opens a gate', async () => {
    const page = await visit('#/run/auth');
    await page.getByRole('button', { name: 'Open the gate: p3.1' }).first().click();
    await submit(page, 'Open the gate of p3.1');
    await page.getByRole('button', { name: 'Open the gate: p3.1' }).first().waitFor({ state: 'detached' });
  });

  it('acknowledges, answers and closes mail', async () => {
    const page = await visit(hashOf('auth', 'mail'));
    await page.getByRole('button', { name: 'Acknowledge: M-2' }).click();
    await submit(page, 'Acknowledge M-2', { 'What the sender should know': 'On it.' });
    await page.getByText('On it.').waitFor();
    await page.getByRole('button', { name: 'Reply: M-2' }).click();
    await submit(page, 'Reply to M-2', { Message: 'Mask it first.' });
    await page.getByText('Mask it first.').waitFor();
    await page.getByRole('button', { name: 'Close: M-2' }).click();
    await submit(page, 'Close M-2', { Note: 'Settled.' }, 'Resolved');
    await page.getByRole('button', { name: 'Close: M-2' }).waitFor({ state: 'detached' });
    expect(await open('mail')).not.toContain('M-2');
    const closed = page.getByRole('region', { name: 'Closed mail' });
    await closed.getByText('Mask it first.').waitFor();
    expect(await closed.getByRole('button').count()).toBe(0);
  });

  it('lets a failed step be retried', async () => {
    const as = ['--run', 'search-index', '--agent', 'codex'];
    await command('plan', 'add', 'extra', 'Warm the caches', ...as);
    await command('start', 'extra', ...as);
    await command('fail', 'extra', '--message', 'The cache refused us', ...as);
    await command('session', 'end', '--reason', 'completed', ...as);
    const page = await visit('#/run/search-index');
    await page.getByRole('button', { name: /1 failed step/ }).waitFor();
    await page.getByRole('button', { name: 'Retry: extra' }).first().click();
    await submit(page, 'Retry extra', { 'What is different now': 'It has room again.' });
    await page.getByText('extra can be started again.').waitFor();
    await page.getByRole('img', { name: 'interrupted' }).first().waitFor();
    await page.getByRole('button', { name: 'Retry: extra' }).first().waitFor({ state: 'detached' });
    await command('start', 'extra', ...as);
    await page.getByText('codex; retry 1').waitFor();
    await command('complete', 'extra', ...as);
    await command('session', 'end', '--reason', 'completed', ...as);
  });

  it('resolves a blocker, and the run is no longer blocked', async () => {
    const page = await visit('#/run/release-4-2');
    await page.getByRole('button', { name: 'Resolve: B-1' }).click();
    await submit(page, 'Resolve B-1', {}, 'Resolved');
    await page.locator('.run-facts .pill', { hasText: 'not started' }).waitFor();
  });

  it('accepts a conflict and records the outcome of an effect', async () => {
    const page = await visit('#/run/auth');
    await page.getByRole('button', { name: /1 conflict/ }).click();
    await page.getByRole('button', { name: /^Accept: K-/ }).click();
    const accept = await page
      .locator('dialog.dialog')
      .getByRole('button', { name: /^Accept K-/ })
      .textContent();
    await submit(page, accept ?? '', { Note: 'I did it by hand.' });
    await page.getByRole('button', { name: /^Accept: K-/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Irreversible, outcome unknown:').waitFor();
    await page.getByRole('button', { name: 'Record outcome: X-1' }).click();
    await submit(page, 'Record the outcome of X-1', { 'How you know': 'The console says so.' }, 'It happened');
    await page.getByText('Irreversible, outcome unknown:').waitFor({ state: 'detached' });
    expect(await open('uncertain')).toEqual([]);
  });

  it('hands over the work of an agent', async () => {
    const page = await visit('#/run/crawler');
    await page.getByRole('button', { name: /^Hand over: qwen/ }).click();
    await submit(page, 'Offer the work of S-1', {
      'To the agent': 'codex',
      'Message to the receiver': 'Reproduced; go on.',
    });
    await page.getByText('offered').first().waitFor();
    expect(await open('handoffs', 'crawler')).toEqual(['H-1']);
  });

  it('approves a compaction', async () => {
    const page = await visit('#/run/auth');
    await page.getByRole('button', { name: 'Approve: compaction' }).click();
    await page.getByRole('button', { name: /^Move \d+ entries$/ }).click();
    await page.getByRole('button', { name: 'Approve: compaction' }).waitFor({ state: 'detached' });
    const { archives } = (await ask('worklog', {}, 'auth')) as unknown as { archives: unknown[] };
    expect(archives).toHaveLength(1);
  });

  it('sees in the form what the server refuses', async () => {
    const page = await visit('#/run/auth');
    await page.getByRole('button', { name: 'Resolve: F-1' }).click();
    await command('settle', 'F-1', '--as', 'resolved', '--run', 'auth');
    const words = ['erase', 'F-1', '--reason', 'gone', '--run', 'auth'];
    expect(
      runAtTerminal([process.execPath, program, ...words], { cwd: dashboard.dir, env: dashboard.environment() }).code,
    ).toBe(0);
    const box = page.getByRole('dialog');
    await box.getByLabel('Deferred: not now').check();
    await box.getByRole('button', { name: 'Resolve F-1', exact: true }).click();
    await box.getByRole('alert').waitFor();
  });

  it('with a read-only token cannot press anything', async () => {
    const story = openStory(product, dashboard.dir);
    const made = (await story.on('auth')('ada', 'token.add', { name: 'guest', scope: 'read' })) as { secret: string };
    await story.close();
    const page = await newPage();
    await page.goto(`${dashboard.server.url}/login?token=${made.secret}`);
    await go(page, '#/run/auth');
    const buttons = page.getByRole('button', { name: /^(Resolve|Hand over)/ });
    await buttons.first().waitFor();
    for (const button of await buttons.all()) expect(await button.isDisabled()).toBe(true);
  });
});

describe('a page that is open', () => {
  it('shows what another process records, and announces what needs a person', async () => {
    const page = await visit('#/run/search-index');
    await command('raise', 'question', 'Keep the old index for a week?', '--run', 'search-index', '--agent', 'codex');
    await page.getByRole('button', { name: /1 question/ }).waitFor();
    await page.getByRole('status').getByText('question Q-1').waitFor();
    await page.locator('.run-facts .pill', { hasText: 'needs you' }).waitFor();
  });

  it('says so when requests fail though the feed seems open, and retries', async () => {
    const page = await visit('#/run/search-index');
    await page.route('**/api/**', (route) => route.abort());
    await page.getByRole('link', { name: 'decisions' }).click();
    await page.getByText('No connection to the server.').waitFor();
    await page.getByText('This page retries automatically.').first().waitFor();
    await page.unroute('**/api/**');
    await page.locator('.connection-live').waitFor();
    await page.getByText('The server cannot be reached.').waitFor({ state: 'detached' });
  });

  it('reconnects after a restart of the server, and shows what it missed', async () => {
    // A token, since the sign-in link ends with its server.
    const story = openStory(product, dashboard.dir);
    const made = (await story.on('auth')('ada', 'token.add', { name: 'reader', scope: 'read' })) as { secret: string };
    await story.close();
    const page = await newPage();
    await page.goto(`${dashboard.server.url}/login?token=${made.secret}`);
    await go(page, '#/run/search-index');
    await page.locator('.connection-live').waitFor();
    const port = Number(new URL(dashboard.server.url).port);
    await dashboard.server.stop();
    await page.getByText('No connection to the server.').waitFor();
    await command('raise', 'finding', 'The analyzer drops umlauts', '--run', 'search-index', '--agent', 'codex');
    await dashboard.restart(port);
    await page.locator('.connection-live').waitFor();
    await page.getByText('The analyzer drops umlauts').waitFor();
  });
});

describe('text from agents and people', () => {
  it('is shown and never run, however hostile or long it is', async () => {
    const start = String.fromCodePoint(0x1b);
    const override = String.fromCodePoint(0x202e);
    const script = '<script>window.pwned = 1</script><img src=x onerror="window.pwned = 1">';
    const words = `${script} ${start}[31mred${start}]0;title\u0007 ${override}txet desrever مرحبا`;
    const long = `${words} ${'x'.repeat(1024 * 1024 - 400)}`;
    const story = openStory(product, dashboard.dir);
    const play = story.on('hostile');
    await play('ada', 'init', { id: 'hostile', title: words, goal: words });
    await play('ada', 'plan.add', { key: 'h1', title: words });
    await play('mallory', 'session.start', {});
    await play('mallory', 'start', { key: 'h1' });
    await play('mallory', 'note', { text: long, kind: 'constraint' });
    await play('mallory', 'decide', { context: words, decision: long, reason: words, alternatives: [words] });
    await play('mallory', 'raise', { kind: 'question', text: long });
    await play('mallory', 'mail.send', {
      to: 'maintainer',
      type: 'request',
      priority: 'P0',
      subject: words,
      body: long,
    });
    await play('mallory', 'effect.begin', { name: words, class: 'unknown' });
    await play('mallory', 'session.end', { reason: 'completed', next: words, notes: [words] });
    await story.close();
    const page = await visit();
    for (const hash of ['#/', ...views.map((view) => hashOf('hostile', view))]) {
      await go(page, hash);
      await page.getByText('window.pwned').first().waitFor();
      const seen = await page.evaluate<{ ran: boolean; images: number; text: string }>(
        "({ ran: 'pwned' in window, images: document.querySelectorAll('main img').length, text: document.body.innerText })",
      );
      expect(seen.ran, hash).toBe(false);
      expect(seen.images, hash).toBe(0);
      expect(seen.text.includes(start) || seen.text.includes(override), hash).toBe(false);
      expect(seen.text.length, hash).toBeLessThan(60_000);
    }
    await go(page, hashOf('hostile', 'decisions'));
    await page
      .getByRole('button', { name: /^Show more/ })
      .first()
      .click();
    await expectAccessible(page, 'hostile');
  });

  it('may be a plan of five hundred steps', async () => {
    mkdirSync(join(dashboard.dir, 'plans'), { recursive: true });
    const phases = Array.from({ length: 20 }, (_, phase) => [
      `# Phase ${phase}`,
      ...Array.from({ length: 24 }, (__, step) => `- [ ] Step ${phase}.${step}`),
    ]);
    writeFileSync(join(dashboard.dir, 'plans', 'long.md'), phases.flat().join('\n'));
    await command('init', '--title', 'Long', '--id', 'long', '--plan', 'plans/long.md');
    const page = await visit('#/run/long');
    await page.getByText('Step 19.23').waitFor();
    expect(await page.locator('.plan .step').count()).toBe(500);
    await page.getByLabel('Filter the plan').fill('step 19.2');
    await page.getByText('Step 3.7', { exact: true }).waitFor({ state: 'detached' });
    expect(await page.locator('.plan .step').count()).toBe(6);
  });
});

it('logs no errors on any page', () => {
  expect(dashboard.complaints).toEqual([]);
});
