import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../demo/browser.ts';
import { type Server, startServer } from '../demo/server.ts';
import { buildWorld, openStory, type Product, tokenOfAda } from '../demo/world.ts';
import { program } from './command-line.ts';
import { runAtTerminal } from './terminal.ts';

// As they are built: this is what users run.
const { openContext } = (await import('../dist/lib/operations/open.js' as string)) as Pick<Product, 'openContext'>;
const { operations } = (await import('../dist/lib/operations/index.js' as string)) as Pick<Product, 'operations'>;
const product: Product = { openContext, operations };

const views = ['overview', 'timeline', 'decisions', 'mail', 'tokens', 'snapshots', 'brief', 'log'] as const;

let dir: string;
let browser: Browser;
let server: Server;
/** Of a maintainer's token. */
let secret: string;
/** Errors that pages logged: violations of their security policy, and exceptions. */
const complaints: string[] = [];
const opened: BrowserContext[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'holdfast-dashboard-'));
  await buildWorld(product, dir);
  secret = await tokenOfAda(product, dir);
  [server, browser] = await Promise.all([startServer(program, dir, secret), openBrowser()]);
}, 60_000);

afterEach(async () => {
  for (const context of opened.splice(0)) await context.close();
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function newPage({ width = 1280 }: { width?: number } = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width, height: 900 } });
  opened.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text()))
      complaints.push(message.text());
  });
  return page;
}

/** Signs in with the link and opens a page of the dashboard. */
async function visit(hash = '#/', options: Parameters<typeof newPage>[0] = {}): Promise<Page> {
  const page = await newPage(options);
  await page.goto(server.link);
  await go(page, hash);
  return page;
}

async function go(page: Page, hash: string): Promise<void> {
  await page.goto(`${server.url}/${hash}`);
  await page.getByText('Live', { exact: true }).waitFor();
  await settled(page);
}

async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
}

const hashOf = (run: string, view: string): string => `#/run/${run}${view === 'overview' ? '' : `/${view}`}`;

/** A command of another process on the same workspace, with the same state folder: tokens are there. */
const environment = () => ({
  PATH: process.env['PATH'] ?? '',
  HOME: dir,
  HOLDFAST_STATE_HOME: process.env['HOLDFAST_STATE_HOME'] ?? '',
});

async function command(...words: string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: dir,
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr?.on('data', (text) => {
    err += String(text);
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`holdfast ${words.join(' ')}: ${err}`);
}

async function ask(operation: keyof Product['operations'], input: Record<string, unknown>, run: string) {
  const story = openStory(product, dir);
  try {
    return (await story.on(run)('ada', operation, input)) as Record<string, never>;
  } finally {
    await story.close();
  }
}

describe('a first visit', () => {
  it('signs in with the link, and the token leaves the address', async () => {
    const page = await newPage();
    await page.goto(server.link);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    expect(page.url()).toBe(`${server.url}/`);
    await page.getByRole('link', { name: /Tokens that rotate auth/ }).waitFor();
  });

  it('asks for a token without the link, and says when it is not valid', async () => {
    const page = await newPage();
    await page.goto(server.url);
    await page.getByLabel('Token').fill('hf_nonsense');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('not valid').waitFor();
    await page.getByLabel('Token').fill(new URL(server.link).searchParams.get('token') ?? '');
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
      ['handbook', 'completed'],
      ['search-index', 'open'],
    ] as const) {
      await page.locator('.run-row', { hasText: id }).locator('.pill', { hasText: word }).waitFor();
    }
    await page
      .getByRole('region', { name: /Needs you/ })
      .getByText('Revoke the family silently')
      .waitFor();
    expect(await page.title()).toMatch(/^\(\d+\) Holdfast$/);
  });

  it('show a run part by part', async () => {
    const page = await visit('#/run/auth');
    const said: Record<(typeof views)[number], string[]> = {
      overview: ['Conflicts', 'src/store.ts', 'terraform apply', 'Store families of tokens', 'gemini'],
      timeline: ['handed to codex', 'p2.1 crashed'],
      decisions: ['Opaque tokens, hashed at rest', 'JWT with a deny list', 'D-1', 'irreversible'],
      mail: ['The rehearsal needs a copy of production', 'After the rehearsal.'],
      tokens: ['claude', 'codex', 'gemini'],
      snapshots: ['reconstructed', 'rules:'],
      brief: ['Holdfast record of', 'tokens', 'No client may have to log in again'],
      log: ['step.checkpointed', 'effect.began'],
    };
    for (const view of views) {
      await go(page, hashOf('auth', view));
      for (const words of said[view]) await page.getByText(words).first().waitFor();
    }
    await go(page, hashOf('auth', 'tokens'));
    await page.locator('.chart canvas').waitFor();
    const drawn = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.chart .u-marker')].map((mark) => getComputedStyle(mark).borderColor)",
    );
    expect(new Set(drawn).size).toBe(4);
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
    await page.getByLabel('Show the run as it was after event').fill('14');
    await page.getByText('Event 14 of').waitFor();
    await page.getByText('0 of 8 steps').waitFor();
    expect(page.url()).toContain('?at=14');
    expect(await page.getByRole('button', { name: /^(Resolve|Answer|Open the gate)/ }).count()).toBe(0);
    await go(page, '#/run/auth/decisions?at=30');
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByText('Now, event').waitFor();
  });

  it('say so where there is nothing, or no such thing', async () => {
    const page = await visit('#/nowhere/at/all');
    await page.getByText('There is no such page.').waitFor();
    await page.goto(`${server.url}/#/run/nobody`);
    await page.getByRole('alert').getByText('There is no run').waitFor();
    await go(page, hashOf('release-4-2', 'snapshots'));
    await page.getByText('No snapshots yet.').waitFor();
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
  });

  it('have no accessibility violations, in light and in dark', { timeout: 90_000 }, async () => {
    const page = await visit();
    const hashes = ['#/', ...views.map((view) => hashOf('auth', view)), '#/run/auth?at=40'];
    for (const hash of hashes) {
      await go(page, hash);
      await expectAccessible(page, hash);
    }
    await go(page, '#/run/auth');
    await page.getByRole('button', { name: 'Resolve: F-1' }).click();
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page, 'a dialog');
  });

  it('have no accessibility violations on the sign-in page', async () => {
    const page = await newPage();
    await page.goto(server.url);
    await page.getByLabel('Token').waitFor();
    await expectAccessible(page, 'login');
  });
});

/**
 * In dark mode only the colours differ, and these pages have every pair of text and background colours between them: the
 * other pages are made of the same cards, pills and tags.
 */
const inDark = new Set([
  ...['#/', '#/run/auth', '#/run/auth/timeline', '#/run/auth/log', '#/run/auth?at=40'],
  ...['a dialog', 'login'],
]);

async function expectAccessible(page: Page, where: string): Promise<void> {
  const found: string[] = [];
  for (const colorScheme of inDark.has(where) ? (['light', 'dark'] as const) : (['light'] as const)) {
    await page.emulateMedia({ colorScheme });
    // Violations only: describing what passes takes longer than the check.
    const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
    const { violations } = await (colorScheme === 'dark' ? axe.withRules('color-contrast') : axe).analyze();
    found.push(
      ...violations.map(
        ({ id, nodes }) => `${where}, ${colorScheme}, ${id}: ${nodes.map(({ html }) => html).join('\n')}`,
      ),
    );
  }
  await page.emulateMedia({ colorScheme: 'light' });
  expect(found).toEqual([]);
}

describe('a person', () => {
  const submit = async (page: Page, name: string, fill: Record<string, string> = {}): Promise<void> => {
    const box = page.getByRole('dialog');
    for (const [label, text] of Object.entries(fill)) await box.getByLabel(label).fill(text);
    await box.getByRole('button', { name, exact: true }).click();
    await box.waitFor({ state: 'hidden' });
  };
  const statusOf = (run: string) => ask('status', {}, run) as unknown as Promise<Record<string, { id: string }[]>>;
  const open = async (list: string, run = 'auth') => ((await statusOf(run))[list] ?? []).map((one) => one.id);

  it('answers a question', async () => {
    const page = await visit('#/run/auth');
    await page.getByRole('button', { name: 'Answer: Q-1' }).click();
    await submit(page, 'Answer', { 'Your answer': 'Tell them, in plain words.' });
    await page.getByRole('button', { name: 'Answer: Q-1' }).waitFor({ state: 'detached' });
    expect(await open('items')).not.toContain('Q-1');
    const { items } = (await ask('items', { all: true, kind: 'question' }, 'auth')) as unknown as { items: unknown[] };
    expect(items).toEqual([expect.objectContaining({ id: 'Q-1', resolution: 'Tell them, in plain words.' })]);
  });

  it('opens a gate', async () => {
    const page = await visit('#/run/auth');
    await page.getByRole('button', { name: 'Open the gate: p3.1' }).first().click();
    await submit(page, 'Open the gate');
    await page.getByRole('button', { name: 'Open the gate: p3.1' }).first().waitFor({ state: 'detached' });
  });

  it('acknowledges, answers and closes mail', async () => {
    const page = await visit(hashOf('auth', 'mail'));
    await page.getByRole('button', { name: 'Acknowledge: M-2' }).click();
    await submit(page, 'Acknowledge', { 'What the sender should know': 'On it.' });
    await page.getByText('On it.').waitFor();
    await page.getByRole('button', { name: 'Reply: M-2' }).click();
    await submit(page, 'Send', { Message: 'Mask it first.' });
    await page.getByText('Mask it first.').waitFor();
    await page.getByRole('button', { name: 'Close: M-2' }).click();
    await submit(page, 'Close');
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
    await page.getByText('extra Warm the caches: The cache refused us').waitFor();
    await page.getByRole('button', { name: 'Retry: extra' }).first().click();
    await page.getByLabel('What is different now').fill('It has room again.');
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText('extra can be started again.').waitFor();
    await page.getByRole('img', { name: 'interrupted' }).first().waitFor();
    await page.getByRole('button', { name: 'Retry: extra' }).first().waitFor({ state: 'detached' });
    await command('start', 'extra', ...as);
    await page.getByText(/^codex, S-\d+; retry 1$/).waitFor();
    await command('complete', 'extra', ...as);
    await command('session', 'end', '--reason', 'completed', ...as);
  });

  it('resolves a blocker, and the run is no longer blocked', async () => {
    const page = await visit('#/run/release-4-2');
    await page.getByRole('button', { name: 'Resolve: B-1' }).click();
    await submit(page, 'Resolve');
    await page.locator('.run-facts .pill', { hasText: 'not started' }).waitFor();
  });

  it('accepts a conflict and records the outcome of an effect', async () => {
    const page = await visit('#/run/auth');
    await page.getByRole('button', { name: /^Accept: K-/ }).click();
    await submit(page, 'Accept', { Note: 'I did it by hand.' });
    await page.getByRole('heading', { name: /^Conflicts/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Record outcome: X-1' }).click();
    await submit(page, 'Record');
    await page.getByRole('heading', { name: /^Uncertain effects/ }).waitFor({ state: 'detached' });
    expect(await open('uncertain')).toEqual([]);
  });

  it('hands over the work of an agent', async () => {
    const page = await visit('#/run/crawler');
    await page.getByRole('button', { name: /^Hand over: qwen/ }).click();
    await submit(page, 'Offer', { 'To the agent': 'codex', 'Message to the receiver': 'Reproduced; go on.' });
    await page.getByText('offered').first().waitFor();
    expect(await open('handoffs', 'crawler')).toEqual(['H-1']);
  });

  it('approves a compaction', async () => {
    const page = await visit('#/run/auth');
    await page.getByRole('button', { name: 'Approve: compaction' }).click();
    await submit(page, 'Approve');
    await page.getByRole('button', { name: 'Approve: compaction' }).waitFor({ state: 'detached' });
    const { archives } = (await ask('worklog', {}, 'auth')) as unknown as { archives: unknown[] };
    expect(archives).toHaveLength(1);
  });

  it('sees in the form what the server refuses', async () => {
    const page = await visit('#/run/auth');
    await page.getByRole('button', { name: 'Resolve: F-1' }).click();
    await command('settle', 'F-1', '--as', 'resolved', '--run', 'auth');
    const words = ['erase', 'F-1', '--reason', 'gone', '--run', 'auth'];
    expect(runAtTerminal([process.execPath, program, ...words], { cwd: dir, env: environment() }).code).toBe(0);
    const box = page.getByRole('dialog');
    await box.getByLabel('Outcome').selectOption('deferred');
    await box.getByRole('button', { name: 'Resolve', exact: true }).click();
    await box.getByRole('alert').waitFor();
  });

  it('with a read-only token cannot press anything', async () => {
    const story = openStory(product, dir);
    const made = (await story.on('auth')('ada', 'token.add', { name: 'guest', scope: 'read' })) as { secret: string };
    await story.close();
    const page = await newPage();
    await page.goto(`${server.url}/login?token=${made.secret}`);
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
    await page.getByRole('button', { name: 'Answer: Q-1' }).waitFor();
    await page.getByRole('status').getByText('question Q-1').waitFor();
    await page.getByText('needs you').first().waitFor();
    expect(await page.title()).toMatch(/^\(\d+\) Holdfast$/);
  });

  it('says so when requests fail though the feed seems open, and retries', async () => {
    const page = await visit('#/run/search-index');
    await page.route('**/api/**', (route) => route.abort());
    await page.getByRole('link', { name: 'decisions' }).click();
    await page.getByText('No connection, trying again').waitFor();
    await page.getByText('This page retries automatically.').first().waitFor();
    await page.unroute('**/api/**');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('The server cannot be reached.').waitFor({ state: 'detached' });
  });

  it('reconnects after a restart of the server, and shows what it missed', async () => {
    // A token, since the sign-in link ends with its server.
    const story = openStory(product, dir);
    const made = (await story.on('auth')('ada', 'token.add', { name: 'reader', scope: 'read' })) as { secret: string };
    await story.close();
    const page = await newPage();
    await page.goto(`${server.url}/login?token=${made.secret}`);
    await go(page, '#/run/search-index');
    await page.getByText('Live', { exact: true }).waitFor();
    const port = Number(new URL(server.url).port);
    await server.stop();
    await page.getByText('No connection, trying again').waitFor();
    await command('raise', 'finding', 'The analyzer drops umlauts', '--run', 'search-index', '--agent', 'codex');
    server = await startServer(program, dir, secret, port);
    await page.getByText('Live', { exact: true }).waitFor();
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
    const story = openStory(product, dir);
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
    mkdirSync(join(dir, 'plans'), { recursive: true });
    const phases = Array.from({ length: 20 }, (_, phase) => [
      `# Phase ${phase}`,
      ...Array.from({ length: 24 }, (__, step) => `- [ ] Step ${phase}.${step}`),
    ]);
    writeFileSync(join(dir, 'plans', 'long.md'), phases.flat().join('\n'));
    await command('init', '--title', 'Long', '--id', 'long', '--plan', 'plans/long.md');
    const page = await visit('#/run/long');
    await page.getByText('Step 19.23').waitFor();
    expect(await page.locator('.plan .step').count()).toBe(500);
  });
});

it('logs no errors on any page', () => {
  expect(complaints).toEqual([]);
});
