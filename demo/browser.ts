import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/** The package sets these for serverless machines; here they would weaken the test. */
const unwanted = new Set(['--single-process', '--disable-web-security', '--allow-running-insecure-content']);

/** A real browser that comes from npm alone. */
export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args.filter((word) => !unwanted.has(word)), '--no-sandbox'],
    headless: true,
  });
}
