import { constants, fstatSync } from 'node:fs';
import { main } from '../cli/main.ts';
import { takeReports } from '../hooks/take-reports.ts';
import { commands } from './interfaces.ts';

/** `/dev/null` on Linux. */
const NULL_DEVICE = 0x103;

/** Defined by the bundler. */
declare const HOLDFAST_VERSION: string;

async function isTerminal(stream: number): Promise<boolean> {
  // Loading the terminal module takes a tenth of the start; a pipe, a file or the null device is recognised without it.
  const { mode, rdev } = fstatSync(stream);
  if ((mode & constants.S_IFMT) !== constants.S_IFCHR || rdev === NULL_DEVICE) return false;
  const { isatty } = await import('node:tty');
  return isatty(stream);
}

const HOOK_AT_TERMINAL = `\`holdfast hook\` is what clients call: it reads their report from standard input and always ends with 0.
  Set a client up with \`holdfast install claude\`; \`holdfast doctor\` says whether its hooks report.
`;

async function run(): Promise<void> {
  const [word, ...words] = process.argv.slice(2);
  if (word === 'hook' && !words.includes('--help') && !words.includes('-h')) {
    if (await isTerminal(0)) {
      process.stderr.write(HOOK_AT_TERMINAL);
      process.exit(0);
    }
    const { runHook } = await import('../hooks/hook.ts');
    await runHook({ words, environment: process.env, cwd: process.cwd(), parent: process.ppid });
    process.exit(0);
  }
  const code = await main({
    argv: process.argv.slice(2),
    environment: process.env,
    cwd: process.cwd(),
    isTerminal: await isTerminal(1),
    isAttended: (await isTerminal(0)) && (await isTerminal(2)),
    parent: process.ppid,
    version: HOLDFAST_VERSION,
    commands,
    takeReports,
  });
  // Everything is written and closed: exit without waiting for background work.
  process.exit(code);
}

run();
