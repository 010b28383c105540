import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { estimateTokens } from '../../src/core/tokens.ts';
import { type Databases, openDatabases } from '../databases.ts';
import { createBenchFolder } from '../folder.ts';
import { inTurns, ratios } from '../measure.ts';
import { renderLines, times, writePage } from '../recovery/report.ts';
import type { Contender, Part, Peer } from './contender.ts';
import { groups } from './contenders.ts';
import { PAGE } from './page.ts';
import { measureTools } from './tools-list.ts';
import { writeAtOnce } from './writer.ts';

const SMALL_CHARACTERS = 200;
const STEP_CHARACTERS = 2048;
const WRITERS = 10;
const WRITES_PER_ROUND = 20;
const HISTORY = [10, 100, 1000];

/** `npm run bench peers`: all tools do the same work in turns; the figures are ratios to Holdfast. */
export async function runPeers(words: readonly string[], say: (sentence: string) => void): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: { report: { type: 'boolean', default: false }, rounds: { type: 'string' } },
  });
  const isQuick = positionals.includes('quick');
  const named = positionals.filter((word) => word !== 'quick');
  const isChosen = ({ id }: Peer): boolean => named.length === 0 || named.includes(id);
  const chosen = groups.map((group) => group.filter(isChosen)).filter((group) => group.length > 0);
  const folder = createBenchFolder('peers');
  const databases = openDatabases(join(folder, 'postgres'));
  const setup = { folder, databases, say };
  try {
    const tables = {
      times: await measureTimes(chosen, setup, Number(values.rounds ?? (isQuick ? 3 : 10))),
      parallel: await measureParallel(chosen.flat(), setup),
      growth: await measureGrowth(chosen.flat(), setup, isQuick ? 5_000 : 40_000),
      tools: await measureTools(join(folder, 'tools'), isQuick ? 1 : 3, say),
    };
    console.log(Object.values(tables).join('\n\n'));
    if (values.report) writePage('peers.md', PAGE, tables);
  } finally {
    await databases.stop();
  }
}

/** What all measurements share. */
interface Setup {
  folder: string;
  databases: Databases;
  say(sentence: string): void;
}

interface Opened {
  peer: Peer;
  contender: Contender;
  place: { folder: string; database: string; characters: number };
  /** Its disk use; for a database the growth since the start. */
  bytes(): Promise<number>;
}

/** Opens the tools that can be opened; the others are named with the reason. */
async function openAll(peers: readonly Peer[], part: Part, characters: number, setup: Setup): Promise<Opened[]> {
  const opened: Opened[] = [];
  for (const peer of peers) {
    if (peer.parts?.includes(part) === false) continue;
    const folder = join(setup.folder, part, peer.id);
    const name = `${part}-${peer.id}`;
    mkdirSync(folder, { recursive: true });
    try {
      const database = peer.needsDatabase ? await setup.databases.create(name) : '';
      const place = { folder, database, characters };
      const contender = await peer.open({ ...place, isJoining: false, say: setup.say });
      const empty = peer.needsDatabase ? await setup.databases.bytesOf(name) : 0;
      const bytes = async (): Promise<number> =>
        contender.folder === null ? (await setup.databases.bytesOf(name)) - empty : sizeOf(contender.folder);
      opened.push({ peer, contender, place, bytes });
    } catch (error) {
      setup.say(`${peer.id} is left out: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
    }
  }
  return opened;
}

async function measureTimes(chosen: readonly (readonly Peer[])[], setup: Setup, rounds: number): Promise<string> {
  const rows: string[][] = [];
  for (const group of chosen) {
    const all = (await openAll(group, 'times', SMALL_CHARACTERS, setup)).map(({ contender }) => contender);
    rows.push(...(await timesOf(all, rounds, setup.say)));
    for (const one of all) await one.close();
  }
  const head = ['tool', 'level', 'a write', 'a write as a process', 'a read', 'a read as a process'];
  return renderLines(head, rows);
}

/** All tools of one group in turns, compared with the first one. */
async function timesOf(all: readonly Contender[], rounds: number, say: (sentence: string) => void) {
  let number = 0;
  const turns = async (
    what: string,
    rounds: number,
    count: number,
    of: (one: Contender) => ((number: number) => Promise<void>) | null,
  ) => {
    say(`${what} …`);
    const able = all.flatMap((one) => {
      const work = of(one);
      const repeated = async (): Promise<void> => {
        for (let time = 0; time < count; time++) await work?.(number++);
      };
      return work ? [[one.name, repeated] as const] : [];
    });
    const taken = await inTurns(rounds + 1, Object.fromEntries(able));
    // The first round prepares statements and fills caches.
    const own = taken[all[0]?.name ?? '']?.slice(1) ?? [];
    return new Map(able.map(([name]) => [name, times(ratios(taken[name]?.slice(1) ?? [], own).median)]));
  };
  const processRounds = Math.ceil(rounds / 3);
  const write = await turns('Writing in one process', rounds, WRITES_PER_ROUND, (one) => one.write);
  const read = await turns('Reading in one process', rounds, WRITES_PER_ROUND, (one) => one.read);
  const writeAsProcess = await turns('Writing as processes', processRounds, 1, (one) => one.writeAsProcess);
  const readAsProcess = await turns('Reading as processes', processRounds, 1, (one) => one.readAsProcess);
  return all.map(({ name, level }) => [
    ...[name, level, write.get(name) ?? 'no library', writeAsProcess.get(name) ?? 'no program'],
    ...[read.get(name) ?? 'no library', readAsProcess.get(name) ?? 'no program'],
  ]);
}

async function measureParallel(peers: readonly Peer[], setup: Setup): Promise<string> {
  const rows: string[][] = [];
  for (const { peer, contender, place } of await openAll(peers, 'parallel', SMALL_CHARACTERS, setup)) {
    setup.say(`${WRITERS} writers at once, ${contender.name} …`);
    const numbers = Array.from({ length: WRITERS }, (_, index) => index);
    const { writeAsProcess } = contender;
    const acknowledged = writeAsProcess
      ? await whoSucceed(numbers, writeAsProcess)
      : await writeAtOnce(numbers.map((number) => ({ ...place, peer: peer.id, number })));
    const kept = await contender.kept();
    const lost = acknowledged.filter((number) => !kept.has(number)).length;
    const how = writeAsProcess ? 'its program' : 'its library, or one server each';
    rows.push([contender.name, how, `${acknowledged.length} of ${WRITERS}`, String(lost)]);
    await contender.close();
  }
  return renderLines(['tool', 'ten processes use', 'writes acknowledged', 'of these lost'], rows);
}

async function whoSucceed(numbers: readonly number[], write: (number: number) => Promise<void>): Promise<number[]> {
  const done = await Promise.allSettled(numbers.map((number) => write(number)));
  return numbers.filter((_, index) => done[index]?.status === 'fulfilled');
}

/**
 * A long history: its disk use, and what a resuming agent has to read and wait for. A program takes minutes for a
 * thousand writes, so each has a time limit and is measured at the lengths that it reaches.
 */
async function measureGrowth(peers: readonly Peer[], setup: Setup, limitMs: number): Promise<string> {
  const rows: string[][] = [];
  let own = 0;
  for (const peer of peers) {
    const [opened] = await openAll([peer], 'growth', STEP_CHARACTERS, setup);
    if (opened === undefined) continue;
    const { contender } = opened;
    setup.say(`A long history, ${contender.name} …`);
    const { written, tokens, slower } = await grow(contender, limitMs);
    await contender.close();
    const share = (await opened.bytes()) / (written * STEP_CHARACTERS);
    own ||= share;
    rows.push([
      ...[contender.name, written.toLocaleString('en'), `${share.toFixed(1)}×`, times(share / own)],
      ...[...tokens, slower],
    ]);
    rmSync(join(setup.folder, 'growth', peer.id), { recursive: true, force: true });
  }
  const head = HISTORY.map((length) => `tokens to resume after ${length.toLocaleString('en')}`);
  return renderLines(
    [
      ...['tool', 'entries', 'disk, ratio to the text', 'ratio to Holdfast'],
      ...[...head, 'resume at the end, ratio to after 10'],
    ],
    rows,
  );
}

async function grow(contender: Contender, limitMs: number) {
  const write = contender.write ?? contender.writeAsProcess;
  const end = performance.now() + (contender.write ? limitMs : limitMs / 2);
  const tokens: string[] = [];
  const waits: number[] = [];
  let written = 0;
  for (const length of HISTORY) {
    for (; written < length && performance.now() < end; written++) await write?.(written);
    if (written < length) {
      tokens.push('not reached');
      continue;
    }
    const { text, ms } = await resumeOf(contender);
    waits.push(ms);
    tokens.push(text === null ? 'refused' : estimateTokens(text).toLocaleString('en'));
  }
  if (written > (HISTORY[waits.length - 1] ?? 0)) waits.push((await resumeOf(contender)).ms);
  return { written, tokens, slower: waits.length > 1 ? times((waits.at(-1) ?? 0) / (waits[0] ?? 1)) : '' };
}

/** The fastest of three: a resume is short, and other processes disturb it. */
async function resumeOf(contender: Contender): Promise<{ text: string | null; ms: number }> {
  let text: string | null = null;
  let ms = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 3; time++) {
    const began = performance.now();
    text = await contender.resumeText().catch(() => null);
    ms = Math.min(ms, performance.now() - began);
  }
  return { text, ms };
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
