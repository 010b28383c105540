import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    sharedFolder: string;
  }
}

/** One folder for the whole test run, with what tests of several files start with. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-shared-'));
  project.provide('sharedFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}
