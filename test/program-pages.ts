import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Writes a program of a page of the documentation into a folder that has the package and these others installed. */
export function installExample(folder: string, page: string, name: string, packages: readonly string[]): string {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  const blocks = [...text.matchAll(/^```js\n(\/\/ (\S+)\n[\s\S]*?)^```$/gm)];
  const block = blocks.find(([, , file]) => file === name);
  if (!block) throw new Error(`docs/${page} has no program ${name}.`);
  for (const one of ['holdfast', ...packages]) {
    const link = join(folder, 'node_modules', one);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(one === 'holdfast' ? root : join(root, 'node_modules', one), link);
  }
  const file = join(folder, name);
  writeFileSync(file, block[1] ?? '');
  return file;
}
