// Builds the package: `dist/bin`, one bundled CommonJS program with its rarely used parts in files of their own;
// `dist/lib`, the library as ES modules with types; and `dist/web`, the dashboard. With --bin or --web only that part, with
// --changed only parts whose sources have changed since they were built.
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { checkTable } from './addon-hashes.mjs';
import { hashOf, parts, stalePartsOf, writeStamp } from './build-stamp.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** Loaded on demand, and needed by nearly every command. */
const hotParts = [
  'store/sqlite/store',
  'operations/step/checkpoint',
  'operations/step/complete',
  'operations/brief/parts/save-resume',
  'operations/run/parts/current-run',
  'operations/step/start',
  'operations/journal/parts/known-heads',
];

/** Loaded on demand, and together: what composes a brief. */
const briefParts = ['operations/brief/resume', 'operations/brief/parts/resume-file', 'operations/session/start'];

/** Loaded on demand, and together: what a hook needs, with the hooks of all clients. */
const clientHooks = readdirSync(`${root}src/clients`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `clients/${name}/hooks`);
const hookParts = ['hooks/hook', 'hooks/moments', 'hooks/drain', 'hooks/take-reports', ...clientHooks];

/** The same part of all clients is one file. */
const clientParts = ['install', 'transcript'].map((part) => ({
  name: `clients-${part}`,
  test: new RegExp(`[\\\\/]clients[\\\\/]\\w+[\\\\/]${part}\\.ts$`),
}));

async function buildProgram() {
  checkTable();
  rmSync(`${root}dist/bin`, { recursive: true, force: true });
  // What nearly every command needs is in one file: finding and opening a second one takes as long as compiling the first.
  await bundleProgram('program', 'src/bin/program.ts', hotParts);
  await bundleProgram('holdfast', 'src/bin/holdfast.ts');
  chmodSync(`${root}dist/bin/holdfast.cjs`, 0o755);
  writeLauncher();
}

/** The hook launcher for settings that hold no paths. */
function writeLauncher() {
  const values = readFileSync(`${root}launcher/values.sh`, 'utf8').trimEnd();
  const text = readFileSync(`${root}launcher/hook.sh`, 'utf8').replace(/^N=@NODE@.*$/m, () => values);
  writeFileSync(`${root}dist/bin/holdfast-hook`, text);
  chmodSync(`${root}dist/bin/holdfast-hook`, 0o755);
}

function buildLibrary() {
  rmSync(`${root}dist/lib`, { recursive: true, force: true });
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json')).replace('package.json', 'bin/tsc');
  const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (compiled.status !== 0) process.exit(compiled.status ?? 1);
}

/** One file to start with; rarely used parts are in separate files. */
async function bundleProgram(name, entry, hot = []) {
  const first = [entry, ...hot.map((part) => `src/${part}.ts`)].map((file) => `${root}${file}`);
  const together = new Set();
  const brief = new Set();
  const hooks = new Set();
  const bundle = await rolldown({
    cwd: root,
    input: { [name]: entry },
    platform: 'node',
    // The hooks of all clients are in one file on purpose.
    checks: { ineffectiveDynamicImport: false },
    // Prefer ES modules: CommonJS may load its parts by computed names that no bundler resolves.
    resolve: { mainFields: ['module', 'main'] },
    // The addon of the SQLite package is found by its path in node_modules.
    external: [/^@photostructure\/sqlite/],
    transform: { define: { HOLDFAST_VERSION: JSON.stringify(version) } },
    plugins: [
      {
        name: 'contents of the first file',
        buildEnd() {
          const follow = (id, modules) => {
            if (together.has(id) || brief.has(id) || modules.has(id)) return;
            modules.add(id);
            for (const needed of this.getModuleInfo(id)?.importedIds ?? []) follow(needed, modules);
          };
          for (const id of first) follow(id, together);
          for (const part of briefParts) follow(`${root}src/${part}.ts`, brief);
          for (const part of hookParts) follow(`${root}src/${part}.ts`, hooks);
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
    codeSplitting: {
      groups: [
        { name, test: (id) => together.has(id) },
        { name: 'brief', test: (id) => brief.has(id) },
        { name: 'hooks', test: (id) => hooks.has(id) },
        ...clientParts,
      ],
    },
  });
  await bundle.close();
  const runtime = output.find((chunk) => chunk.fileName.includes('rolldown-runtime'));
  for (const { fileName } of output) {
    const file = `${root}dist/bin/${fileName}`;
    let text = readFileSync(file, 'utf8');
    // The bundler puts its few runtime functions into a file; to open that takes longer than to have them in each.
    if (runtime && fileName !== runtime.fileName) {
      text = text.replace(
        `require("./${runtime.fileName}")`,
        () => `((exports)=>{${runtime.code};return exports})({})`,
      );
    }
    // `src/bin/holdfast.ts` runs it as a function; wrapping it there would copy the whole text.
    if (name !== 'holdfast') {
      text = `(function (exports, require, module, __filename, __dirname) {${text}\n})`;
    }
    // Plain ASCII loads faster: V8 then stores one byte per character.
    writeFileSync(
      file,
      text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    );
  }
}

async function buildDashboard() {
  // Loaded on demand: the program is built far more often.
  const { build } = await import('vite');
  await build({ configFile: `${root}web/vite.config.ts`, logLevel: 'warn' });
}

const build = { bin: buildProgram, lib: buildLibrary, web: buildDashboard };
const only = parts.find((part) => process.argv.includes(`--${part}`));
const wanted = process.argv.includes('--changed') ? stalePartsOf(root) : parts;
for (const part of wanted.filter((one) => only === undefined || one === only)) {
  // Taken first: a source that changes during the build makes the part stale again.
  const hash = hashOf(root, part);
  await build[part]();
  writeStamp(root, part, hash);
}
