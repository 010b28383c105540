import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from './browser.ts';
import { buildScenes } from './scenes.ts';
import { type Server, startServer } from './server.ts';
import { openStory, type Product, tokenOfAda } from './world.ts';

/*
 * Takes the pictures of the dashboard that are looked at before a release: each at 1440 by 900 in light and dark, and on a
 * phone. `node scripts/run.mjs demo/pictures.ts FOLDER [NAME…]`, after `npm run build`. With `--docs` those of the README (`run`) and of
 * docs/dashboard.md, into docs/images. With `--axe` each page is also checked for accessibility, on a phone in dark too; violations
 * are printed, and the exit code is 1.
 */
const words = process.argv.slice(2);
const isDocs = words.includes('--docs');
const isChecked = words.includes('--axe');
const [given = isDocs ? 'docs/images' : 'pictures', ...names] = words.filter((word) => !word.startsWith('--'));
const folder = resolve(given);

interface Scene {
  name: string;
  hash: string;
  /** Of another workspace, in which nothing is recorded. */
  isEmpty?: boolean;
  isSignedOut?: boolean;
  language?: string;
  prepare?(page: Page): Promise<unknown>;
}

const press = (key: string) => (page: Page) => page.keyboard.press(key);
const click = (name: RegExp | string) => (page: Page) => page.getByRole('button', { name }).first().click();

const scenes: readonly Scene[] = [
  { name: 'hooks-working', hash: '#/run/2026-11-18-76c215' },
  { name: 'hooks-cut-off', hash: '#/run/2026-11-18-a41f07' },
  { name: 'hooks-finished', hash: '#/run/2026-11-18-0d93be' },
  { name: 'run', hash: '#/run/harbour' },
  { name: 'run-empty', hash: '#/run/spring-clean' },
  { name: 'needs', hash: '#/needs' },
  { name: 'needs-drawer', hash: '#/run/harbour', prepare: click(/need you|all \d/) },
  { name: 'outcome', hash: '#/run/harbour', prepare: click(/^Record outcome/) },
  { name: 'step-failed', hash: '#/run/harbour?step=p3.7' },
  { name: 'step-interrupted', hash: '#/run/harbour?step=p3.8' },
  { name: 'runs', hash: '#/' },
  { name: 'runs-all', hash: '#/', prepare: click('All') },
  { name: 'runs-archived', hash: '#/', prepare: click('Archived') },
  { name: 'runs-none', hash: '#/', isEmpty: true },
  { name: 'timeline', hash: '#/run/harbour/sessions' },
  { name: 'timeline-short', hash: '#/run/hotfix/sessions' },
  { name: 'timeline-hooks', hash: '#/run/2026-11-18-a41f07/sessions' },
  { name: 'tokens', hash: '#/run/harbour/tokens' },
  { name: 'tokens-posix', hash: '#/run/harbour/tokens', language: 'en-US@posix' },
  { name: 'hosts', hash: '#/run/harbour/activity' },
  { name: 'history', hash: '#/run/harbour?at=120' },
  { name: 'search', hash: '#/search?q=tide' },
  { name: 'decisions', hash: '#/run/harbour/decisions' },
  { name: 'mail', hash: '#/run/harbour/mail' },
  { name: 'brief', hash: '#/run/harbour/brief' },
  { name: 'keys', hash: '#/run/harbour', prepare: press('?') },
  { name: 'sign-in', hash: '#/', isSignedOut: true },
  { name: 'unknown-run', hash: '#/run/harbor' },
  {
    name: 'connection-lost',
    hash: '#/run/harbour',
    prepare: async (page) => {
      await page.route('**/api/**', (route) => route.abort());
      await page.keyboard.press('4');
      await page.getByText('No connection to the server').waitFor();
    },
  },
  { name: 'title-long', hash: '#/run/long-title' },
  { name: 'title-right-to-left', hash: '#/run/right-to-left' },
  { name: 'title-emoji', hash: '#/run/emoji' },
];

const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
type Look = readonly [suffix: string, options: BrowserContextOptions];
const light: Look = ['-light', { viewport: desktop, colorScheme: 'light' }];
const dark: Look = ['-dark', { viewport: desktop, colorScheme: 'dark' }];
const small: Look = ['-phone', { viewport: phone, colorScheme: 'light', hasTouch: true }];
const smallDark: Look = ['-phone-dark', { viewport: phone, colorScheme: 'dark', hasTouch: true }];
const bareLook = ([, options]: Look): Look => ['', options];
const inDocs: Readonly<Record<string, Look>> = {
  run: bareLook(light),
  runs: bareLook(light),
  'hooks-cut-off': bareLook(light),
  'step-failed': bareLook(light),
  timeline: bareLook(dark),
};
const isWanted = ({ name }: Scene): boolean => (isDocs ? name in inDocs : names.length === 0 || names.includes(name));
const looksOf = ({ name }: Scene): readonly Look[] =>
  isDocs ? [inDocs[name] ?? light] : [light, dark, small, ...(isChecked ? [smallDark] : [])];

const { openContext } = (await import(resolve('dist/lib/operations/open.js'))) as Pick<Product, 'openContext'>;
const { operations } = (await import(resolve('dist/lib/operations/index.js'))) as Pick<Product, 'operations'>;
const product: Product = { openContext, operations };
const program = resolve('dist/bin/holdfast.cjs');
const dir = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'));
const bare = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'));
const state = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'));
process.env['HOLDFAST_STATE_HOME'] = state;
await buildScenes(product, dir);
const full = await startServer(program, dir, await tokenOfAda(product, dir));
const none = await startServer(program, bare, await bareToken());
const browser = await openBrowser();
try {
  mkdirSync(folder, { recursive: true });
  for (const scene of scenes.filter(isWanted))
    for (const [suffix, options] of looksOf(scene)) await take(scene, suffix, options);
} finally {
  await browser.close();
  await full.stop();
  await none.stop();
  for (const path of [dir, bare, state]) rmSync(path, { recursive: true, force: true });
}

async function bareToken(): Promise<string> {
  execFileSync('git', ['-C', bare, 'init', '-q']);
  const story = openStory(product, bare);
  // A token belongs to a workspace, which begins with its first run; an archived one is not shown.
  await story.on('first')('ada', 'init', { id: 'first', title: 'First' });
  const made = (await story.on('first')('ada', 'token.add', { name: 'ada', scope: 'maintain' })) as { secret: string };
  await story.on('first')('ada', 'abort', { reason: 'Only for the picture' });
  await story.on('first')('ada', 'archive', {});
  await story.close();
  return made.secret;
}

async function take(scene: Scene, suffix: string, options: BrowserContextOptions): Promise<void> {
  const server: Server = scene.isEmpty ? none : full;
  const context = await browser.newContext({ ...options, locale: 'en-GB' });
  const page = await context.newPage();
  const { language } = scene;
  if (language) {
    await page.addInitScript(
      `Object.defineProperty(navigator, 'language', { get: () => ${JSON.stringify(language)} })`,
    );
  }
  await page.goto(scene.isSignedOut ? server.url : server.link);
  await page.goto(`${server.url}/${scene.hash}`);
  await page.locator('main').waitFor();
  await page.waitForLoadState('networkidle').catch(() => undefined);
  if (!scene.isSignedOut) await page.locator('.connection-live').waitFor();
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
  await scene.prepare?.(page);
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready');
  if (isChecked) await check(page, `${scene.name}${suffix}`);
  await page.screenshot({ path: join(folder, `${scene.name}${suffix}.png`) });
  await context.close();
}

async function check(page: Page, name: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .analyze();
  for (const { id, nodes } of violations) {
    process.exitCode = 1;
    console.log(`${name}: ${id}\n${nodes.map(({ html }) => `  ${html}`).join('\n')}`);
  }
}
