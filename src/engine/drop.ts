import { Fault, quoted } from '../core/fault.ts';
import type { Journal, Tombstone } from '../store/journal.ts';
import type { Store } from '../store/store.ts';

/** Who drops a run, when and why. */
export type Dropper = Pick<Tombstone, 'at' | 'by' | 'reason'>;

const MAX_ATTEMPTS = 20;

/** Removes a run and leaves its tombstone. */
export async function dropRun({ journal, place }: Store, run: string, { at, by, reason }: Dropper): Promise<Tombstone> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [head] = await journal.heads({ run });
    if (!head) throw await missingRun(journal, run, place);
    const { workspace, version, hash, updatedAt } = head;
    // Never before an event of the run: the time tells what went with it.
    const tombstone = { run, workspace, version, hash, at: at > updatedAt ? at : updatedAt, by, reason };
    if (await journal.drop(tombstone)) return tombstone;
  }
  throw new Fault('conflict', `Run ${quoted(run)} is being changed by others without pause; it was not dropped.`, {
    hints: ['Try again.'],
    data: { run, recorded: 'no' },
  });
}

/** The refusal of a command on a run that is not there, and why it is not if that is known. */
export async function missingRun({ dropped }: Pick<Journal, 'dropped'>, run: string, place: string): Promise<Fault> {
  const [last] = await dropped({ runs: [run] });
  if (last) {
    return new Fault('not_found', wasDropped(last), {
      hints: ['`holdfast runs` lists those that are there, `holdfast runs --dropped` those that were dropped.'],
      data: { run, dropped: last },
    });
  }
  return new Fault('not_found', `There is no run ${quoted(run)} in ${place}.`, {
    hints: ['See the runs with `holdfast runs`, or open one with `holdfast init`.'],
    data: { run },
  });
}

/** `Run x was dropped by ada at … because of …`. */
export function wasDropped({ run, at, by, reason }: Tombstone): string {
  return `Run ${quoted(run)} was dropped at ${at} by ${quoted(by.actor.name)}: ${quoted(reason)}.`;
}
