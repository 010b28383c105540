// Builds the package: `dist/bin`, one bundled CommonJS program with its rarely used parts in files of their own, and
// `dist/lib`, the library as ES modules with types. With --bin only the program.
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

const commonFolders = /\/src\/(cli|core|engine|hooks|open|operations|program|store|workspace)\b|\/valibot\//;
const commonOperations = new Set([
  'act',
  'brief',
  'checkpoint',
  'complete',
  'context',
  'evidence',
  'fields',
  'index',
  'operation',
  'reading-list',
  'resume',
  'resume-file',
  'session-start',
  'start',
  'supervision',
]);
/** In the folders of the common ones, and needed by few commands. */
const rare = new RegExp(
  `/src/(${[
    'cli/(completion|help)',
    'core/(account|account-diff|account-of)',
    'core/(erase|event|index|verify|waiting|worklog)',
    'engine/(audit|erase|news|refold|replay|snapshots)',
    'hooks/(moments|sitting|todo|transcript)',
    'store/(index|memory|token-row|postgres/.*|sqlite/(listen|log-check|remains|tokens))',
    'workspace/(lock|tree)',
  ].join('|')})\\.ts$`,
);

function isCommon(id) {
  if (!commonFolders.test(id) || rare.test(id)) return false;
  const operation = /\/operations\/(.*)\.ts$/.exec(id)?.[1];
  return operation === undefined || commonOperations.has(operation);
}

rmSync(`${root}dist/bin`, { recursive: true, force: true });
const bundle = await rolldown({
  cwd: root,
  input: { holdfast: 'src/bin.ts', program: 'src/program.ts' },
  platform: 'node',
  // A package that has both brings its modules: the other form may look for its parts by names no bundler knows.
  resolve: { mainFields: ['module', 'main'] },
  // The addon of the SQLite package is found by its place in node_modules.
  external: [/^@photostructure\/sqlite/],
  transform: { define: { HOLDFAST_VERSION: JSON.stringify(version) } },
});
await bundle.write({
  dir: 'dist/bin',
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  dynamicImportInCjs: false,
  banner: (chunk) => (chunk.name === 'holdfast' ? '#!/usr/bin/env node' : ''),
  minify: true,
  // What nearly every command needs is one file: finding and opening a second one takes as long as compiling the first.
  codeSplitting: { groups: [{ name: 'program', test: isCommon }] },
});
await bundle.close();
const files = readdirSync(`${root}dist/bin`);
const runtime = files.find((name) => name.startsWith('rolldown-runtime'));
for (const name of files) {
  const file = `${root}dist/bin/${name}`;
  let text = readFileSync(file, 'utf8');
  // The bundler's own few functions are a file too; the program has them inside.
  if (name === 'program.cjs') {
    const helpers = readFileSync(`${root}dist/bin/${runtime}`, 'utf8');
    text = text.replace(`require("./${runtime}")`, () => `((exports)=>{${helpers};return exports})({})`);
  }
  // A file of plain ASCII is read and compiled faster: the engine then keeps one byte a character.
  writeFileSync(
    file,
    text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
chmodSync(`${root}dist/bin/holdfast.cjs`, 0o755);

if (!process.argv.includes('--bin')) {
  rmSync(`${root}dist/lib`, { recursive: true, force: true });
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json')).replace('package.json', 'bin/tsc');
  const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exitCode = compiled.status ?? 1;
}
