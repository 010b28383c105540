import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeer } from '../peers/install.ts';
import type { Tool } from './adapter.ts';
import { type Result, renderRecovery, totalOf, writeRecoveryReport } from './report.ts';
import { dieAndResume, type Kill, planDeaths } from './run.ts';
import { scenarios } from './scenario.ts';
import { findTool, tools } from './tools.ts';

/** `npm run bench recovery`: every tool dies at every write, and what a naive agent then does is counted. */
export async function runRecovery(words: readonly string[], say: (sentence: string) => void): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      adapter: { type: 'string', multiple: true, default: [] },
      scenario: { type: 'string', multiple: true },
      sweeps: { type: 'string' },
      every: { type: 'string' },
      report: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const isQuick = positionals.includes('quick');
  const named = positionals.filter((word) => word !== 'quick');
  const chosen = [
    ...(named.length > 0 || values.adapter.length === 0 ? tools.filter(({ id }) => isNamed(named, id)) : []),
    ...(await Promise.all(values.adapter.map(findTool))),
  ];
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-recovery-'));
  chmodSync(folder, 0o755);
  try {
    const sweeps = Number(values.sweeps ?? (isQuick ? 1 : 3));
    const results = await measure({ chosen, folder, sweeps, every: values.every, only: values.scenario, say });
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
    if (values.report) writeRecoveryReport(results, sweeps, values.every);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isNamed(named: readonly string[], id: string): boolean {
  return named.length === 0 || named.includes(id);
}

interface Measuring {
  chosen: readonly Tool[];
  folder: string;
  sweeps: number;
  every: string | undefined;
  only: readonly string[] | undefined;
  say(sentence: string): void;
}

async function measure({ chosen, folder, sweeps, every, only, say }: Measuring): Promise<Result[]> {
  const results: Result[] = [];
  for (const tool of chosen) {
    const kills: Kill[] = [];
    try {
      const installed = installPeer(tool.packages, say);
      for (const scenario of scenarios) {
        if (only && !only.includes(scenario.name)) continue;
        const at = join(folder, `${tools.indexOf(tool)}-${scenario.name}`);
        const plan = {
          tool,
          scenario,
          folder: at,
          installed,
          sweeps: Math.min(sweeps, tool.mostSweeps ?? sweeps),
          every: Number(every ?? tool.sample ?? 1),
        };
        const deaths = await planDeaths(plan);
        say(`${tool.name} dies ${deaths.length} times in ${scenario.name} …`);
        for (const [number, death] of deaths.entries()) kills.push(await dieAndResume(plan, death, number));
      }
      results.push({ tool, kills, left: null });
    } catch (error) {
      const left = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
      say(`${tool.name} is left out: ${left}`);
      results.push({ tool, kills: [], left });
    }
  }
  return results;
}
