import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../demo/browser.ts';
import { type Server, startServer } from '../demo/server.ts';
import { type Product, tokenOfAda } from '../demo/world.ts';
import { buildJournal } from './history.ts';

/*
 * How long the page of a run with 60 steps and 100,000 events takes to show its plan, for several builds in turn:
 * `node scripts/run.mjs bench/first-paint.ts FOLDER…`, each the folder of a built package. Prints the median of each.
 */
const packages = process.argv.slice(2);
const EVENTS = 100_000;
const ROUNDS = 9;

const base = mkdtempSync(join(tmpdir(), 'holdfast-paint-'));
process.env['HOLDFAST_STATE_HOME'] = join(base, 'state');
const browser = await openBrowser();
const servers: Server[] = [];
try {
  for (const [index, folder] of packages.entries()) servers.push(await serve(folder, join(base, String(index))));
  const times = servers.map((): number[] => []);
  // The first round fills caches and counts for nobody.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, server] of servers.entries()) {
      const ms = await paint(browser, server);
      if (round > 0) times[index]?.push(ms);
    }
  }
  for (const [index, folder] of packages.entries()) {
    const sorted = (times[index] ?? []).sort((a, b) => a - b);
    console.log(`${folder}: median ${Math.round(sorted[ROUNDS >> 1] ?? 0)} ms, ${sorted.map(Math.round).join(' ')}`);
  }
} finally {
  await browser.close();
  for (const server of servers) await server.stop();
  rmSync(base, { recursive: true, force: true });
}

/** Each build has a journal of its own: another one may keep derived data in another form. */
async function serve(folder: string, dir: string): Promise<Server> {
  mkdirSync(dir);
  execFileSync('git', ['-C', dir, 'init', '-q']);
  await buildJournal(dir, EVENTS);
  const lib = resolve(folder, 'dist/lib/operations');
  const { openContext } = (await import(join(lib, 'open.js'))) as Pick<Product, 'openContext'>;
  const { operations } = (await import(join(lib, 'index.js'))) as Pick<Product, 'operations'>;
  const secret = await tokenOfAda({ openContext, operations }, dir);
  return startServer(resolve(folder, 'dist/bin/holdfast.cjs'), dir, secret);
}

async function paint(from: Browser, server: Server): Promise<number> {
  const context = await from.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(server.link);
  await page.goto('about:blank');
  const start = performance.now();
  await page.goto(`${server.url}/#/run/bench`);
  await page.locator('.plan .step').first().waitFor({ timeout: 240_000 });
  const ms = performance.now() - start;
  await context.close();
  return ms;
}
