// What CI runs besides the tests: format and lint, types, dead code, and the package as it would be published.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const checks = [
  ['format and lint', 'biome', 'check', '.'],
  ['types', 'tsc', '--noEmit', '-p', '.'],
  ['types of the dashboard', 'tsc', '--noEmit', '-p', 'web'],
  ['dead code', 'knip'],
  ['build', 'node', 'scripts/build.mjs'],
  ['package', 'publint', '--strict'],
];

let failed = 0;
for (const [name, command, ...words] of checks) {
  console.log(`— ${name}`);
  const ran = spawnSync('npm', ['exec', '--offline', '--', command, ...words], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (ran.status !== 0) failed += 1;
}
console.log(failed === 0 ? 'All checks passed.' : `${failed} of ${checks.length} checks failed.`);
process.exitCode = failed === 0 ? 0 : 1;
