import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].concat([
  'src',
  'web',
  'docs',
  'skills',
  'bench',
  'demo',
  'test/long',
]);

/** Words that made the project read like a translation, each with what to write instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  anew: 'again, rebuild, rewrite',
  sitting: 'session',
  whoever: 'the thing that is meant: the next session, the receiver',
  somebody: 'someone, or the thing that is meant',
  'puts away': 'archives',
  'is told': 'gets, is notified, is reported',
};

/** Where one of the words has to stay: the text of a line, and why. */
const ALLOWED: readonly { text: string; because: string }[] = [
  { text: 'is told apart', because: 'the usual phrase for distinguishing two things' },
];

const UNWANTED = new RegExp(`\\b(${Object.keys(INSTEAD).join('|').replaceAll(' ', '[\\s/*]+')})\\b`, 'gi');

describe('the words of code and documents', () => {
  it('are plain English', () => {
    expect(ROOTS.flatMap(filesIn).flatMap((file) => unwantedIn(file, readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('are found wherever they are, also across a line end', () => {
    expect(unwantedIn('a.ts', '// Made anew.\n/** Whoever comes is\n * told. */')).toEqual([
      'a.ts:1: "anew", write: again, rebuild, rewrite',
      'a.ts:2: "Whoever", write: the thing that is meant: the next session, the receiver',
      'a.ts:2: "is told", write: gets, is notified, is reported',
    ]);
    expect(unwantedIn('a.ts', 'A copy is told apart by its name, besides: transitting.')).toEqual([]);
  });
});

function unwantedIn(file: string, text: string): string[] {
  return [...text.matchAll(UNWANTED)].flatMap(({ 0: found, index }) => {
    const word = oneSpace(found);
    const from = oneSpace(text.slice(index, index + 80));
    if (ALLOWED.some((allowed) => from.startsWith(allowed.text))) return [];
    const line = text.slice(0, index).split('\n').length;
    return [`${file}:${line}: "${word}", write: ${INSTEAD[word.toLowerCase()]}`];
  });
}

/** A phrase may continue in the next line of a comment. */
function oneSpace(text: string): string {
  return text.replace(/[\s/*]+/g, ' ');
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs|js|css|html|md|c)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
