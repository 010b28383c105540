import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabases } from '../databases.ts';
import { createBenchFolder } from '../folder.ts';
import { installPeer } from '../peers/install.ts';
import type { Tool } from './adapter.ts';
import { type Result, renderRecovery, totalOf, writeRecoveryReport } from './report.ts';
import { type Kill, killAndResume, planKills } from './run.ts';
import { scenarios } from './scenario.ts';
import { findTool, tools } from './tools.ts';

/** `npm run bench recovery`: every tool is killed at every write, and the mistakes of a naive agent afterwards are counted. */
export async function runRecovery(words: readonly string[], say: (sentence: string) => void): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      adapter: { type: 'string', multiple: true, default: [] },
      scenario: { type: 'string', multiple: true },
      sweeps: { type: 'string' },
      every: { type: 'string' },
      minutes: { type: 'string' },
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
  const folder = createBenchFolder('recovery');
  const sweeps = Number(values.sweeps ?? (isQuick ? 1 : 3));
  const minutes = Number(values.minutes ?? (isQuick ? 2 : 10));
  const extent = values.every === undefined ? { minutes } : { every: Number(values.every) };
  const results = await measure({ chosen, folder, sweeps, extent, only: values.scenario, say });
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
  if (values.report) writeRecoveryReport(results, sweeps);
}

function isNamed(named: readonly string[], id: string): boolean {
  return named.length === 0 || named.includes(id);
}

interface Measuring {
  chosen: readonly Tool[];
  folder: string;
  sweeps: number;
  /** Kill at one in so many of the points, or at as many as fit into so many minutes. */
  extent: { every: number } | { minutes: number };
  only: readonly string[] | undefined;
  say(sentence: string): void;
}

async function measure({ chosen, folder, sweeps, extent, only, say }: Measuring): Promise<Result[]> {
  const played = scenarios.filter(({ name }) => !only || only.includes(name));
  const databases = openDatabases(join(folder, 'postgres'));
  const results = new Map<Tool, Result>();
  const installed = new Map<Tool, string>();
  const leaveOut = (tool: Tool, error: unknown): void => {
    const left = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    say(`${tool.name} is left out: ${left}`);
    results.set(tool, { tool, kills: [], points: 0, left });
  };
  for (const tool of chosen) {
    try {
      installed.set(tool, installPeer(tool.packages, say));
    } catch (error) {
      leaveOut(tool, error);
    }
  }
  const shares = shareOut(extent, installed.size * played.length);
  try {
    for (const tool of inOrderOfSpeed(installed.keys())) {
      const kills: Kill[] = [];
      let points = 0;
      try {
        for (const scenario of played) {
          const isOver = shares.next();
          const at = join(folder, `${chosen.indexOf(tool)}-${scenario.name}`);
          const plan = { tool, scenario, folder: at, installed: installed.get(tool) ?? '', databases, sweeps };
          const killPoints = await planKills(plan);
          points += killPoints.length;
          say(`${tool.name} can be killed at ${killPoints.length} points of ${scenario.name} …`);
          for (const [number, killPoint] of killPoints.entries()) {
            if (isOver(number, killPoints.length)) break;
            kills.push(await killAndResume(plan, killPoint, number));
          }
        }
        results.set(tool, { tool, kills, points, left: null });
      } catch (error) {
        leaveOut(tool, error);
      }
    }
  } finally {
    await databases.stop();
  }
  return chosen.flatMap((tool) => results.get(tool) ?? []);
}

/** The fast ones first: the rest of their share of time goes to the others, first of all to Holdfast. */
function inOrderOfSpeed(tools: Iterable<Tool>): Tool[] {
  const rank = ({ id, isProcess }: Tool): number => (id === 'holdfast' ? 1 : Number(isProcess) * 2);
  return [...tools].sort((a, b) => rank(a) - rank(b));
}

/** Gives each part, when it starts, its share of the remaining time. */
function shareOut(extent: Measuring['extent'], parts: number) {
  const end = performance.now() + ('minutes' in extent ? extent.minutes : 0) * 60_000;
  let left = parts;
  return {
    /** Whether the share is used up after so many of all kill points. */
    next(): (number: number, of: number) => boolean {
      if ('every' in extent) return (number, of) => number * extent.every >= of;
      const own = performance.now() + (end - performance.now()) / left;
      left -= 1;
      return (number) => number >= FEWEST_KILLS && performance.now() > own;
    },
  };
}

const FEWEST_KILLS = 3;
