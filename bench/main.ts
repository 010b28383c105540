import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { measureAppends } from './appends.ts';
import { measureContention, runWorker, WORKER } from './contention.ts';
import { measureDisk } from './disk.ts';
import { createBenchFolder } from './folder.ts';
import { measureHooks } from './hooks.ts';
import type { Row } from './measure.ts';
import { runPeers } from './peers/main.ts';
import { PEERS_WRITER, runPeersWriter, type WriterOrder } from './peers/writer.ts';
import { measurePostgres } from './postgres.ts';
import { measureProcessCost } from './process-cost.ts';
import { runRecovery } from './recovery/main.ts';
import { RECOVERY_WORKER } from './recovery/run.ts';
import { readSuite } from './recovery/scenario.ts';
import { findTool } from './recovery/tools.ts';
import { type Order, work } from './recovery/worker.ts';
import { measureServe } from './serve.ts';

/** All measurements, each in its own folder; `quick` uses less data and fewer rounds. */
const measurements: Record<string, (folder: string, isQuick: boolean) => Promise<Row[]>> = {
  process: (folder, isQuick) =>
    measureProcessCost({ folder, longest: isQuick ? 20_000 : 1_000_000, rounds: isQuick ? 15 : 60, say }),
  hooks: (folder, isQuick) => measureHooks(folder, isQuick ? 15 : 60),
  appends: (folder, isQuick) => measureAppends(folder, isQuick ? 10 : 40),
  contention: (folder) => measureContention(folder),
  disk: (folder) => measureDisk(folder),
  postgres: (folder, isQuick) => measurePostgres(folder, isQuick ? 10 : 40),
  async recall(folder, isQuick) {
    // Loaded here because its tokenizer takes several times as long to load as a worker takes to start.
    const { measureRecall } = await import('./recall.ts');
    const size = isQuick ? { longest: 10_000, rounds: 5 } : { longest: 100_000, rounds: 20 };
    return measureRecall({ folder, ...size, say, print: console.log });
  },
  serve: (folder, isQuick) => measureServe(folder, isQuick ? 10 : 60, say),
};
/** Measured only when named: one prints its own tables, the other takes minutes. */
const ON_DEMAND = ['recall', 'serve'];

/** Progress goes to standard error, so that standard output has only the table. */
function say(sentence: string): void {
  console.error(sentence);
}

async function main(words: readonly string[]): Promise<void> {
  const isQuick = words.includes('quick');
  const names = words.filter((word) => word !== 'quick');
  const unknown = names.filter((name) => !(name in measurements));
  if (unknown.length > 0) {
    say(
      `There is no measurement ${unknown.join(', ')}. There are ${Object.keys(measurements).join(', ')}, brief, search, recovery, peers, and quick.`,
    );
    process.exitCode = 2;
    return;
  }
  const folder = createBenchFolder('bench');
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(measurements)) {
    if (names.length > 0 ? !names.includes(name) : ON_DEMAND.includes(name)) continue;
    say(`Measuring ${name} …`);
    rows.push(...(await measure(join(folder, name), isQuick)));
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  console.log(renderTable(rows));
}

function renderTable(rows: readonly Row[]): string {
  const lines = rows.map(({ what, measured, spread, target, met }) => [
    what,
    measured,
    spread,
    target,
    met ? 'yes' : 'no',
  ]);
  const all = [['what', 'measured', 'spread', 'target', 'met'], ...lines];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  const [head, ...body] = all.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [head, rule, ...body].join('\n');
}

const [first, folder, agent] = process.argv.slice(2);
if (first === WORKER && folder !== undefined && agent !== undefined) await runWorker(folder, agent);
else if (first === RECOVERY_WORKER && folder !== undefined) await runRecoveryWorker(JSON.parse(folder) as Order);
else if (first === PEERS_WRITER && folder !== undefined) await runPeersWriter(JSON.parse(folder) as WriterOrder);
else if (first === 'brief') await runBriefStories(process.argv.slice(3));
else if (first === 'search') await (await import('./search/main.ts')).runSearch(process.argv.slice(3), say);
else if (first === 'recovery') await runRecovery(process.argv.slice(3), say);
else if (first === 'peers') await runPeers(process.argv.slice(3), say);
else await main(process.argv.slice(2));

async function runBriefStories(names: readonly string[]): Promise<void> {
  // Loaded here because its tokenizers take several times as long to load as a worker takes to start.
  const { runBrief } = await import('./brief/main.ts');
  await runBrief(names, say);
}

async function runRecoveryWorker(order: Order): Promise<void> {
  const scenario = readSuite().scenarios.find(({ name }) => name === order.scenario);
  if (scenario) await work(order, await findTool(order.tool), scenario);
}
