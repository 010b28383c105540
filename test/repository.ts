import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An empty repository, as git would make it, without starting git. */
export function makeRepository(path: string): void {
  for (const name of ['objects', 'refs/heads']) mkdirSync(join(path, '.git', name), { recursive: true });
  writeFileSync(join(path, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(path, '.git/config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
}
