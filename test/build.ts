import { spawnSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';

/** Tests run the code as it is on disk: what is out of date in `dist/` is built first, and again when a watched test reruns. */
export function setup(project: TestProject): void {
  build();
  project.onTestsRerun(async () => build());
}

function build(): void {
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs', '--changed'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed, so the tests would run old code. See `npm run build`.');
}
