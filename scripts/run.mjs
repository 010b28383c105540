// Runs a TypeScript file of the project: bundles it into a temporary file and starts that with the same Node.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const [entry, ...rest] = process.argv.slice(2);
const folder = mkdtempSync(join(root, 'node_modules', '.run-'));
try {
  const bundle = await rolldown({ cwd: root, input: { main: entry }, platform: 'node', external: [/^[^./]/] });
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
  await bundle.close();
  const child = spawn(process.execPath, [join(folder, 'main.mjs'), ...rest], { cwd: root, stdio: 'inherit' });
  // Signals go to the child; this process waits for its end and cleans up. A terminal sends an interrupt to both.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const [status] = await once(child, 'exit');
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
