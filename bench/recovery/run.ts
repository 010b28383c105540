import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Databases } from '../databases.ts';
import type { Tool } from './adapter.ts';
import { finishNaively } from './agent.ts';
import { isToolMove, type Scenario } from './scenario.ts';
import { type Score, scoreOf } from './score.ts';
import type { Order } from './worker.ts';
import { openWorld } from './world.ts';

/** The argument that makes this program the worker. */
export const RECOVERY_WORKER = 'recovery-worker';
const RESUMED = 'second';

export interface Kill {
  moment: Moment;
  kind: 'between' | 'inside';
  score: Score;
}

export interface Plan {
  tool: Tool;
  scenario: Scenario;
  folder: string;
  installed: string;
  databases: Databases;
}

/** A moment of the work, the same for every tool: after a move, or at a part of its call. */
export interface Moment {
  scenario: string;
  move: number;
  /** Null after the move. */
  inside: number | null;
}

/** All moments of a scenario, ordered so that every prefix of the list is spread evenly over the whole work. */
export function momentsOf({ name, moves }: Scenario, inside: readonly number[]): Moment[] {
  const all = moves.flatMap((move, index): Moment[] => [
    ...(isToolMove(move) ? inside : []).map((part) => ({ scenario: name, move: index, inside: part })),
    { scenario: name, move: index, inside: null },
  ]);
  const placed = all.map((one, index) => ({ one, at: ((index + 0.5) * GOLDEN_RATIO) % 1 }));
  return placed.sort((a, b) => a.at - b.at).map(({ one }) => one);
}

/** Never in phase with a period of the list; offset above, so that the ends are not favoured. */
const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2;

/** How a worker is killed: as the order says, or after some milliseconds of a move. */
export type KillPoint = { order: Order['kill']; sweep?: { move: number; ms: number }; kind: Kill['kind'] };

/**
 * How a tool is killed at a moment, from a first run that is not killed: inside a call by time if it is a process, at one of
 * its writes if it reports them. Null if it cannot be killed there.
 */
export async function planKills(plan: Plan): Promise<(moment: Moment) => KillPoint | null> {
  const folder = join(plan.folder, 'unharmed');
  const database = await createDatabase(plan, folder);
  const reports = await runWorker(plan, { folder, database, kill: { never: true } });
  await rm(plan, folder);
  for (const [index, move] of plan.scenario.moves.entries()) {
    if (!reports.has(index)) throw new Error(`${plan.tool.name} did not get through move ${index}, ${move.do}.`);
  }
  return ({ move, inside }) => {
    const { ms, points } = reports.get(move) as MoveReport;
    if (inside === null) return { order: { after: move }, kind: 'between' };
    if (plan.tool.isProcess) return { order: { never: true }, sweep: { move, ms: ms * inside }, kind: 'inside' };
    if (points === 0) return null;
    return { order: { inside: move, point: Math.floor(points * inside) }, kind: 'inside' };
  };
}

/** Kills the worker at one point, resumes, and scores the result. */
export async function killAndResume(plan: Plan, moment: Moment, killPoint: KillPoint, number: number): Promise<Kill> {
  const { tool, scenario, installed } = plan;
  const folder = join(plan.folder, `killed-${number}`);
  const database = await createDatabase(plan, folder);
  await runWorker(plan, { folder, database, kill: killPoint.order }, killPoint.sweep);
  const world = openWorld(folder);
  const edited = lastFile(scenario, world.acknowledged());
  if (edited !== null) world.editOutside(edited);
  const adapter = await tool.open({ folder, installed, database, agent: RESUMED, between: () => undefined });
  try {
    const clock = () => performance.now();
    const { answer, took } = await finishNaively({ adapter, world, scenario, name: RESUMED }, clock);
    return {
      moment,
      kind: killPoint.kind,
      score: scoreOf({ scenario, world, answer, took, resumed: RESUMED, edited }),
    };
  } finally {
    await adapter.close();
    await rm(plan, folder);
  }
}

/** The file of the last acknowledged checkpoint, if its step was still in progress. */
function lastFile({ moves }: Scenario, acknowledged: number): string | null {
  const made = moves.slice(0, acknowledged);
  const checkpoint = made.findLast((move) => move.do === 'checkpoint');
  if (checkpoint === undefined) return null;
  // Work on the same file after it would be the worker's own change.
  const inFlight = moves.slice(made.indexOf(checkpoint) + 1, acknowledged + 1);
  const isDone = inFlight.some(
    (move) => (move.do === 'work' && move.file === checkpoint.file) || move.do === 'complete',
  );
  return isDone ? null : checkpoint.file;
}

interface MoveReport {
  ms: number;
  points: number;
}

async function runWorker(
  { tool, scenario, installed }: Plan,
  { folder, database, kill }: Pick<Order, 'folder' | 'database' | 'kill'>,
  sweep?: { move: number; ms: number },
): Promise<Map<number, MoveReport>> {
  openWorld(folder);
  const reportFile = `${folder}-report`;
  const order: Order = { tool: tool.id, scenario: scenario.name, folder, installed, database, kill, reportFile };
  const words = [process.argv[1] ?? '', RECOVERY_WORKER, JSON.stringify(order)];
  // Its own process group, so that the worker and the processes of the tool are killed together.
  const child = spawn(process.execPath, words, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const ended = once(child, 'close');
  const stop = sweep ? killWithin(child.pid ?? 0, reportFile, sweep) : () => undefined;
  const [code] = await ended;
  stop();
  if (code !== null && code !== 0) throw new Error(`The worker of ${tool.name} failed: ${complaint}`);
  return readReports(reportFile);
}

/** Waits until the move begins, then for the given time, and kills. */
function killWithin(group: number, reportFile: string, { move, ms }: { move: number; ms: number }): () => void {
  let last: NodeJS.Timeout | undefined;
  const watch = setInterval(() => {
    if (!existsSync(reportFile) || !readFileSync(reportFile, 'utf8').includes(`${move} begins`)) return;
    clearInterval(watch);
    last = setTimeout(() => killGroup(group), ms);
  }, 2);
  return () => {
    clearInterval(watch);
    clearTimeout(last);
  };
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has already ended: the move was shorter than the last time.
  }
}

function readReports(path: string): Map<number, MoveReport> {
  const began = new Map<number, bigint>();
  const reports = new Map<number, MoveReport>();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [move = '', word, at = '0', points = '0'] = line.split(' ');
    if (word === 'begins') began.set(Number(move), BigInt(at));
    if (word !== 'ended') continue;
    const ms = Number(BigInt(at) - (began.get(Number(move)) ?? 0n)) / 1e6;
    reports.set(Number(move), { ms, points: Number(points) });
  }
  rmSync(path, { force: true });
  return reports;
}

async function createDatabase({ tool, databases }: Plan, folder: string): Promise<string> {
  return tool.needsDatabase ? databases.create(databaseOf(folder)) : '';
}

function databaseOf(folder: string): string {
  return `${basename(dirname(folder))}-${basename(folder)}`;
}

async function rm({ tool, databases }: Plan, folder: string): Promise<void> {
  if (tool.needsDatabase) await databases.drop(databaseOf(folder));
  for (const path of [folder, `${folder}-truth`, `${folder}-report`]) rmSync(path, { recursive: true, force: true });
}
