import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Tests may be run by an agent; what its shell says about it must not make the code under test take sides.
for (const name of Object.keys(process.env)) {
  if (/^(HOLDFAST|CLAUDE|ANTHROPIC|CODEX|GEMINI|QWEN|COPILOT|CURSOR|OPENCODE|AI_AGENT|PG)/.test(name))
    delete process.env[name];
}

export default defineConfig({
  test: {
    globalSetup: ['test/build.ts', 'test/postgres.ts', 'test/shared-folder.ts'],
    // Most tests wait for processes: a small machine has a worker for each of its cores, not one less.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      // Parts keep nothing between two tests that could matter, and loading them anew for each file takes a third of the time.
      { test: { name: 'parts', include: ['src/**/*.test.ts'], isolate: false, testTimeout: 30_000 } },
      { test: { name: 'whole', include: ['test/**/*.test.ts'], testTimeout: 30_000 } },
    ],
  },
});
