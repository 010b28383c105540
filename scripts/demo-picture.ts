import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawDemo } from './draw-demo.ts';

// Makes the moving picture of the README from a real run: `node scripts/run.mjs scripts/demo-picture.ts [FILE]`, after
// `npm run build`.
const [file = 'docs/images/demo.svg'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'holdfast-picture-'));
const record = join(folder, 'demo.json');
const ran = spawnSync(process.execPath, ['dist/bin/holdfast.cjs', 'demo', '--fast', '--record', record], {
  encoding: 'utf8',
});
if (ran.status !== 0) throw new Error(`The demo failed:\n${ran.stdout}${ran.stderr}`);
writeFileSync(file, drawDemo(JSON.parse(readFileSync(record, 'utf8'))));
rmSync(folder, { recursive: true, force: true });
