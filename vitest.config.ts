import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// An agent may run the tests; the variables of its shell must not influence the code under test.
for (const name of Object.keys(process.env)) {
  if (/^(HOLDFAST|CLAUDE|ANTHROPIC|CODEX|GEMINI|QWEN|COPILOT|CURSOR|OPENCODE|AI_AGENT|PG)/.test(name))
    delete process.env[name];
}

// The library finds the state folder by the environment; tests never use the user's own.
const stateHome = join(tmpdir(), `holdfast-tests-${process.pid}.state`);

/** Short pages whose tests take long. Vitest begins with the largest file, so they would run last and alone. */
const LONG = ['links', 'fault-crashes', 'faults', 'inbox-clients', 'contract', 'package', 'concurrency', 'recovery'];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    env: { HOLDFAST_STATE_HOME: stateHome },
    sequence: { sequencer: LongFirst },
    globalSetup: ['test/build.ts', 'test/postgres.ts', 'test/shared-folder.ts'],
    // Most tests wait for processes and the disk: with a worker per core, two cores are idle a sixth of the time.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      // Unit tests share no state, and loading the modules again for each file would take a third of the time.
      { test: { name: 'parts', include: ['src/**/*.test.ts'], isolate: false, testTimeout: 30_000 } },
      { test: { name: 'whole', include: ['test/**/*.test.ts'], testTimeout: 30_000 } },
    ],
  },
});
