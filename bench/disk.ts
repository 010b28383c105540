import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine } from '../src/engine/engine.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import type { Row } from './measure.ts';

const STEPS = 1000;
const SUMMARY_CHARACTERS = 2048;
const LIMIT_MB = 10;

/** Disk use of a long plan whose steps have a summary of two kilobytes each. */
export async function measureDisk(folder: string): Promise<Row[]> {
  mkdirSync(folder, { recursive: true });
  const store = await openSqliteStore({ file: join(folder, 'journal.db') });
  const now = () => new Date().toISOString();
  const { execute } = createEngine({ store, now, probe: () => undefined, random: Math.random });
  const identity = {
    actor: { kind: 'agent' as const, name: 'claude' },
    evidence: 'agent-shell' as const,
    session: null,
    key: null,
  };
  const keys = Array.from({ length: STEPS }, (_, index) => `t${index + 1}`);
  await execute('bench', { type: 'run.open', title: 'Disk', workspace: 'w-bench' }, identity);
  const steps = keys.map((key) => ({ key, title: `Step ${key}`, kind: 'task' as const }));
  await execute('bench', { type: 'plan.add', steps }, identity);
  for (const [index, key] of keys.entries()) {
    await execute('bench', { type: 'step.start', step: key }, identity);
    await execute('bench', { type: 'step.complete', step: key, summary: words(index) }, identity);
  }
  await store.close();
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const megabytes = bytes / 1e6;
  return [
    {
      what: `disk for ${STEPS.toLocaleString('en')} steps of 2 KB each`,
      measured: `${megabytes.toFixed(1)} MB`,
      spread: `${(bytes / (STEPS * SUMMARY_CHARACTERS)).toFixed(1)} times the text itself`,
      target: `at most ${LIMIT_MB} MB`,
      met: megabytes <= LIMIT_MB,
    },
  ];
}

const VOCABULARY =
  'ledger booking payment refund rounding path caller test table index migration token replay traffic region audit'.split(
    ' ',
  );

/** Text that differs for each step, made of words that recur in a project. */
function words(seed: number): string {
  let text = `Step ${seed}:`;
  for (let state = seed + 1; text.length < SUMMARY_CHARACTERS; ) {
    state = (state * 48_271) % 0x7fffffff;
    text += ` ${state % 5 === 0 ? state.toString(36) : VOCABULARY[state % VOCABULARY.length]}`;
  }
  return text.slice(0, SUMMARY_CHARACTERS);
}
