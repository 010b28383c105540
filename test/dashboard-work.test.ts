import { execFileSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildScenes } from '../demo/scenes.ts';
import { openStory } from '../demo/world.ts';
import { type Dashboard, expectAccessible, hashOf, openDashboard, product, submit } from './dashboard-browser.ts';
import { hook, inputsOf } from './hook-player.ts';

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await openDashboard(buildScenes);
}, 120_000);

afterEach(() => dashboard.closePages());
afterAll(() => dashboard?.close());

const visit: Dashboard['visit'] = (...given) => dashboard.visit(...given);
const go: Dashboard['go'] = (...given) => dashboard.go(...given);
const ask: Dashboard['ask'] = (...given) => dashboard.ask(...given);

const CUT_OFF = '2026-11-18-a41f07';
const WORKING = '2026-11-18-76c215';
const FINISHED = '2026-11-18-0d93be';

const card = (page: Page, name: string | RegExp) => page.getByRole('region', { name });

describe('a run recorded by hooks alone', () => {
  it('is complete: requests, to-do list, files, commands with exit codes, the last message', async () => {
    const page = await visit(hashOf(CUT_OFF, 'overview'));
    await card(page, 'Requests').getByText('Make that test pass too').waitFor();
    const todos = card(page, /Claude’s to-do list/);
    await todos.getByRole('img', { name: 'done' }).first().waitFor();
    await todos.getByText('interrupted', { exact: true }).waitFor();
    await card(page, 'Changed files').getByText('+26').waitFor();
    const commands = card(page, 'Commands').getByRole('listitem');
    expect(await commands.first().textContent()).toMatch(/npm publish --tag patch.*outcome unknown/);
    expect(await commands.nth(1).textContent()).toMatch(/npm test.*exit 1/);
    await card(page, 'Last message').getByText('The parser splits at the plus sign.').waitFor();
    await page.getByText('start an agent in this folder and say').waitFor();
    const text = (await page.locator('main').textContent()) ?? '';
    expect(text).not.toMatch(/0 of 0|no plan yet/i);
    expect(await page.getByRole('progressbar').count()).toBe(0);
    await expectAccessible(page, 'a run recorded by hooks');
  });

  it('says what is committed, and nothing about what comes next once it is finished', async () => {
    const page = await visit(hashOf(FINISHED, 'overview'));
    await card(page, 'Changed files').getByText('committed', { exact: true }).waitFor();
    await page.locator('.run-facts .pill', { hasText: 'finished' }).waitFor();
    expect(await page.getByText('Next:').count()).toBe(0);
  });

  it('shows what the hooks of a real client report', { timeout: 120_000 }, async () => {
    const folder = { path: dashboard.dir, env: dashboard.environment() } as Parameters<typeof hook>[0];
    const ids = async () => ((await ask('runs', { all: true }, WORKING)) as unknown as { runs: { id: string }[] }).runs;
    // Else the work belongs to the run that `init` chose.
    await dashboard.command('use', '--clear');
    const before = new Set((await ids()).map(({ id }) => id));
    for (const { event, input } of inputsOf('claude', folder)) hook(folder, 'claude', event, input);
    const [made] = (await ids()).filter(({ id }) => !before.has(id));
    const page = await visit(hashOf(made?.id ?? '', 'overview'));
    await card(page, 'Requests').getByText('Let the login form remember the user.').waitFor();
    await card(page, /to-do list/).waitFor();
    await card(page, 'Changed files').getByText('login.ts').waitFor();
    await card(page, 'Commands').getByText('exit 3').waitFor();
    await card(page, 'Last message').locator('.said').waitFor();
  });
});

describe('states', () => {
  it('have the same word in the list, on the page, in the terminal and in every answer of the server', async () => {
    const { runs } = (await ask('board', { all: true, limit: 500 }, 'harbour')) as unknown as {
      runs: { id: string; standing: { label: string } }[];
    };
    const listed = (await ask('runs', { all: true }, 'harbour')) as unknown as {
      runs: { id: string; standing: { label: string } }[];
    };
    const said = execFileSync(process.execPath, ['dist/bin/holdfast.cjs', '--dir', dashboard.dir, 'runs', '--all'], {
      env: dashboard.environment(),
      encoding: 'utf8',
    });
    const page = await visit('#/');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    const shown = runs.filter(({ standing }) => standing.label !== 'archived');
    for (const { id, standing } of shown) {
      const pill = page.locator(`.run-row[href="#/run/${id}"] .pill`);
      if ((await pill.count()) > 0) expect(await pill.textContent(), id).toBe(standing.label);
      expect(listed.runs.find((one) => one.id === id)?.standing.label, id).toBe(standing.label);
      expect(
        said.split('\n').find((line) => line.includes(id)),
        id,
      ).toContain(standing.label);
    }
    for (const id of ['harbour', CUT_OFF, WORKING, 'hotfix', 'spring-clean', FINISHED]) {
      await go(page, hashOf(id, 'overview'));
      const { standing } = runs.find((one) => one.id === id) ?? { standing: { label: '' } };
      expect(await page.locator('.run-facts .pill').textContent(), id).toBe(standing.label);
    }
    const words = new Set(shown.map(({ standing }) => standing.label));
    expect([...words].sort()).toEqual(['cut off', 'finished', 'not started', 'open', 'working']);
  });

  it('call a step interrupted whose session is gone, in the plan and in its detail', async () => {
    const page = await visit('#/run/harbour');
    await page.locator('[data-step="p3.8"]').getByText('interrupted', { exact: true }).waitFor();
    await go(page, '#/run/harbour?step=p3.8');
    await page.locator('.detail-facts .pill', { hasText: 'interrupted' }).waitFor();
    await page.getByText('claude stopped after checkpoint "half"').waitFor();
  });
});

describe('what needs you', () => {
  it('is the same number in the title, the header, the list, the page and the runs', async () => {
    const { needs } = (await ask('needs', {}, 'harbour')) as unknown as { needs: { run: string }[] };
    const page = await visit('#/');
    await page.locator('.bell', { hasText: `${needs.length} need you` }).waitFor();
    expect(await page.title()).toBe(`(${needs.length}) Holdfast`);
    const tags = await page.locator('.run-row .tag-warn').allTextContents();
    expect(tags.reduce((sum, text) => sum + Number.parseInt(text, 10), 0)).toBe(needs.length);
    await page.keyboard.press('g');
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: 'Needs you', exact: true }).waitFor();
    expect(await page.locator('.need').count()).toBe(needs.length);
    await go(page, '#/run/harbour');
    const own = needs.filter(({ run }) => run === 'harbour').length;
    await page.getByRole('button', { name: new RegExp(`^${own} need you`) }).click();
    expect(await page.locator('.drawer .need').count()).toBe(own);
  });

  it('suggests no answer, and keeps what was typed when the form is closed', async () => {
    const page = await visit('#/run/harbour');
    await page.getByRole('button', { name: 'Record outcome: X-3' }).click();
    const box = page.locator('dialog.dialog');
    expect(await box.locator('input:checked').count()).toBe(0);
    const send = box.getByRole('button', { name: 'Record the outcome of X-3' });
    expect(await send.isDisabled()).toBe(true);
    await box.getByLabel('How you know').fill('The pier is');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Record outcome: X-3' }).click();
    expect(await box.getByLabel('How you know').inputValue()).toBe('The pier is');
    expect(await send.isDisabled()).toBe(true);
    await box.getByLabel('It did not happen').check();
    expect(await send.isDisabled()).toBe(false);
    await expectAccessible(page, 'the form of an outcome');
  });

  it('spells out only what cannot be undone, above the plan', async () => {
    const page = await visit('#/run/harbour', { viewport: { width: 1440, height: 900 } });
    await page.getByText('Irreversible, outcome unknown:').first().waitFor();
    expect(await page.getByText('Irreversible, outcome unknown:').count()).toBe(2);
    const rows = await page.locator('.plan .step').all();
    const boxes = await Promise.all(rows.map((row) => row.boundingBox()));
    expect(boxes.filter((one) => one && one.y + one.height <= 900).length).toBeGreaterThanOrEqual(10);
    await go(page, '#/run/harbour/mail');
    expect(await page.getByText('Irreversible, outcome unknown:').count()).toBe(0);
  });
});

describe('a step', () => {
  it('shows who works on it after two clicks, with its error, checkpoints, files, commands and sessions', async () => {
    const page = await visit('#/');
    await page.getByRole('link', { name: /Harbour planner/ }).click();
    await page.getByRole('link', { name: /p3.7 Benchmark/ }).click();
    const detail = page.getByRole('dialog');
    for (const words of ['The model server answers 503', 'measured', 'bench/tide.ts', 'npm run bench', 'exit 1', 'S-5'])
      await detail.getByText(words).first().waitFor();
    await detail.getByText('on build-2, not here').waitFor();
    await detail.getByRole('button', { name: 'Retry: p3.7' }).waitFor();
    await page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('step=');
  });

  it('is added, renamed and moved, and a refusal is shown beside its field', async () => {
    const page = await visit('#/run/spring-clean');
    await page.keyboard.press('a');
    for (const title of ['Remove dead flags', 'Split the config']) {
      await page.getByLabel('Title of the new step').fill(title);
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: new RegExp(title) }).waitFor();
    }
    await page.getByRole('link', { name: /t1 Remove dead flags/ }).click();
    await page.getByRole('button', { name: 'Edit the title of t1' }).click();
    await page.getByLabel('Title of t1').fill('Remove flags that nobody sets');
    await page.getByRole('button', { name: 'Save title' }).click();
    await page.getByRole('heading', { name: 'Remove flags that nobody sets' }).waitFor();
    await page.getByLabel('After', { exact: true }).fill('t9');
    await page.getByRole('button', { name: 'Save after' }).click();
    await page
      .locator('.edit-value', { has: page.getByLabel('After', { exact: true }) })
      .getByRole('alert')
      .waitFor();
    await page.getByLabel('After', { exact: true }).fill('t2');
    await page.getByRole('button', { name: 'Save after' }).click();
    await page.getByText('after t2').first().waitFor();
    // Ticked once the server has recorded it.
    await page.getByLabel('A person opens it before it starts').click();
    await page.getByText('gate closed').first().waitFor();
    const { steps } = (await ask('status', {}, 'spring-clean')) as unknown as { steps: unknown[] };
    expect(steps).toEqual([
      expect.objectContaining({ key: 't1', title: 'Remove flags that nobody sets', after: ['t2'] }),
      expect.objectContaining({ key: 't2', title: 'Split the config', label: 'ready' }),
    ]);
    await expectAccessible(page, 'a step');
  });

  it('is skipped with a reason only', async () => {
    const page = await visit('#/run/hotfix?step=h3');
    await page.getByRole('button', { name: 'Skip: h3' }).click();
    const skip = page.locator('dialog.dialog').getByRole('button', { name: 'Skip h3' });
    expect(await skip.isDisabled()).toBe(true);
    await submit(page, 'Skip h3', { Why: 'Shipped with the release.' });
    await page.locator('.detail-facts .pill', { hasText: 'skipped' }).waitFor();
  });
});

describe('finding things', () => {
  it('searches all runs from any page', async () => {
    const page = await visit('#/run/hotfix');
    await page.keyboard.press('/');
    await page.keyboard.type('tide');
    await page.getByRole('heading', { name: 'Results for' }).waitFor();
    const results = card(page, /^Results/);
    const step = results.getByRole('link', { name: /Benchmark the tide model/ });
    await step.waitFor();
    // Why it was found: the word in the text, and what it is.
    expect(await step.locator('mark').allTextContents()).toEqual(['tide']);
    expect(await step.locator('.tag').textContent()).toBe('step');
    await results.getByText('bench/tide.ts').waitFor();
    await results.getByText('Tide tables show the wrong day').first().waitFor();
    await results.getByRole('button', { name: 'Files' }).click();
    await step.waitFor({ state: 'detached' });
    await results.getByText('bench/tide.ts').waitFor();
    await results.getByRole('button', { name: 'Steps' }).click();
    await step.click();
    await page.getByRole('dialog').getByText('The model server answers 503').waitFor();
  });

  it('filters the plan and the activity', async () => {
    const page = await visit('#/run/harbour');
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    expect(await page.locator('.plan .step').count()).toBe(2);
    await page.getByRole('button', { name: 'Needs me' }).click();
    await page.locator('[data-step="p3.6"]').waitFor();
    await go(page, '#/run/harbour/activity');
    const rows = card(page, 'Activity').getByRole('listitem');
    await page.getByLabel('Failures only').check();
    await page.locator('.end', { hasText: 'exit 0' }).waitFor({ state: 'detached' });
    expect(await rows.allTextContents()).toEqual([
      expect.stringContaining('mailctl'),
      expect.stringContaining('berthctl'),
      expect.stringContaining('npm run bench'),
    ]);
    await page.getByLabel('Agent').selectOption('codex');
    await page.getByText('mailctl').waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(1);
    await page.getByLabel('Failures only').uncheck();
    await page.getByLabel('Agent').selectOption('');
    await page.getByLabel('Path contains').fill('src/');
    await page.getByText('src/tide.ts').waitFor();
    await page.getByText('npm run bench').waitFor({ state: 'detached' });
    expect(await rows.allTextContents()).toEqual([expect.stringMatching(/src\/tide\.ts.*changed since/)]);
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByText('step.failed').waitFor();
  });

  it('answers to keys, and copies the command that does the same', async () => {
    const page = await visit('#/', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Parts of this run' }).waitFor();
    const first = page.url();
    await page.keyboard.press(']');
    await expect.poll(() => page.url()).not.toBe(first);
    await page.keyboard.press('[');
    await expect.poll(() => page.url()).toBe(first);
    await page.keyboard.press('6');
    await expect.poll(() => page.url()).toContain('/tokens');
    await go(page, '#/needs');
    await page.keyboard.press('j');
    await page.keyboard.press('c');
    await page.getByText('Copied: holdfast').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^holdfast .* --run /);
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await expectAccessible(page, 'the keys');
  });
});

describe('time and tokens', () => {
  it('shows idle time as breaks, and bars that can be read and opened', async () => {
    const page = await visit('#/run/harbour/sessions');
    await page.locator('.gap').first().waitFor();
    const gaps = await page.locator('.gap').all();
    expect(gaps.length).toBeGreaterThanOrEqual(4);
    for (const gap of gaps) expect(await gap.getAttribute('width')).toBe('28');
    expect(await page.locator('.gap-words').allTextContents()).toContain('16 h');
    for (const bar of await page.locator('.timeline rect.bar').all())
      expect(Number(await bar.getAttribute('width'))).toBeGreaterThanOrEqual(24);
    const legend = await page.getByRole('list', { name: 'Legend' }).getByRole('listitem').allTextContents();
    expect(legend.sort()).toEqual(['cut off', 'done', 'failed']);
    await page.locator('.bar-link').last().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Roll out to the pilots').waitFor();
    await go(page, hashOf(CUT_OFF, 'sessions'));
    await page.locator('.timeline text', { hasText: 'Login answers 500' }).waitFor();
    expect(await page.locator('.gap').count()).toBe(0);
  });

  it('counts cached tokens once, by model, also in a language nothing can be formatted in', async () => {
    const story = openStory(product, dashboard.dir);
    const play = story.on('counted');
    await play('ada', 'init', { id: 'counted', title: 'Counted' });
    await play('codex', 'usage.add', { input: 1010, cached: 1000, output: 5, model: 'gpt-5.4-codex' });
    await story.close();
    const page = await dashboard.newPage();
    await page.addInitScript("Object.defineProperty(navigator, 'language', { get: () => 'en-US@posix' })");
    await page.goto(dashboard.server.link);
    await go(page, '#/run/counted/tokens');
    await page.locator('svg.tokens .series').waitFor();
    const row = await page.getByRole('row', { name: /codex/ }).getByRole('cell').allTextContents();
    expect(row).toEqual(['gpt-5.4-codex', '1,010', '1,000', '5']);
    await page.getByRole('list', { name: 'Totals' }).getByText('1,015').waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/USD|EUR|\$|cost/);
  });
});

describe('an empty workspace', () => {
  it('says what will appear and how', async () => {
    const bare = await openDashboard(async (given, dir) => {
      execFileSync('git', ['-C', dir, 'init', '-q']);
      const story = openStory(given, dir);
      await story.on('auth')('ada', 'init', { id: 'auth', title: 'Gone' });
      await story.on('auth')('ada', 'archive', { reason: 'Not needed' });
      await story.close();
    });
    try {
      const page = await bare.visit('#/');
      await page.getByText('No work recorded yet.').waitFor();
      await page.getByText('holdfast install claude').waitFor();
      await expectAccessible(page, 'no runs');
    } finally {
      await bare.close();
    }
  }, 60_000);
});

it('logs no errors on any page', () => {
  expect(dashboard.complaints).toEqual([]);
});
