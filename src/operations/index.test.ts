import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** The list as it is written: to load every operation would take longer than all tests beside it. */
const listed = [
  ...readFileSync(`${folder}index.ts`, 'utf8').matchAll(/^ {2}'?([\w.]+)'?: \(\) => import\('\.\/(.+)'\)/gm),
];

describe('the list of operations', () => {
  it('has every file directly inside a topic folder, and nothing from elsewhere', () => {
    const topics = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const files = topics.flatMap(({ name: topic }) =>
      readdirSync(`${folder}${topic}`)
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
        .map((name) => `${topic}/${name}`),
    );
    expect(files.length).toBeGreaterThan(50);
    expect(listed.map(([, , path]) => path).sort()).toEqual(files.sort());
  });

  it('calls every operation by its own name', () => {
    for (const [, name, path] of listed) {
      const names = [...readFileSync(`${folder}${path}`, 'utf8').matchAll(/^ {2}name: '([\w.]+)',$/gm)];
      expect([path, names.map((found) => found[1])]).toEqual([path, [name]]);
    }
  });
});
