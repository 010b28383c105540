import { readFileSync } from 'node:fs';
import { createEngine } from '../src/engine/engine.ts';
import { formats } from '../src/formats/index.ts';
import { readWholeRun } from '../src/operations/account.ts';
import { openMemoryStore } from '../src/store/memory.ts';
const [name, main, file] = process.argv.slice(2) as [never, string, string];
const now = '2026-01-02T03:04:05.000Z';
const format = await (formats as any)[name]();
const files = new Map([[main, readFileSync(file, 'utf8')]]);
const found = { format: name, main, files: [main] };
const parsed = format.parse(found, files);
const engine = createEngine({ store: openMemoryStore(), now: () => now, probe: () => undefined, random: () => 0.5 });
await engine.execute('run', { type: 'run.open', title: 'x', workspace: 'w', account: { format: name, path: main, account: parsed.account } }, { actor: { kind: 'agent', name: 'ada' }, session: null, key: null });
const whole = await readWholeRun(engine, await engine.load('run'));
const walk = (a: any, b: any, p: string): void => {
  if (JSON.stringify(a) === JSON.stringify(b)) return;
  if (a && b && typeof a === 'object' && typeof b === 'object') { for (const k of new Set([...Object.keys(a), ...Object.keys(b)])) if (k !== 'id') walk(a[k], b[k], `${p}.${k}`); return; }
  console.log(p, JSON.stringify(a)?.slice(0, 100), '->', JSON.stringify(b)?.slice(0, 100));
};
walk(parsed.account, whole, '');
for (const [path, text] of format.render(whole, found, files, now)) {
  const old = (files.get(path) ?? '').split('\n'), nu = (text as string).split('\n');
  console.log('WRITES', path); const os = new Set(old), ns = new Set(nu);
  old.filter((l) => !ns.has(l)).slice(0, 12).forEach((l) => console.log('-', l)); nu.filter((l) => !os.has(l)).slice(0, 12).forEach((l) => console.log('+', l));
}
