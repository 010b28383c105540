import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseQuestion } from '../../src/core/search/query.ts';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import type { Identity } from '../../src/engine/execute.ts';
import { openMemoryStore } from '../../src/store/memory/store.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../../test/postgres-server.ts';
import { createBenchFolder } from '../folder.ts';
import { type Collection, readLocomo, readSdeBench } from './datasets.ts';

const USAGE = `npm run bench search -- --locomo FOLDER --sde FOLDER
FOLDER is a clone of github.com/snap-research/locomo or github.com/vectorize-io/sde-bench. Nothing is downloaded.`;

/** How often the text that answers a question, typed as it is, is found first, among the first five and ten; by store. */
export async function runSearch(words: readonly string[], say: (sentence: string) => void): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: { locomo: { type: 'string' }, sde: { type: 'string' } },
  });
  const sets = [
    ...(values.locomo ? [{ name: 'LoCoMo', collections: readLocomo(values.locomo), floor: [70, 91] as const }] : []),
    ...(values.sde ? [{ name: 'sde-bench', collections: readSdeBench(values.sde), floor: [75, 100] as const }] : []),
  ];
  if (sets.length === 0) {
    console.log(USAGE);
    process.exitCode = 2;
    return;
  }
  const folder = createBenchFolder('search');
  mkdirSync(folder, { recursive: true });
  const server = await startPostgres(join(folder, 'postgres'), false);
  const stores: Record<string, () => Promise<Store>> = {
    memory: async () => openMemoryStore(),
    SQLite: () => openSqliteStore({ file: join(folder, 'journal.db') }),
    PostgreSQL: () => openPostgresStore({ url: server.url }),
  };
  console.log('| data | store | questions | first | in five | in ten | all in five | nothing |');
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
  const orders = new Map<string, string>();
  try {
    for (const [store, open] of Object.entries(stores)) {
      const opened = await open();
      try {
        for (const { name, collections, floor } of sets) {
          say(`${name} on ${store} …`);
          const answers = await askAll(opened, collections);
          console.log(row(name, store, answers));
          for (const [category, some] of byCategory(answers)) console.log(row(`${name}, ${category}`, store, some));
          if (hitRate(answers, 1) < floor[0] || hitRate(answers, 5) < floor[1]) process.exitCode = 1;
          compareOrders(orders, name, store, answers);
        }
      } finally {
        await opened.close();
      }
    }
  } finally {
    await server.stop();
  }
}

interface Answer {
  category: string;
  wanted: readonly number[];
  /** The places of the texts that were found, best first. */
  found: readonly number[];
}

const agent: Identity = {
  actor: { kind: 'agent', name: 'bench' },
  evidence: 'library',
  session: null,
  key: null,
};

async function askAll(store: Store, collections: readonly Collection[]): Promise<Answer[]> {
  let seconds = 0;
  const now = (): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds++)).toISOString();
  const engine = createEngine({ store, now, probe: () => undefined, random: () => 0.5 });
  const answers: Answer[] = [];
  for (const { name, texts, questions } of collections) {
    const places = await record(engine, name, texts);
    for (const { text, category, answers: wanted } of questions) {
      const query = parseQuestion(text);
      const found = query ? await engine.search([name], query, { kinds: ['note'], offset: 0, limit: 50 }) : [];
      answers.push({ category, wanted, found: found.map(({ row }) => places.get(row.id) ?? -1) });
    }
  }
  return answers;
}

async function record(engine: Engine, run: string, texts: readonly string[]): Promise<Map<string, number>> {
  await engine.execute(run, { type: 'run.open', title: run, workspace: 'bench' }, agent);
  const places = new Map<string, number>();
  for (const [place, text] of texts.entries()) {
    const { events } = await engine.execute(run, { type: 'note.add', kind: 'worklog', text }, agent);
    for (const event of events) if (event.type === 'note.added') places.set(event.body.id, place);
  }
  return places;
}

const share = (answers: readonly Answer[], fits: (answer: Answer) => boolean): number =>
  (100 * answers.filter(fits).length) / answers.length;

const hitRate = (answers: readonly Answer[], most: number): number =>
  share(answers, ({ wanted, found }) => found.slice(0, most).some((place) => wanted.includes(place)));

function row(name: string, store: string, answers: readonly Answer[]): string {
  const allInFive = share(answers, ({ wanted, found }) => wanted.every((place) => found.slice(0, 5).includes(place)));
  const nothing = share(answers, ({ found }) => found.length === 0);
  const figures = [hitRate(answers, 1), hitRate(answers, 5), hitRate(answers, 10), allInFive, nothing];
  return `| ${[name, store, answers.length, ...figures.map((figure) => figure.toFixed(1))].join(' | ')} |`;
}

function byCategory(answers: readonly Answer[]): [string, Answer[]][] {
  const categories = [...new Set(answers.map(({ category }) => category))].sort();
  return categories.map((category) => [category, answers.filter((answer) => answer.category === category)]);
}

/** All stores find the same, in the same order. */
function compareOrders(orders: Map<string, string>, name: string, store: string, answers: readonly Answer[]): void {
  const order = JSON.stringify(answers.map(({ found }) => found));
  if ((orders.get(name) ?? order) === order) orders.set(name, order);
  else {
    console.log(`${store} orders the results of ${name} in another way.`);
    process.exitCode = 1;
  }
}
