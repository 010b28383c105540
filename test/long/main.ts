/** Long proofs, by name: `npm run test:long faults`. */
const proofs: Record<string, () => Promise<{ main(words: string[]): Promise<number> }>> = {
  faults: () => import('./faults/main.ts'),
};

const [name = '', ...words] = process.argv.slice(2);
const proof = proofs[name];
if (proof) process.exitCode = await (await proof()).main(words);
else {
  console.error(`Give one of: ${Object.keys(proofs).join(', ')}.`);
  process.exitCode = 2;
}
