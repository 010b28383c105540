import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const FOLDERS = ['src', 'web', 'test', 'bench', 'demo', 'scripts', 'docs', 'skills', 'plugins'];

describe('documents', () => {
  const pages = readdirSync('.').concat(
    readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((page) => join('docs', page)),
  );
  const names = new Set(
    FOLDERS.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' })).map((path) =>
      basename(path),
    ),
  );

  it.each(pages.filter((page) => page.endsWith('.md')))('%s names only files that exist', (page) => {
    const text = readFileSync(page, 'utf8');
    const links = [...text.matchAll(/\]\((?![a-z]+:)([^)#\s]+)/g)].map(([, link = '']) => join(dirname(page), link));
    const paths = [...text.matchAll(/`([a-z]+\/[\w./-]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => FOLDERS.includes(path.split('/')[0] ?? '') && !/\b(NAME|TOPIC)\b|^docs\/maestro/.test(path));
    const files = [...text.matchAll(/`([\w-]+\.(?:ts|tsx|mjs|c))`/g)].map(([, name = '']) => name);
    expect([...links, ...paths].filter((path) => !existsSync(path))).toEqual([]);
    expect(files.filter((name) => !names.has(name))).toEqual([]);
  });
});
