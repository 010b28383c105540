import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openBrowser } from '../demo/browser.ts';
import { type Server, startServer } from '../demo/server.ts';
import { openStory, type Product, tokenOfAda } from '../demo/world.ts';
import { program } from './command-line.ts';

// As they are built: this is what users run.
const { openContext } = (await import('../dist/lib/operations/open.js' as string)) as Pick<Product, 'openContext'>;
const { operations } = (await import('../dist/lib/operations/index.js' as string)) as Pick<Product, 'operations'>;
export const product: Product = { openContext, operations };

/** The parts of a run, in the order of their tabs. */
export const views = ['overview', 'activity', 'sessions', 'decisions', 'mail', 'tokens', 'brief'] as const;

export const hashOf = (run: string, view: string): string => `#/run/${run}${view === 'overview' ? '' : `/${view}`}`;

export interface Dashboard {
  dir: string;
  /** Of a maintainer's token. */
  secret: string;
  server: Server;
  /** Errors that pages logged: violations of their security policy, and exceptions. */
  complaints: string[];
  newPage(options?: BrowserContextOptions & { width?: number }): Promise<Page>;
  /** Signs in with the link and opens a page of the dashboard. */
  visit(hash?: string, options?: Parameters<Dashboard['newPage']>[0]): Promise<Page>;
  go(page: Page, hash: string): Promise<void>;
  /** A command of another process on the same workspace. */
  command(...words: string[]): Promise<void>;
  ask(
    operation: keyof Product['operations'],
    input: Record<string, unknown>,
    run: string,
  ): Promise<Record<string, never>>;
  environment(): Record<string, string>;
  restart(port: number): Promise<void>;
  closePages(): Promise<void>;
  close(): Promise<void>;
}

/** A workspace, its server as a process, and a real browser. */
export async function openDashboard(build: (product: Product, dir: string) => Promise<void>): Promise<Dashboard> {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-dashboard-'));
  await build(product, dir);
  const secret = await tokenOfAda(product, dir);
  const opened: BrowserContext[] = [];
  const [server, browser]: [Server, Browser] = await Promise.all([startServer(program, dir, secret), openBrowser()]);
  /** The same state folder as the server's: tokens are there. */
  const environment = () => ({
    PATH: process.env['PATH'] ?? '',
    HOME: dir,
    HOLDFAST_STATE_HOME: process.env['HOLDFAST_STATE_HOME'] ?? '',
  });
  const dashboard: Dashboard = {
    dir,
    secret,
    server,
    complaints: [],
    environment,
    async newPage({ width = 1280, ...options } = {}) {
      const viewport = { width, height: 900 };
      const context = await browser.newContext({ locale: 'en-GB', viewport, ...options });
      opened.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      page.on('pageerror', (error) => dashboard.complaints.push(String(error.stack ?? error)));
      page.on('console', (message) => {
        if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text()))
          dashboard.complaints.push(message.text());
      });
      return page;
    },
    async visit(hash = '#/', options = {}) {
      const page = await dashboard.newPage(options);
      await page.goto(dashboard.server.link);
      await dashboard.go(page, hash);
      return page;
    },
    async go(page, hash) {
      await page.goto(`${dashboard.server.url}/${hash}`);
      await page.locator('.connection-live').waitFor();
      await page.locator('main h1').first().waitFor();
      await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    },
    async command(...words) {
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
    },
    async ask(operation, input, run) {
      const story = openStory(product, dir);
      try {
        return (await story.on(run)('ada', operation, input)) as Record<string, never>;
      } finally {
        await story.close();
      }
    },
    async restart(port) {
      dashboard.server = await startServer(program, dir, secret, port);
    },
    async closePages() {
      for (const context of opened.splice(0)) await context.close();
    },
    async close() {
      await browser.close();
      await dashboard.server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return dashboard;
}

/** Fills the form that is open and sends it. */
export async function submit(
  page: Page,
  name: string,
  fill: Record<string, string> = {},
  choice?: string,
): Promise<void> {
  const box = page.locator('dialog.dialog[open]');
  for (const [label, text] of Object.entries(fill)) await box.getByLabel(label).fill(text);
  if (choice) await box.getByLabel(choice).check();
  await box.getByRole('button', { name, exact: true }).click();
  await box.waitFor({ state: 'hidden' });
}

/** Axe finds nothing, in light, and in dark on a phone, where only colours and sizes differ. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  const found: string[] = [];
  const wide = page.viewportSize() ?? { width: 1280, height: 900 };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    if (colorScheme === 'dark') await page.setViewportSize({ width: 390, height: 844 });
    // Violations only: describing what passes takes longer than the check.
    const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
    const small = ['color-contrast', 'scrollable-region-focusable'];
    const { violations } = await (colorScheme === 'dark' ? axe.withRules(small) : axe).analyze();
    found.push(
      ...violations.map(
        ({ id, nodes }) => `${where}, ${colorScheme}, ${id}: ${nodes.map(({ html }) => html).join('\n')}`,
      ),
    );
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(wide);
  expect(found).toEqual([]);
}
