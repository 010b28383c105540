import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** LangGraph's validation of checkpointers, all of it, on memory, SQLite and PostgreSQL. */
export function main(): number {
  const vitest = fileURLToPath(import.meta.resolve('vitest/vitest.mjs'));
  const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/langgraph.test.ts'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, LANGGRAPH_SUITE: 'whole' },
    stdio: 'inherit',
  });
  return status ?? 1;
}
