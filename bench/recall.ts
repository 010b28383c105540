import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { openHoldfast } from '../src/index.ts';
import { type Fact, RESUMING } from './facts.ts';
import { inTurns, type Row, ratios } from './measure.ts';
import { buildStory, type Story } from './recall-history.ts';

export interface RecallOptions {
  folder: string;
  longest: number;
  rounds: number;
  say(sentence: string): void;
  print(text: string): void;
}

const LENGTHS = [100, 1000, 10_000, 100_000];
const BUDGETS = [500, 1000, 2000, 4000];
const DEFAULT_BUDGET = 2000;
/** Fixed, so that every run plants the same facts at the same points. */
const SEED = 20_260_101;
const LAST_LINES = 200;

/**
 * Plants known facts in histories of growing length and counts how many of them the brief includes, compared with the
 * files that people keep by hand.
 */
export async function measureRecall({ folder, longest, rounds, say, print }: RecallOptions): Promise<Row[]> {
  const stories: Story[] = [];
  for (const [index, events] of LENGTHS.filter((length) => length <= longest).entries()) {
    say(`Writing a history of ${events} events …`);
    stories.push(await buildStory(join(folder, String(events)), events, SEED + index));
  }
  const briefs: Measured[] = [];
  for (const story of stories) {
    for (const budget of BUDGETS) briefs.push(await measureBrief(story, budget));
  }
  say('Timing …');
  const contenders = Object.fromEntries(
    stories.map((story) => [story.events, async () => void (await resume(story, DEFAULT_BUDGET))]),
  );
  const times = await inTurns(rounds, contenders);
  const shortest = times[stories[0]?.events ?? 0] ?? [];
  const slower = (events: number) => ratios(times[events] ?? [], shortest);
  print(`${renderBriefs(briefs, (events) => `${slower(events).median.toFixed(2)}×`)}\n`);
  print(`${renderTable(FILE_HEAD, stories.flatMap(fileRows))}\n`);
  for (const { events, budget, missed } of briefs) {
    if (missed.length > 0) say(`Missing, ${events} events at ${budget} tokens: ${missed.join(', ')}.`);
  }
  return targetRows(briefs);
}

interface Measured {
  events: number;
  budget: number;
  must: number;
  decided: number;
  estimated: number;
  tokens: number;
  missed: string[];
}

async function resume({ folder }: Story, budget: number): Promise<{ text: string; budget: { used: number } }> {
  const holdfast = await openHoldfast({ dir: folder, agent: RESUMING });
  try {
    return await holdfast.resume({ budget });
  } finally {
    await holdfast.close();
  }
}

async function measureBrief(story: Story, budget: number): Promise<Measured> {
  const { text, budget: spent } = await resume(story, budget);
  return {
    events: story.events,
    budget,
    ...recallOf(story.facts, text),
    estimated: spent.used,
    tokens: countTokens(text),
    missed: story.facts.filter((fact) => !isTold(fact, text)).map((fact) => fact.what),
  };
}

function isTold(fact: Fact, text: string): boolean {
  return fact.words.every((word) => text.includes(word));
}

/** The share of the facts of each column that a text includes. */
function recallOf(facts: readonly Fact[], text: string): { must: number; decided: number } {
  const share = (column: Fact['column']): number => {
    const those = facts.filter((fact) => fact.column === column);
    return those.filter((fact) => isTold(fact, text)).length / those.length;
  };
  return { must: share('must'), decided: share('decided') };
}

/** Line by line: a tokenizer needs much memory for megabytes at once, and tokens rarely span a line end. */
function countTokens(text: string): number {
  if (text.length < 100_000) return encode(text).length;
  return text.split('\n').reduce((sum, line) => sum + encode(`${line}\n`).length, 0);
}

function renderBriefs(briefs: readonly Measured[], slower: (events: number) => string): string {
  const rows = briefs.map(({ events, budget, must, decided, estimated, tokens }) => [
    figure(events),
    figure(budget),
    percent(must),
    percent(decided),
    figure(estimated),
    figure(tokens),
    tokens <= budget ? 'yes' : 'no',
    budget === DEFAULT_BUDGET ? slower(events) : '',
  ]);
  return renderTable(BRIEF_HEAD, rows);
}

const BRIEF_HEAD = [
  ...[
    'events',
    'budget',
    'must-know facts included',
    'decisions and questions included',
    'tokens, estimated',
    'tokens, o200k',
  ],
  ...['within the budget', 'time, ratio to the shortest'],
];
const FILE_HEAD = [
  'events',
  'what is read',
  'must-know facts included',
  'decisions and questions included',
  'tokens, o200k',
];

function fileRows({ events, facts, file }: Story): string[][] {
  const state = file.render().split('\n');
  const log = file.renderLog().split('\n');
  const read: [string, string[]][] = [
    ['STATE.md, whole', state],
    [`STATE.md, first ${LAST_LINES} lines`, state.slice(0, LAST_LINES)],
    [`STATE.md, last ${LAST_LINES} lines`, state.slice(-LAST_LINES)],
    [`work log, last ${LAST_LINES} lines`, log.slice(-LAST_LINES)],
  ];
  return read.map(([what, lines]) => {
    const text = lines.join('\n');
    const { must, decided } = recallOf(facts, text);
    return [figure(events), what, percent(must), percent(decided), figure(countTokens(text))];
  });
}

function targetRows(briefs: readonly Measured[]): Row[] {
  const usual = briefs.filter(({ budget }) => budget === DEFAULT_BUDGET);
  const least = Math.min(...usual.map(({ must }) => must));
  const most = Math.max(...briefs.map(({ tokens, budget }) => tokens / budget));
  const spread = `${usual.length} lengths`;
  return [
    {
      what: `must-know facts included at ${DEFAULT_BUDGET} tokens, the worst length`,
      measured: percent(least),
      spread,
      target: '100 %',
      met: least === 1,
    },
    {
      what: 'share of the budget used, the fullest brief',
      measured: percent(most),
      spread: `${briefs.length} briefs`,
      target: 'at most 100 %',
      met: most <= 1,
    },
  ];
}

const percent = (share: number): string => `${Math.floor(share * 100)} %`;
const figure = (number: number): string => number.toLocaleString('en');

function renderTable(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
