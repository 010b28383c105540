import { runHook } from '../hooks/hook.ts';

/** A separate program: hooks run with every tool call and need no command line. */
async function run(): Promise<void> {
  const { argv, env, ppid } = process;
  await runHook({ words: argv.slice(3), environment: env, cwd: process.cwd(), parent: ppid });
  process.exit(0);
}

run();
