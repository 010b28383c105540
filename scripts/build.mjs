// Builds the package: `dist/bin`, one bundled CommonJS program with its rarely used parts in files of their own, and
// `dist/lib`, the library as ES modules with types, and
// `dist/web`, the dashboard. With --bin only the program, with --web only the dashboard.
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** Loaded when they are needed, and needed by nearly every command. */
const hotParts = [
  'store/sqlite/store',
  'operations/step/checkpoint',
  'operations/step/complete',
  'operations/brief/resume',
  'operations/session/start',
  'operations/step/start',
];

async function buildProgram() {
  rmSync(`${root}dist/bin`, { recursive: true, force: true });
  // What nearly every command needs is one file: finding and opening a second one takes as long as compiling the first.
  await bundleProgram('program', 'src/bin/program.ts', hotParts);
  await bundleProgram('hook', 'src/bin/hook-program.ts', ['store/sqlite/store']);
  await bundleProgram('holdfast', 'src/bin/holdfast.ts');
  chmodSync(`${root}dist/bin/holdfast.cjs`, 0o755);
}

function buildLibrary() {
  rmSync(`${root}dist/lib`, { recursive: true, force: true });
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json')).replace('package.json', 'bin/tsc');
  const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exitCode = compiled.status ?? 1;
}

/** One file to start with, and the rarely used parts in files of their own. */
async function bundleProgram(name, entry, hot = []) {
  const first = [entry, ...hot.map((part) => `src/${part}.ts`)].map((file) => `${root}${file}`);
  const together = new Set();
  const bundle = await rolldown({
    cwd: root,
    input: { [name]: entry },
    platform: 'node',
    // A package that has both brings its modules: the other form may look for its parts by names no bundler knows.
    resolve: { mainFields: ['module', 'main'] },
    // The addon of the SQLite package is found by its place in node_modules.
    external: [/^@photostructure\/sqlite/],
    transform: { define: { HOLDFAST_VERSION: JSON.stringify(version) } },
    plugins: [
      {
        name: 'what the first file holds',
        buildEnd() {
          const follow = (id) => {
            if (together.has(id)) return;
            together.add(id);
            for (const needed of this.getModuleInfo(id)?.importedIds ?? []) follow(needed);
          };
          first.forEach(follow);
        },
      },
    ],
  });
  const { output } = await bundle.write({
    dir: 'dist/bin',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: `${name}-[name]-[hash].cjs`,
    dynamicImportInCjs: false,
    banner: (chunk) => (chunk.name === 'holdfast' ? '#!/usr/bin/env node' : ''),
    minify: true,
    codeSplitting: { groups: [{ name, test: (id) => together.has(id) }] },
  });
  await bundle.close();
  const runtime = output.find((chunk) => chunk.fileName.includes('rolldown-runtime'));
  for (const { fileName } of output) {
    const file = `${root}dist/bin/${fileName}`;
    let text = readFileSync(file, 'utf8');
    // The bundler's own few functions are a file too; the program has them inside.
    if (runtime && fileName === `${name}.cjs`) {
      text = text.replace(
        `require("./${runtime.fileName}")`,
        () => `((exports)=>{${runtime.code};return exports})({})`,
      );
    }
    // Started by `src/bin/holdfast.ts`, which would have to copy all of it to put this around it.
    if (name !== 'holdfast' && fileName === `${name}.cjs`) {
      text = `(function (exports, require, module, __filename, __dirname) {${text}\n})`;
    }
    // A file of plain ASCII is read and compiled faster: the engine then keeps one byte a character.
    writeFileSync(
      file,
      text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    );
  }
}

async function buildDashboard() {
  // Loaded when it is needed: the program is built far more often.
  const { build } = await import('vite');
  await build({ configFile: `${root}web/vite.config.ts`, logLevel: 'warn' });
}

const only = ['bin', 'web'].find((part) => process.argv.includes(`--${part}`));
if (only !== 'web') await buildProgram();
if (!only) buildLibrary();
if (only !== 'bin') await buildDashboard();
