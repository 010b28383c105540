import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabases } from '../databases.ts';
import { createBenchFolder } from '../folder.ts';
import { installPeer } from '../peers/install.ts';
import type { Tool } from './adapter.ts';
import { type Result, renderRecovery, totalOf, writeRecoveryReport } from './report.ts';
import { verifyResultFile, writeResultFile } from './result-file.ts';
import { type Kill, killAndResume, momentsOf, planKills } from './run.ts';
import { readSuite, type Suite } from './scenario.ts';
import { findTool, tools } from './tools.ts';

/** `npm run bench recovery`: every tool is killed at the same moments, and the mistakes of a naive agent afterwards are counted. */
export async function runRecovery(words: readonly string[], say: (sentence: string) => void): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      adapter: { type: 'string', multiple: true, default: [] },
      stdio: { type: 'string', multiple: true, default: [] },
      scenario: { type: 'string', multiple: true },
      every: { type: 'string' },
      report: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      out: { type: 'string' },
      verify: { type: 'string' },
    },
  });
  const suite = readSuite();
  if (values.verify !== undefined) return verify(values.verify, suite);
  const isQuick = positionals.includes('quick');
  const named = positionals.filter((word) => word !== 'quick');
  const others = [...values.adapter, ...values.stdio.map((command) => `stdio:${command}`)];
  const chosen = [
    ...(named.length > 0 || others.length === 0 ? tools.filter(({ id }) => isNamed(named, id)) : []),
    ...(await Promise.all(others.map(findTool))),
  ];
  const every = Number(values.every ?? (isQuick ? 8 : 1));
  const loadBefore = loadavg()[0] ?? 0;
  const folder = createBenchFolder('recovery');
  const results = await measure({ chosen, folder, suite, every, only: values.scenario, say });
  if (values.json)
    console.log(
      JSON.stringify(
        results.map(({ tool, kills, left }) => ({
          tool: tool.name,
          left,
          kills: kills.length,
          total: totalOf(kills),
        })),
      ),
    );
  else console.log(renderRecovery(results));
  if (values.out !== undefined) writeResultFile(values.out, suite, results, loadBefore);
  if (values.report) writeRecoveryReport(results);
}

function verify(file: string, suite: Suite): void {
  const { table, problems } = verifyResultFile(file, suite);
  console.log(table);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

function isNamed(named: readonly string[], id: string): boolean {
  return named.length === 0 || named.includes(id);
}

interface Measuring {
  chosen: readonly Tool[];
  folder: string;
  suite: Suite;
  /** Kill at one in so many of the moments; the same ones for every tool. */
  every: number;
  only: readonly string[] | undefined;
  say(sentence: string): void;
}

async function measure({ chosen, folder, suite, every, only, say }: Measuring): Promise<Result[]> {
  const played = suite.scenarios.filter(({ name }) => !only || only.includes(name));
  const databases = openDatabases(join(folder, 'postgres'));
  const results: Result[] = [];
  try {
    for (const [number, tool] of chosen.entries()) {
      const kills: Kill[] = [];
      let impossible = 0;
      try {
        const installed = installPeer(tool.packages, say);
        for (const scenario of played) {
          const at = join(folder, `${number}-${scenario.name}`);
          const plan = { tool, scenario, folder: at, installed, databases };
          const killAt = await planKills(plan);
          const all = momentsOf(scenario, suite.inside);
          const moments = all.slice(0, Math.ceil(all.length / every));
          say(`${tool.name} is killed at ${moments.length} of ${all.length} moments of ${scenario.name} …`);
          for (const [index, moment] of moments.entries()) {
            const killPoint = killAt(moment);
            if (killPoint === null) impossible += 1;
            else kills.push(await killAndResume(plan, moment, killPoint, index));
          }
        }
        results.push({ tool, kills, impossible, left: null });
      } catch (error) {
        const left = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
        say(`${tool.name} is left out: ${left}`);
        results.push({ tool, kills: [], impossible: 0, left });
      }
    }
  } finally {
    await databases.stop();
  }
  return results;
}
