import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bring, bringNode } from './bring.ts';
import { type Client, type ClientName, clients, startOf } from './clients.ts';
import { playStory } from './story.ts';

/** One row of the report. */
export interface Finding {
  client: ClientName;
  step: string;
  result: 'pass' | 'FAIL' | 'not driven';
  /** What is missing, or how it was reached. */
  why?: string;
}

/**
 * Every client works, is killed in the middle of a command, and the next one continues. Their model is a script on this
 * machine; each has its own home folder and an empty environment.
 */
export async function checkAgents(): Promise<boolean> {
  const only = (process.env['HOLDFAST_TEST_AGENTS'] ?? '').split(',').filter(Boolean);
  const node = bringNode();
  const findings: Finding[] = [];
  const note = (finding: Finding): void => {
    findings.push(finding);
    const { client, step, result, why } = finding;
    console.log(`${result.padEnd(10)}  ${client.padEnd(8)}  ${step}${why ? `: ${why}` : ''}`);
  };
  const ready: { client: Client; start: [string, ...string[]] }[] = [];
  for (const client of clients) {
    try {
      const folder = bring(client.name, client.package, client.version, node, client.finish);
      ready.push({ client, start: startOf(client, folder, node) });
    } catch (thrown) {
      note({ client: client.name, step: 'install from npm', result: 'FAIL', why: (thrown as Error).message });
    }
  }
  for (const [at, first] of ready.entries()) {
    if (only.length > 0 && !only.includes(first.client.name)) continue;
    const next = ready[(at + 1) % ready.length] ?? first;
    const folder = mkdtempSync(join(tmpdir(), `holdfast-agents-${first.client.name}-`));
    const before = findings.length;
    try {
      const refused = await playStory({
        folder,
        first,
        next,
        note: (finding) => note({ client: first.client.name, ...finding }),
      });
      if (refused.size > 0) console.log(`            refused to ${first.client.name}: ${[...refused].join(', ')}`);
    } catch (thrown) {
      note({ client: first.client.name, step: 'the story', result: 'FAIL', why: (thrown as Error).message });
    }
    const failed = findings.slice(before).some(({ result }) => result === 'FAIL');
    if (failed) console.log(`            what ${first.client.name} left is in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${tableOf(findings)}`);
  return findings.length > 0 && findings.every(({ result }) => result !== 'FAIL');
}

function tableOf(findings: readonly Finding[]): string {
  const rows = findings.map(({ client, step, result, why }) => {
    const version = clients.find(({ name }) => name === client)?.version ?? '';
    return [client, version, step, why ? `${result}: ${why}` : result];
  });
  const lines = [['client', 'version', 'step', 'result'], ...rows];
  const widths = [0, 1, 2].map((at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')).join('\n');
}
