import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Meant for small machines without people: one process for all pages, and none of the rules that protect readers. */
const unwanted = new Set(['--single-process', '--disable-web-security', '--allow-running-insecure-content']);

/** A real browser that npm alone brings. */
export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args.filter((word) => !unwanted.has(word)), '--no-sandbox'],
    headless: true,
  });
}
