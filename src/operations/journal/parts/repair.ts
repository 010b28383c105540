import { basename } from 'node:path';
import { Fault, quoted } from '../../../core/fault.ts';
import type { Event } from '../../../core/journal/event.ts';
import { chainVerifier } from '../../../core/journal/verify.ts';
import { type ImportRun, openImport } from '../../../engine/import-run.ts';
import { contentOf } from '../../../engine/values.ts';
import { openRemains, type Remains } from '../../../store/sqlite/remains.ts';
import { pathExists } from '../../../workspace/read.ts';
import { stampedName } from '../../../workspace/write.ts';

/** What is left of a run: its first events, as far as they verify. */
interface Left {
  run: string;
  events: number;
  /** The recorded version of the run, or its last readable event. */
  version: number;
  why: string | null;
}

export interface Damage {
  findings: { code: string; level: 'error' | 'warning'; at: string; message: string }[];
  runs: { run: string; events: number }[];
}

/**
 * Examines a damaged journal: what the database reports about itself, and which runs still verify. With `repair`, those
 * are copied into a new file beside it. The damaged file is only read.
 */
export async function examineDamage(file: string, repair: boolean, now: string): Promise<Damage> {
  const remains = openRemains(file);
  try {
    const left = await whatIsLeft(remains);
    const whole = left.filter(({ events }) => events > 0);
    const findings: Damage['findings'] = remains.problems.map((message) => error('store', file, message));
    findings.push(...left.flatMap((one) => (one.why === null ? [] : [error('chain', one.run, one.why)])));
    if (whole.length === 0) {
      const message = 'Nothing in it can be read. The file was left as it is: keep it, and look for a copy.';
      findings.push(error('nothing_left', file, message));
    } else if (repair) findings.push(await repaired(remains, file, whole, now));
    else findings.push(error('salvageable', file, `${countOf(whole)} can be repaired: \`holdfast doctor --repair\`.`));
    return { findings, runs: whole.map(({ run, events }) => ({ run, events })) };
  } finally {
    remains.close();
  }
}

function error(code: string, at: string, message: string): Damage['findings'][number] {
  return { code, level: 'error', at, message };
}

function countOf(left: readonly Left[]): string {
  const events = left.reduce((sum, one) => sum + one.events, 0);
  return `${events} events of ${left.length === 1 ? `run ${quoted(left[0]?.run ?? '')}` : `${left.length} runs`}`;
}

async function whatIsLeft(remains: Remains): Promise<Left[]> {
  const cuts = new Map<string, number>();
  const versions = remains.heads();
  const why = new Map<string, string>();
  // A removed event may be the erasure of an earlier text, so everything is verified again without it.
  for (let again = true; again; ) {
    again = false;
    const seen = new Map<string, { verifier: ReturnType<typeof chainVerifier>; last: number }>();
    await remains.scan((event) => {
      versions.set(event.run, Math.max(versions.get(event.run) ?? 0, event.version));
      if (event.version > (cuts.get(event.run) ?? Number.POSITIVE_INFINITY)) return;
      const one = seen.get(event.run) ?? { verifier: chainVerifier(), last: 0 };
      seen.set(event.run, one);
      one.verifier.push(event);
      one.last = event.version;
    });
    for (const [run, { verifier, last }] of seen) {
      const [first] = verifier.finish();
      if (first === undefined) cuts.set(run, last);
      else {
        // Lower each time, even if the damage changed version numbers: the loop must end.
        cuts.set(run, Math.min(first.version - 1, (cuts.get(run) ?? Number.POSITIVE_INFINITY) - 1));
        if (!why.has(run)) why.set(run, first.message);
        again = true;
      }
    }
  }
  return [...versions].map(([run, version]) => {
    const events = cuts.get(run) ?? 0;
    if (events === version) return { run, events, version, why: null };
    const reason = why.get(run) ?? `Event ${events + 1} cannot be read.`;
    return { run, events, version, why: `${reason} Of ${version} events the first ${events} verify.` };
  });
}

async function repaired(remains: Remains, file: string, left: readonly Left[], now: string) {
  const target = stampedName(file, 'repaired', now);
  if (pathExists(target)) {
    throw new Fault('conflict', `${target} already exists.`, { hints: ['Nothing was written. Try again.'] });
  }
  const { openSqliteStore } = await import('../../../store/sqlite/store.ts');
  const store = await openSqliteStore({ file: target });
  try {
    const limits = new Map(left.map(({ run, events }) => [run, events]));
    const imports = new Map<string, ImportRun>();
    await remains.scan(async (event: Event) => {
      if (event.version > (limits.get(event.run) ?? 0)) return;
      const importing = imports.get(event.run) ?? (await openImport(store, event.run));
      imports.set(event.run, importing);
      await importing.add(event);
      for (const { sha256 } of event.type === 'value.put' ? event.body.entries : []) {
        const value = remains.value(event.run, sha256);
        if (value && contentOf(value) !== null) await importing.addValue(value);
      }
    });
    for (const importing of imports.values()) await importing.finish();
    for (const tombstone of remains.tombstones()) await store.journal.drop(tombstone);
    // It takes the place of the damaged one: what is missing in it is then noticed as lost.
    const { id, epoch } = await store.identity();
    await store.identify({ id: remains.store() ?? id, epoch });
  } finally {
    await store.close();
  }
  const message = [
    `${countOf(left)} are in ${target}, a separate journal; the damaged one was left as it is.`,
    `Look at it with \`holdfast runs --store ${target}\`.`,
    `To continue with it, stop what uses the journal, move ${basename(file)} with its -wal and -shm to another folder, and give the repaired file its name.`,
  ].join(' ');
  return error('repaired', file, message);
}
