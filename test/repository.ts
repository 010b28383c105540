import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An empty repository, as git would make it, without starting git. */
export function makeRepository(path: string): void {
  for (const name of ['objects', 'refs/heads']) mkdirSync(join(path, '.git', name), { recursive: true });
  writeFileSync(join(path, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(path, '.git/config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
}

/** Lets a copied data folder pass for one that was always there: the runs of a copy are marked. */
export function takeForOwn({ path, own }: { path: string; own(name: string): string }): void {
  if (!existsSync(own('clone.json'))) return;
  const places = [{ path: join(path, '.git'), inode: statSync(join(path, '.git')).ino }];
  const clone = JSON.parse(readFileSync(own('clone.json'), 'utf8')) as object;
  writeFileSync(own('clone.json'), JSON.stringify({ ...clone, places }));
}
