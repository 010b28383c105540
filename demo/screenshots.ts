import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openBrowser } from './browser.ts';
import { startServer } from './server.ts';
import { buildWorld, type Product, tokenOfAda } from './world.ts';

// Takes the pictures of docs/dashboard.md: `node scripts/run.mjs demo/screenshots.ts [FOLDER]`, after `npm run build`.
const folder = resolve(process.argv[2] ?? 'docs/images');
const pictures: readonly Picture[] = [
  // In the README.
  { name: 'run', hash: '#/run/auth', colorScheme: 'light', width: 1440, height: 900, isBare: true },
  { name: 'runs', hash: '#/', colorScheme: 'light', height: 820 },
  { name: 'overview', hash: '#/run/auth', colorScheme: 'light', height: 1200 },
  { name: 'timeline', hash: '#/run/auth/timeline', colorScheme: 'dark' },
  { name: 'tokens', hash: '#/run/auth/tokens', colorScheme: 'light', height: 860 },
  { name: 'brief', hash: '#/run/auth/brief', colorScheme: 'light' },
  { name: 'phone', hash: '#/run/auth', colorScheme: 'dark', width: 390, height: 844 },
];
const { openContext } = (await import(resolve('dist/lib/operations/open.js'))) as Pick<Product, 'openContext'>;
const { operations } = (await import(resolve('dist/lib/operations/index.js'))) as Pick<Product, 'operations'>;
const dir = mkdtempSync(join(tmpdir(), 'holdfast-screenshots-'));
const product = { openContext, operations };
await buildWorld(product, dir);
const server = await startServer(resolve('dist/bin/holdfast.cjs'), dir, await tokenOfAda(product, dir));
const browser = await openBrowser();
try {
  mkdirSync(folder, { recursive: true });
  for (const { name, hash, colorScheme, width = 1280, height = 1000, isBare = false } of pictures) {
    const context = await browser.newContext({ colorScheme, locale: 'en-GB', viewport: { width, height } });
    const page = await context.newPage();
    await page.goto(server.link);
    await page.goto(`${server.url}/${hash}`);
    await page.getByText('Live', { exact: true }).waitFor();
    // Conflicts load last, because the files are checked for them.
    if (hash !== '#/')
      await page
        .getByText(/conflict/i)
        .first()
        .waitFor();
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    await page.screenshot({ path: join(folder, isBare ? `${name}.png` : `${name}-${colorScheme}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}

interface Picture {
  name: string;
  hash: string;
  colorScheme: 'light' | 'dark';
  width?: number;
  height?: number;
  /** The name of the file says nothing of its colours. */
  isBare?: boolean;
}
