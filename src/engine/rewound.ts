import { Fault, quoted } from '../core/fault.ts';
import type { Draft } from '../core/journal/event.ts';
import type { Head, Journal, Tombstone } from '../store/journal.ts';
import type { Position } from '../store/refusal.ts';

/** Events of a run that were acknowledged and are no longer in the store. */
export interface Rewound {
  run: string;
  first: number;
  last: number;
  /** When the last of them was recorded. */
  at: string;
  /** The hash of the last event that was known and is still there; null when none of the known ones is. */
  keptHash: string | null;
}

/** An event this process read or recorded. */
export interface Mark extends Position {
  at: string;
}

/**
 * What is gone of the events that a process knows, in version order. Only what was compared is named: a known event
 * whose hash is not in the store, and every version after the end of the run. Null if the run was dropped on purpose.
 */
export async function findRewound(journal: Journal, run: string, trail: readonly Mark[]): Promise<Rewound | null> {
  const isThere = async ({ version, hash }: Mark): Promise<boolean> =>
    (await journal.read(run, version - 1, 1)).some((event) => event.version === version && event.hash === hash);
  // A kept event has all events before it: the chain runs through them.
  let [kept, gone] = [-1, trail.length - 1];
  while (gone - kept > 1) {
    const middle = (kept + gone) >> 1;
    if (await isThere(trail[middle] as Mark)) kept = middle;
    else gone = middle;
  }
  const last = trail.at(-1) as Mark;
  const tombstones = await journal.dropped({ runs: [run] });
  if (tombstones.some((one) => wentWith(one, { run, ...last }))) return null;
  const keptMark = trail[kept];
  const [head] = await journal.heads({ run });
  const first = keptMark
    ? keptMark.version + 1
    : Math.min((trail[0] as Mark).version, (head ?? tombstones[0] ?? { version: 0 }).version + 1);
  return { run, first, last: last.version, at: last.at, keptHash: keptMark?.hash ?? null };
}

/** Whether an event went with a dropped run. Of earlier events only the time is known. */
function wentWith(
  { run, version, hash, at }: Tombstone,
  event: { run: string; version: number; hash: string; at: string },
): boolean {
  if (event.run !== run || event.version > version) return false;
  return event.version === version ? event.hash === hash : event.at <= at;
}

/** The last event of a run that someone knows. */
export interface KnownEvent extends Mark {
  run: string;
}

/** What became of known events. */
export interface Compared {
  /** The present heads of their runs. */
  heads: Head[];
  /** Those that are not in the store although nobody dropped their run. */
  rewound: Rewound[];
  /** The runs of those that went with a run that was dropped on purpose. */
  dropped: string[];
}

export async function compareKnown(journal: Journal, known: readonly KnownEvent[]): Promise<Compared> {
  if (known.length === 0) return { heads: [], rewound: [], dropped: [] };
  const heads = await journal.heads({ runs: [...new Set(known.map(({ run }) => run))] });
  const byRun = new Map(heads.map((head) => [head.run, head]));
  const rewound: Rewound[] = [];
  const dropped: string[] = [];
  for (const one of known) {
    const { run, version, hash } = one;
    const head = byRun.get(run);
    if (head?.version === version && head.hash === hash) continue;
    const [found] = head && head.version > version ? await journal.read(run, version - 1, 1) : [];
    if (found?.version === version && found.hash === hash) continue;
    const gone = await findRewound(journal, run, [one]);
    if (gone) rewound.push(gone);
    else dropped.push(run);
  }
  return { heads, rewound, dropped };
}

export function describeRewound({ run, first, last, at }: Rewound): string {
  const [events, are] = first === last ? [`event ${last}`, 'is'] : [`events ${first}-${last}`, 'are'];
  return `Run ${quoted(run)}: ${events}, acknowledged at ${at}, ${are} no longer in the store.`;
}

/** The record of a loss in the journal that is left. */
export function rewoundDraft(rewound: Rewound): Draft {
  const kept = rewound.keptHash === null ? [] : [`The last event that was kept has the hash ${rewound.keptHash}.`];
  const findings = [describeRewound(rewound), ...kept];
  return { type: 'recovery.made', basis: 'verified', body: { from: 'rewound', findings } };
}

const HINT =
  'A backup was restored, or the database was replaced. `holdfast log` shows what is there; `holdfast journal import FILE` brings back exported events.';

/** The refusal of a command whose run went back so far that it cannot be decided. */
export function rewoundFault(rewound: readonly Rewound[], message: string): Fault {
  return new Fault('rewound', message, { hints: [HINT], data: { rewound } });
}

/** A refusal that was decided on what is left also says what is gone. */
export function withRewound(fault: Fault, rewound: readonly Rewound[]): Fault {
  if (rewound.length === 0 || fault.code === 'rewound') return fault;
  return new Fault(fault.code, fault.message, {
    hints: [...rewound.map(describeRewound), ...fault.hints],
    data: { ...fault.data, rewound },
    cause: fault.cause,
  });
}
