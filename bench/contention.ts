import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { EventOf } from '../src/core/journal/event.ts';
import { auditRun } from '../src/engine/audit.ts';
import { openHoldfast } from '../src/holdfast.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { createWorkspace } from '../src/workspace/workspace.ts';
import type { Row } from './measure.ts';

const PROCESSES = 8;
const CHECKPOINTS = 100;
const RUN = 'bench';

/** Several processes write to one run as fast as they can; every acknowledged write must be in the journal. */
export async function measureContention(folder: string): Promise<Row[]> {
  const agents = Array.from({ length: PROCESSES }, (_, index) => `agent-${index + 1}`);
  const workspace = createWorkspace(folder);
  const holdfast = await openHoldfast({ dir: folder, person: 'bench' });
  await holdfast.init({ id: RUN, title: 'Contention' });
  for (const agent of agents) await holdfast.plan.add({ key: agent, title: `The step of ${agent}` });
  await holdfast.close();

  const exits = await Promise.all(
    agents.map(async (agent) => {
      const words = [process.argv[1] ?? '', WORKER, folder, agent];
      const [exitCode] = await once(spawn(process.execPath, words, { stdio: 'inherit' }), 'exit');
      return exitCode as number | null;
    }),
  );
  const refused = exits.filter((exitCode) => exitCode !== 0).length;

  const store = await openSqliteStore({ file: join(workspace.folder, 'journal.db') });
  try {
    const events = await store.journal.read(RUN, 0, 10 * PROCESSES * CHECKPOINTS);
    const found = new Set(
      events
        .filter((event): event is EventOf<'step.checkpointed'> => event.type === 'step.checkpointed')
        .map(({ body }) => `${body.step} ${body.name}`),
    );
    const expected = agents.flatMap((agent) =>
      Array.from({ length: CHECKPOINTS }, (_, number) => `${agent} ${number}`),
    );
    const lost = expected.filter((checkpoint) => !found.has(checkpoint)).length;
    const { chain, derived } = await auditRun(store, RUN);
    const isSound = chain.length === 0 && derived.length === 0;
    return [
      {
        what: `${PROCESSES} processes on one run, ${CHECKPOINTS} checkpoints each: updates lost`,
        measured: `${lost} of ${expected.length}`,
        spread: `${isSound ? 'chain and derived data valid' : 'THE JOURNAL IS NOT SOUND'}${refused > 0 ? `, ${refused} processes failed` : ''}`,
        target: '0',
        met: lost === 0 && isSound && refused === 0,
      },
    ];
  } finally {
    await store.close();
  }
}

/** The argument that makes this program one of the writing processes. */
export const WORKER = 'contention-worker';

export async function runWorker(folder: string, agent: string): Promise<void> {
  const holdfast = await openHoldfast({ dir: folder, agent });
  await holdfast.start({ key: agent });
  for (let number = 0; number < CHECKPOINTS; number++) await holdfast.checkpoint({ name: String(number) });
  await holdfast.close();
}
