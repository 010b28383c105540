import { fstatSync } from 'node:fs';
import { main } from './cli/main.ts';

/** Put in by the bundler. */
declare const HOLDFAST_VERSION: string;

async function isTerminal(): Promise<boolean> {
  // Loading the terminal module costs a tenth of the whole start; a pipe or a file is told without it.
  if (!fstatSync(1).isCharacterDevice()) return false;
  const { isatty } = await import('node:tty');
  return isatty(1);
}

async function run(): Promise<void> {
  process.exitCode = await main({
    argv: process.argv.slice(2),
    environment: process.env,
    cwd: process.cwd(),
    isTerminal: await isTerminal(),
    version: HOLDFAST_VERSION,
  });
}

run();
