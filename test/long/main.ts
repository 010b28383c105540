/** Checks that take minutes and may install programs from npm: `npm run test:long NAME [WORDS]`. Each returns its exit code. */
const checks: Readonly<Record<string, (words: string[]) => Promise<number>>> = {
  acp: async (words) => ((await (await import('./agents/acp.ts')).checkAcp(words)) ? 0 : 1),
  agents: async (words) => ((await (await import('./agents/check.ts')).checkAgents(words)) ? 0 : 1),
  faults: async (words) => (await import('./faults/main.ts')).main(words),
  failover: async () => (await import('./failover.ts')).main(),
  langgraph: async () => (await import('./langgraph.ts')).main(),
  links: async (words) => (await import('./links/main.ts')).main(words),
  inbox: async (words) => (await import('./inbox.ts')).main(words),
  pairs: async () => ((await (await import('./agents/pairs.ts')).checkPairs()) ? 0 : 1),
  'step-cost': async () => (await import('./agents/step-cost.ts')).measureStepCost(),
  mcp: async () => ((await (await import('./mcp-conformance.ts')).checkConformance()) ? 0 : 1),
  redaction: async (words) => (await import('./redaction.ts')).main(words),
};

const [name = '', ...words] = process.argv.slice(2);
const check = checks[name];
if (check) process.exit(await check(words));
console.error(`Give one of: ${Object.keys(checks).join(', ')}.`);
process.exit(2);
