import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const source = join(import.meta.dirname, '../..');

it('nothing outside this folder asks for the system, reads /proc or starts ps', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.ts$/.test(path) && !/\.(?:test|suite)\.ts$/.test(path) && !path.startsWith('workspace/platform/'),
  );
  expect(files.length).toBeGreaterThan(400);
  const asking = files.flatMap((path) => {
    // Comments may name it.
    const code = readFileSync(join(source, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    return /process\.platform|\bplatform\b[^;]*\} = process\b|['"`]\/proc\b|['"`](?:\/bin\/)?ps['"`]/.test(code)
      ? [path]
      : [];
  });
  expect(asking).toEqual([]);
});
