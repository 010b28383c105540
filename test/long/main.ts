/** Checks that take minutes and bring programs from npm: `npm run test:long NAME`. */
const checks: Readonly<Record<string, () => Promise<() => Promise<boolean>>>> = {
  mcp: () => import('./mcp-conformance.ts').then((module) => module.checkConformance),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(checks, name));
if (unknown.length > 0) {
  console.error(`There is no check ${unknown.join(', ')}; there is ${Object.keys(checks).join(', ')}.`);
  process.exit(2);
}
let failed = 0;
for (const [name, load] of Object.entries(checks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`— ${name}`);
  const check = await load();
  if (!(await check())) failed += 1;
}
process.exit(failed === 0 ? 0 : 1);
