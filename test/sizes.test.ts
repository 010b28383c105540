import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, it } from 'vitest';

const MOST_LINES = 450;
const MOST_FILES = 25;
const MOST_LINES_OF_A_FUNCTION = 80;

const isTest = (file: string): boolean => /\.(test|suite)\.tsx?$/.test(file) || file.startsWith('src/store/suite/');
const files = ['src', 'web', 'scripts'].flatMap((top) =>
  readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(top, name)),
);
const linesOf = (text: string): number => text.split('\n').length - 1;

/** A switch over all events, a factory whose methods share its state, a page of markup: cut, they would be harder to read. */
const longFunctions = [
  // One case for each event.
  ...['src/core/fold/evolve.ts apply', 'src/operations/history/parts/log-words.ts sayRest'],
  'src/operations/session/parts/moved-command.ts commandFor',
  // What they return shares what they hold.
  ...['src/engine/import-run.ts openImport', 'src/engine/limit.ts limitEngine', 'src/engine/loader.ts createLoader'],
  ...['src/store/sqlite/connection.ts openConnection', 'src/clients/claude/transcript.ts createReader'],
  ...[
    'src/http/serve.ts serveWith',
    'src/operations/open.ts openContext',
    'src/store/postgres/connection.ts openConnection',
  ],
  ...['src/acp/observe.ts createObserver', 'src/adapters/claude-agent-sdk.ts sessionStore'],
  // SQL and markup.
  'src/store/postgres/schema.ts migrations',
  ...['web/step-drawer.tsx StepDetail', 'web/plan-tree.tsx PlanTree'],
  ...['web/views/activity.tsx ActivityView', 'web/views/run-cards.tsx Sessions'],
];

interface Node {
  type: string;
  start: number;
  end: number;
  id?: { name?: string } | null;
  key?: { name?: string };
  init?: Node | null;
  value?: unknown;
}

/** The named functions of a file that are too long: `FILE NAME`. A function inside one that is listed counts by itself. */
function longIn(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  if (linesOf(text) <= MOST_LINES_OF_A_FUNCTION) return [];
  const found: string[] = [];
  const visit = (node: unknown, name: string): void => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const one of node) visit(one, name);
      return;
    }
    const { type, start, end, id, key } = node as Node;
    const own = id?.name ?? key?.name ?? name;
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type)) {
      if (linesOf(text.slice(start, end)) + 1 > MOST_LINES_OF_A_FUNCTION) found.push(`${file} ${own}`);
    }
    for (const value of Object.values(node)) visit(value, own);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file).body, '');
  return found;
}

it('no file is above 450 lines', () => {
  expect(files.filter((file) => linesOf(readFileSync(file, 'utf8')) > MOST_LINES)).toEqual([]);
});

it('no folder has more than 25 source files', () => {
  const counts = new Map<string, number>();
  for (const file of files.filter((one) => !isTest(one)))
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});

it('a function above 80 lines is listed with its reason', () => {
  const found = files.filter((file) => !isTest(file)).flatMap(longIn);
  expect([...new Set(found)].sort()).toEqual([...longFunctions].sort());
});
