import { basename, resolve } from 'node:path';
import type { RunModel } from '../src/core/model/run-model.ts';
import { createEngine, type Engine } from '../src/engine/engine.ts';
import type { Files, Format, FormatName, Found, Parsed } from '../src/formats/format.ts';
import { formatNames, formats } from '../src/formats/index.ts';
import { readWholeRun } from '../src/operations/files/parts/run-model.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { openTree } from '../src/workspace/tree.ts';
import { type Fact, factsIn, isInRun, squeeze } from './facts.ts';

/**
 * Reads every state file below a folder as `adopt` would, into a journal in memory, and checks the result: nothing
 * throws, the run contains every fact of the file, writing it back changes nothing, and a checkpoint changes only its
 * own lines.
 */
const now = '2026-01-02T03:04:05.000Z';
const SLOW_MS = 5000;

interface Row {
  format: FormatName;
  path: string;
  version: string;
  facts: number;
  missing: Fact[];
  problems: number;
  unchanged: 'yes' | 'no' | 'read only' | 'nothing';
  /** What starting a step and one checkpoint in it did to the files; null where no step can be started. */
  changes: Change[] | null;
  failure: string | null;
}

/** Removed and added lines of one file. */
interface Change {
  path: string;
  gone: string[];
  come: string[];
}

async function main(folder: string, detailed: boolean): Promise<number> {
  const tree = openTree(resolve(folder));
  const rows: Row[] = [];
  let others = 0;
  const claimed = new Set<string>();
  for (const name of formatNames) {
    const format = await formats[name]();
    for (const found of format.detect(tree)) {
      for (const path of found.files) claimed.add(path);
      rows.push(await examine(format, found, textsOf(tree, found)));
    }
  }
  for (const path of tree.paths) {
    if (claimed.has(path)) continue;
    const text = tree.read(path);
    const name = text === null ? null : formatOf(path, text);
    if (text === null || name === null) {
      others += 1;
      continue;
    }
    const format = await formats[name]();
    const main = placeFor(name, path);
    rows.push(await examine(format, { format: name, main, files: [main] }, new Map([[main, text]]), path));
  }
  report(rows, others, detailed);
  const wrong = rows.some((row) => row.failure !== null || row.unchanged === 'no' || row.missing.length > 0);
  return wrong ? 1 : 0;
}

const textsOf = (tree: { read(path: string): string | null }, found: Found): Files =>
  new Map(
    found.files
      .flatMap((path) => [[path, tree.read(path)] as const])
      .filter((pair): pair is [string, string] => pair[1] !== null),
  );

/** Recognises a file by its name, with any prefix, else by its content. */
function formatOf(path: string, text: string): FormatName | null {
  const name = basename(path);
  if (/00-session-state\.json(\.bak)?$/.test(name)) return 'apex';
  if (/(TURNFILE\.ya?ml|MAILBOX[^/]*\.md|OPEN_QUESTIONS\.md)$/.test(name)) return 'snap';
  if (/(HANDOFF\.json|continue-here[^/]*\.md)$/.test(name)) return 'gsd';
  if (/^\s*---\s*\n(?:\{|[\s\S]{0,400}?^session_id:)/m.test(text.slice(0, 2000)) && /\.md$/.test(name))
    return 'maestro';
  if (/^initiative:/m.test(text.slice(0, 2000))) return 'codewalk';
  if (
    /STATE\.md$/.test(name) ||
    /^(# (Project )?State\b|gsd_state_version:|## Current Position)/im.test(text.slice(0, 4000))
  ) {
    return /\.md$/.test(name) ? 'gsd' : null;
  }
  return null;
}

/** The path at which the format expects the file. */
function placeFor(format: FormatName, path: string): string {
  const name = basename(path).split('__').at(-1) ?? '';
  switch (format) {
    case 'apex':
      return `agent-output/${basename(path).split('__').at(-3) ?? 'project'}/00-session-state.json`;
    case 'snap':
      return `working-session/${/TURNFILE|MAILBOX|OPEN_QUESTIONS/.exec(name)?.[0] ?? 'TURNFILE'}${/\.ya?ml$/.test(name) ? '.yaml' : '.md'}`;
    case 'gsd':
      if (/HANDOFF\.json$/.test(name)) return '.planning/HANDOFF.json';
      return /continue-here/.test(name) ? '.planning/phases/01-first/.continue-here.md' : '.planning/STATE.md';
    case 'codewalk':
      return 'STATE.md';
    case 'maestro':
      return /archive__/.test(path) ? `docs/maestro/state/archive/${name}` : 'docs/maestro/state/active-session.md';
    default:
      return format satisfies never;
  }
}

async function examine(format: Format, found: Found, files: Files, path = found.main): Promise<Row> {
  const row: Row = {
    format: format.name,
    path,
    version: '?',
    facts: 0,
    missing: [],
    problems: 0,
    unchanged: 'nothing',
    changes: null,
    failure: null,
  };
  const began = Date.now();
  try {
    const parsed = format.parse(found, files);
    row.version = parsed.version ?? '?';
    row.problems = parsed.problems.length;
    if (parsed.model) await examineAccount(format, found, files, parsed, parsed.model, row);
    const tookMs = Date.now() - began;
    if (tookMs > SLOW_MS) row.failure = `took ${tookMs} ms`;
  } catch (thrown) {
    row.failure = (thrown as Error).stack?.split('\n').slice(0, 3).join(' | ') ?? String(thrown);
  }
  return row;
}

async function examineAccount(
  format: Format,
  found: Found,
  files: Files,
  parsed: Parsed,
  model: RunModel,
  row: Row,
): Promise<void> {
  const engine = createEngine({ store: openMemoryStore(), now: () => now, probe: () => undefined, random: () => 0.5 });
  const source = { format: format.name, path: found.main, account: model };
  await engine.execute(
    'run',
    { type: 'run.open', title: model.run.title || 'Run', workspace: 'w', account: source },
    identity,
  );
  const state = await engine.load('run');
  const whole = await readWholeRun(engine, state);
  const run = squeeze(JSON.stringify([whole, state.run]));
  for (const [path, text] of files) {
    const facts = factsIn(format.name, path, text);
    row.facts += facts.length;
    row.missing.push(...facts.filter((fact) => !isInRun(fact, run)));
  }
  if (!parsed.writable) {
    row.unchanged = 'read only';
    return;
  }
  const same = format.render(whole, found, files, now);
  const differing = [...same].filter(([path]) => files.has(path));
  row.unchanged = differing.length === 0 || isMigration(format, parsed) ? 'yes' : 'no';
  row.changes = await checkpointChanges(engine, format, found, files);
}

/** Files of an old version are migrated before anything else is written. */
const isMigration = (format: Format, { version }: Parsed): boolean =>
  format.name === 'apex' && !version?.startsWith('3');

const identity = { actor: { kind: 'agent', name: 'ada' }, evidence: 'file', session: null, key: null } as const;

/** Starts the first possible step and passes a checkpoint in it, as with mirrored files. */
async function checkpointChanges(engine: Engine, format: Format, found: Found, files: Files): Promise<Change[] | null> {
  const state = await engine.load('run');
  const before = format.render(await readWholeRun(engine, state), found, files, now);
  const base = new Map([...files, ...before]);
  for (const key of state.steps.keys()) {
    try {
      await engine.execute('run', { type: 'step.start', step: key }, identity);
      await engine.execute('run', { type: 'step.checkpoint', name: 'corpus-check', next: 'Go on' }, identity);
    } catch {
      continue;
    }
    const after = format.render(await readWholeRun(engine, await engine.load('run')), found, base, now);
    // A new file replaces no lines.
    return [...after].flatMap(([path, text]) => {
      const was = base.get(path);
      return was === undefined ? [] : [{ path, gone: without(was, text), come: without(text, was) }];
    });
  }
  return null;
}

/** Lines of one text that the other lacks, counted with repetition. */
function without(text: string, other: string): string[] {
  const left = new Map<string, number>();
  for (const line of other.split('\n')) left.set(line, (left.get(line) ?? 0) + 1);
  return text.split('\n').filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

const lostBy = ({ changes }: Row): number => (changes ?? []).reduce((sum, { gone }) => sum + gone.length, 0);

function report(rows: readonly Row[], others: number, detailed: boolean): void {
  const say = (text: string): void => {
    process.stdout.write(`${text}\n`);
  };
  say(
    '| format | files | facts | found | problems | unchanged when written back | lines replaced by one checkpoint (most) | thrown |',
  );
  say('|---|---|---|---|---|---|---|---|');
  for (const name of formatNames) {
    const own = rows.filter((row) => row.format === name);
    if (own.length === 0) continue;
    const sum = (count: (row: Row) => number): number => own.reduce((total, row) => total + count(row), 0);
    const facts = sum((row) => row.facts);
    const written = own.filter((row) => row.unchanged === 'yes' || row.unchanged === 'no');
    say(
      `| ${name} | ${own.length} | ${facts} | ${facts - sum((row) => row.missing.length)} | ${sum((row) => row.problems)} | ${written.filter((row) => row.unchanged === 'yes').length} of ${written.length} | ${Math.max(0, ...own.map(lostBy))} | ${own.filter((row) => row.failure !== null).length} |`,
    );
  }
  say(`\n${others} other files are not state files.`);
  for (const row of rows) {
    const notes = [
      ...(row.failure ? [`failed: ${row.failure}`] : []),
      ...(row.unchanged === 'no' ? ['is changed by writing back what it says'] : []),
      ...row.missing
        .slice(0, detailed ? 1000 : 3)
        .map((fact) => `line ${fact.line}: ${fact.kind} is missing: ${fact.words.slice(0, 100)}`),
      ...(row.missing.length > 3 && !detailed ? [`and ${row.missing.length - 3} more`] : []),
      ...(detailed && lostBy(row) > 8 ? [`a checkpoint replaced ${lostBy(row)} lines`] : []),
    ];
    if (notes.length > 0) say(`${row.format} ${row.version} ${row.path}\n  ${notes.join('\n  ')}`);
  }
  for (const name of formatNames) {
    const [worst] = rows.filter((row) => row.format === name && row.changes).sort((a, b) => lostBy(b) - lostBy(a));
    if (worst) say(`\nMost lines changed by a checkpoint, ${name}: ${worst.path}\n${diffOf(worst)}`);
  }
}

function diffOf({ changes }: Row): string {
  return (changes ?? [])
    .flatMap(({ path, gone, come }) => [
      `  ${path}`,
      ...gone.map((line) => `  - ${line.slice(0, LINE_LIMIT)}`),
      ...come.map((line) => `  + ${line.slice(0, LINE_LIMIT)}`),
    ])
    .join('\n');
}

/** Some files are one line. */
const LINE_LIMIT = 160;

const [folder, ...flags] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('Name a folder: npm run corpus -- FOLDER [--all]\n');
  process.exitCode = 2;
} else process.exitCode = await main(folder, flags.includes('--all'));
