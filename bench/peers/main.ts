import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { estimateTokens } from '../../src/core/tokens.ts';
import { inTurns, ratios } from '../measure.ts';
import { renderLines, times, writePage } from '../recovery/report.ts';
import type { Contender } from './contender.ts';
import { type Opening, openings } from './contenders.ts';
import { PAGE } from './page.ts';
import { measureTools } from './tools-list.ts';

const SMALL_CHARACTERS = 200;
const STEP_CHARACTERS = 2048;
const WRITERS = 10;
const WRITES_PER_ROUND = 20;
const HISTORY = [10, 100, 1000];

/** `npm run bench peers`: the same work by all in turns, as ratios to Holdfast. */
export async function runPeers(words: readonly string[], say: (sentence: string) => void): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: { report: { type: 'boolean', default: false }, rounds: { type: 'string' } },
  });
  const isQuick = positionals.includes('quick');
  const named = positionals.filter((word) => word !== 'quick');
  const rounds = Number(values.rounds ?? (isQuick ? 3 : 10));
  const chosen = Object.entries(openings).filter(([id]) => named.length === 0 || named.includes(id));
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-peers-'));
  try {
    const tables = {
      times: await measureTimes(chosen, join(folder, 'times'), rounds, say),
      parallel: await measureParallel(chosen, join(folder, 'parallel'), say),
      growth: await measureGrowth(chosen, join(folder, 'growth'), isQuick ? 100 : 1000, say),
      tools: await measureTools(join(folder, 'tools'), say),
    };
    console.log(Object.values(tables).join('\n\n'));
    if (values.report) writePage('peers.md', PAGE, tables);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Chosen = readonly (readonly [string, Opening])[];

/** Opens those that can be opened; who cannot is named with the reason. */
async function openAll(
  chosen: Chosen,
  folder: string,
  characters: number,
  say: (sentence: string) => void,
): Promise<Contender[]> {
  const opened: Contender[] = [];
  for (const [id, open] of chosen) {
    try {
      opened.push(await open(join(folder, id), characters, say));
    } catch (error) {
      say(`${id} is left out: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
    }
  }
  return opened;
}

async function measureTimes(chosen: Chosen, folder: string, rounds: number, say: (sentence: string) => void) {
  const all = await openAll(chosen, folder, SMALL_CHARACTERS, say);
  let number = 0;
  const repeat = (count: number, work: (number: number) => Promise<void>) => async (): Promise<void> => {
    for (let time = 0; time < count; time++) await work(number++);
  };
  const turns = async (count: number, of: (one: Contender) => ((number: number) => Promise<void>) | null) => {
    const able = all.flatMap((one) => {
      const work = of(one);
      return work ? [[one.name, repeat(count, work)] as const] : [];
    });
    const taken = await inTurns(rounds + 1, Object.fromEntries(able));
    // The first round prepares statements and fills caches.
    const own = taken[all[0]?.name ?? '']?.slice(1) ?? [];
    return new Map(able.map(([name]) => [name, times(ratios(taken[name]?.slice(1) ?? [], own).median)]));
  };
  say('Writing in one process …');
  const write = await turns(WRITES_PER_ROUND, ({ write }) => write);
  say('Reading in one process …');
  const read = await turns(WRITES_PER_ROUND, ({ read }) => read);
  say('Writing as processes …');
  const processes = await turns(1, ({ writeAsProcess }) => writeAsProcess);
  const rows = all.map(({ name, level }) => [
    ...[name, level, write.get(name) ?? 'no library'],
    ...[processes.get(name) ?? 'no program', read.get(name) ?? 'no library'],
  ]);
  for (const one of all) await one.close();
  return renderLines(
    ['tool', 'level', 'a state write', 'a state write as a process', 'reading the latest state'],
    rows,
  );
}

async function measureParallel(chosen: Chosen, folder: string, say: (sentence: string) => void): Promise<string> {
  const all = await openAll(chosen, folder, SMALL_CHARACTERS, say);
  const rows: string[][] = [];
  for (const one of all) {
    const { writeAsProcess } = one;
    if (writeAsProcess) {
      say(`${WRITERS} writers at once, ${one.name} …`);
      const numbers = Array.from({ length: WRITERS }, (_, index) => index);
      const done = await Promise.allSettled(numbers.map((number) => writeAsProcess(number)));
      const acknowledged = numbers.filter((number) => done[number]?.status === 'fulfilled');
      const kept = await one.kept();
      const lost = acknowledged.filter((number) => !kept.has(number)).length;
      rows.push([one.name, `${acknowledged.length} of ${WRITERS}`, String(lost)]);
    }
    await one.close();
  }
  return renderLines(['tool', 'writes acknowledged', 'of these lost'], rows);
}

/** A long history, step by step: what it takes on the disk, and what whoever resumes has to read. */
async function measureGrowth(
  chosen: Chosen,
  folder: string,
  longest: number,
  say: (sentence: string) => void,
): Promise<string> {
  // A program takes minutes for a thousand writes; those without a library are left out here.
  const all = (await openAll(chosen, folder, STEP_CHARACTERS, say)).filter(({ write }) => write !== null);
  const lengths = HISTORY.filter((length) => length <= longest);
  const rows: string[][] = [];
  let own = 0;
  for (const one of all) {
    say(`${longest} steps of 2 KB, ${one.name} …`);
    const tokens: string[] = [];
    let written = 0;
    for (const length of lengths) {
      for (; written < length; written++) await one.write?.(written);
      const text = await one.resumeText?.().catch(() => null);
      tokens.push(typeof text === 'string' ? estimateTokens(text).toLocaleString('en') : 'refused');
    }
    await one.close();
    const bytes = sizeOf(one.folder);
    own ||= bytes;
    rows.push([one.name, `${(bytes / (longest * STEP_CHARACTERS)).toFixed(1)}×`, times(bytes / own), ...tokens]);
  }
  const head = lengths.map((length) => `tokens to resume after ${length.toLocaleString('en')}`);
  return renderLines(['tool', 'disk against the text itself', 'disk against Holdfast', ...head], rows);
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
