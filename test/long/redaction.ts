import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { redact } from '../../src/core/redact/redact.ts';
import { commandForms, type Form, knownKinds, measureRecall, proseForms } from '../../src/core/redact/secrets.suite.ts';

/**
 * Prints the tables of docs/redaction.md: how many synthetic secrets are found, and how many lines of ordinary files are
 * changed. `npm run test:long redaction [show] [FOLDER…]`; `show` prints each changed line, folders are read instead of
 * the project and its packages.
 */
export function main(words: string[]): number {
  const isShown = words[0] === 'show';
  const folders = isShown ? words.slice(1) : words;
  const isEnough = printRecall();
  console.log('\n| lines of | files | lines | changed | by kind |');
  console.log('| --- | --- | --- | --- | --- |');
  const corpora = folders.length > 0 ? folders.map((folder) => ({ name: folder, folder })) : OWN;
  for (const corpus of corpora) printChanges(corpus, isShown);
  return isEnough ? 0 : 1;
}

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const EACH = 40;

function printRecall(): boolean {
  const tables: [name: string, forms: Readonly<Record<string, Form>>, least: number][] = [
    ['known kinds, in commands', knownKinds, 1],
    ['further forms of commands', commandForms, 0.95],
    ['prose, settings, code, output', proseForms, 0.85],
  ];
  console.log('| secrets | forms | values | found | missed |');
  console.log('| --- | --- | --- | --- | --- |');
  const enough = tables.map(([name, forms, least]) => {
    const missed: Record<string, number> = {};
    let found = 0;
    let tried = 0;
    for (const seed of SEEDS) {
      const recall = measureRecall(forms, (text) => redact(text).text, { seed, each: EACH });
      found += recall.found;
      tried += recall.tried;
      for (const [form, count] of Object.entries(recall.missed)) missed[form] = (missed[form] ?? 0) + count;
    }
    const list = Object.entries(missed).map(([form, count]) => `${form} ${count}`);
    const share = ((100 * found) / tried).toFixed(2);
    console.log(`| ${name} | ${Object.keys(forms).length} | ${tried} | ${share} % | ${list.join(', ') || 'none'} |`);
    return found / tried >= least;
  });
  return enough.every(Boolean);
}

interface Corpus {
  name: string;
  folder: string;
  limitFiles?: number;
  names?: RegExp;
}

const TEXT_FILES = /\.(?:md|json|jsonl|txt|ya?ml|[cm]?[jt]s|sh|toml)$/;
const OWN: readonly Corpus[] = [
  { name: 'source without tests', folder: 'src', names: /(?<!\.(?:test|suite))\.ts$/ },
  { name: 'documentation', folder: 'docs', names: /\.md$/ },
  { name: 'packages', folder: 'node_modules', limitFiles: 6000 },
];

function printChanges(
  { name, folder, limitFiles = Number.POSITIVE_INFINITY, names = TEXT_FILES }: Corpus,
  isShown: boolean,
) {
  const counts = { files: 0, lines: 0, changed: 0 };
  const kinds = new Map<string, number>();
  for (const file of filesIn(folder, names)) {
    if (counts.files >= limitFiles) break;
    counts.files++;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (line.length > 200_000) continue;
      counts.lines++;
      const result = redact(line);
      if (result.kinds.length === 0) continue;
      counts.changed++;
      for (const kind of result.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      if (isShown) console.error(`${result.kinds.join(', ')}: ${file}: ${changedPart(line, result.text)}`);
    }
  }
  const list = [...kinds].map(([kind, count]) => `${kind} ${count}`).join(', ');
  console.log(`| ${name} | ${counts.files} | ${counts.lines} | ${counts.changed} | ${list || '–'} |`);
}

/** The line around its first difference. */
function changedPart(line: string, redacted: string): string {
  let at = 0;
  while (at < line.length && line[at] === redacted[at]) at++;
  return line.slice(Math.max(0, at - 50), at + 60).trim();
}

function* filesIn(folder: string, names: RegExp): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.')) yield* filesIn(path, names);
    else if (entry.isFile() && names.test(entry.name)) yield path;
  }
}
