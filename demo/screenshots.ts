import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openBrowser } from './browser.ts';
import { startServer } from './server.ts';
import { buildWorld, type Product } from './world.ts';

// Takes the pictures of docs/dashboard.md: `node scripts/run.mjs demo/screenshots.ts [FOLDER]`, after `npm run build`.
const folder = resolve(process.argv[2] ?? 'docs/images');
const views = ['overview', 'timeline', 'decisions', 'mail', 'tokens', 'snapshots', 'brief', 'log'];
const { openContext } = (await import(resolve('dist/lib/open.js'))) as Pick<Product, 'openContext'>;
const { operations } = (await import(resolve('dist/lib/operations/index.js'))) as Pick<Product, 'operations'>;
const dir = mkdtempSync(join(tmpdir(), 'holdfast-screenshots-'));
await buildWorld({ openContext, operations }, dir);
const server = await startServer(resolve('dist/bin/holdfast.cjs'), dir);
const browser = await openBrowser();
try {
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, locale: 'en-GB', viewport: { width: 1280, height: 1000 } });
    await page.goto(server.link);
    const take = async (name: string, hash: string): Promise<void> => {
      await page.goto(`${server.url}/${hash}`);
      await page.getByText('Live', { exact: true }).waitFor();
      await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
    };
    await take('runs', '#/');
    for (const view of views) await take(view, view === 'overview' ? '#/run/auth' : `#/run/auth/${view}`);
    await take('past', '#/run/auth?at=60');
    await page.setViewportSize({ width: 390, height: 844 });
    await take('phone', '#/run/auth');
    await page.close();
  }
} finally {
  await browser.close();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
