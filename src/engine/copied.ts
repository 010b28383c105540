import { Fault, quoted } from '../core/fault.ts';
import { GENESIS, type Stamp, seal } from '../core/journal/chain.ts';
import type { Draft } from '../core/journal/event.ts';
import type { Store } from '../store/store.ts';
import { rebuildRun } from './audit.ts';
import { foldRun } from './fold-run.ts';
import { headOf } from './head-columns.ts';

/** Who notices a copy, and where it comes from. */
export interface Copied extends Pick<Stamp, 'at' | 'actor' | 'evidence'> {
  /** The clone that the folder was copied from. */
  clone: string;
  /** The run was recorded on this machine, up to its last event. */
  isOwn: boolean;
}

const MAX_ATTEMPTS = 20;

/**
 * Takes a run of a copied folder for what its events say: its sessions are in another folder, what is derived is derived
 * again, and unless it is our own it counts as imported. Fault `corrupt`: its events do not verify.
 */
export async function settleCopied(store: Store, run: string, { clone, isOwn, ...by }: Copied): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { state, chain, lastHash, fold } = await foldRun(store.journal, run);
    const [head] = await store.journal.heads({ run });
    const { version } = state;
    if (!state.run || chain.length > 0 || head?.version !== version || head.hash !== lastHash)
      throw damagedCopy(store.place, run);
    const ended = [...state.sessions.values()].map(
      ({ id, seenAt }): Draft => ({
        type: 'session.ended',
        basis: 'verified',
        body: { id, reason: 'crashed', evidence: ['The folder was copied.'], lastSeenAt: seenAt },
      }),
    );
    const ranges = [{ from: 1, upTo: version }];
    const mark: Draft = {
      type: 'run.imported',
      basis: 'verified',
      body: { upTo: version, head: lastHash, clone, ranges },
    };
    const drafts = isOwn ? ended : [...ended, mark];
    const last = { version, hash: version === 0 ? GENESIS : lastHash };
    const events = seal(drafts, { run, ...by, session: null, key: null }, last);
    for (const event of events) fold(event);
    const batch = { run, expected: version, events, head: headOf(state), rows: [] };
    const { outcome } = events.length > 0 ? await store.journal.append([batch]) : { outcome: 'appended' };
    if (outcome !== 'appended') continue;
    await rebuildRun(store, run);
    return;
  }
  throw new Fault('conflict', `Run ${quoted(run)} is being changed by others without pause.`, {
    hints: ['Try again.'],
  });
}

/** A run that cannot be marked must not be used as if it were our own, so nothing of the journal is. */
function damagedCopy(place: string, run: string): Fault {
  const message = `This folder is a copy, and run ${quoted(run)} of the journal that came with it does not verify.`;
  return new Fault('corrupt', message, {
    hints: [
      `\`holdfast doctor --repair --store ${place}\` copies what verifies into a new file.`,
      'To begin a new journal, move this one away.',
    ],
    data: { run, file: place },
  });
}
