// What CI runs in addition to the tests: format and lint, types, arrows, dead code, and the package as it would be published.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// Without the scripts of the package: publint packs it, and that would build it again.
const tool = (...words) => ['npm', 'exec', '--offline', '--ignore-scripts', '--', ...words];
/** The longest first. What stands in one row runs in order. */
const checks = [
  { 'format and lint': tool('biome', 'check', '.') },
  { build: ['node', 'scripts/build.mjs'], package: tool('publint', '--strict') },
  { 'dead code': tool('knip') },
  { types: tool('tsc', '--noEmit', '-p', '.') },
  { 'types of the dashboard': tool('tsc', '--noEmit', '-p', 'web') },
  { 'arrows between folders': ['node', 'scripts/run.mjs', 'scripts/check-arrows.ts'] },
].map(Object.entries);

let [next, failed] = [0, 0];
/** Takes the next row until there is none; what a check prints is shown whole when it ends. */
async function work() {
  while (next < checks.length) {
    for (const [name, [command, ...words]] of checks[next++]) {
      const child = spawn(command, words, { cwd: root, shell: process.platform === 'win32' });
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (piece) => {
          text += piece;
        });
      const [status] = await once(child, 'close');
      if (status !== 0) failed += 1;
      console.log(`— ${name}${status === 0 ? '' : ': FAILED'}\n${text.trimEnd()}`);
    }
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
const count = checks.flat().length;
console.log(failed === 0 ? `All ${count} checks passed.` : `${failed} of ${count} checks failed.`);
process.exitCode = failed === 0 ? 0 : 1;
