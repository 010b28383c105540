import { runHook } from '../hooks/hook.ts';

/** A program of its own: a hook is run with every use of a tool, and needs no command line. */
async function run(): Promise<void> {
  const { argv, env, ppid } = process;
  await runHook({ words: argv.slice(3), environment: env, cwd: process.cwd(), parent: ppid });
  process.exit(0);
}

run();
