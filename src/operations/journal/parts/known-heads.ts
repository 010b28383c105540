import { join } from 'node:path';
import type { History } from '../../../core/brief/facts.ts';
import { historyLines } from '../../../core/brief/sections/history.ts';
import { reasonOf } from '../../../core/fault.ts';
import type { Run, State } from '../../../core/fold/state.ts';
import type { Event } from '../../../core/journal/event.ts';
import { mustBePerson } from '../../../core/rules/rule-context.ts';
import type { KnownEvent } from '../../../engine/rewound.ts';
import type { OwnFiles } from '../../../workspace/own-files.ts';
import { isFile } from '../../../workspace/read.ts';
import {
  type KnownHead,
  type KnownStore,
  type LostEvents,
  readKnownStore,
  saveKnownStore,
  storeAt,
  takePlace,
} from '../../../workspace/state/known-stores.ts';
import type { Context } from '../../context.ts';

/** What the state folder knows of the journal in use, and whether that differs from what was saved. */
interface Looked {
  state: OwnFiles;
  known: KnownStore;
  isChanged: boolean;
  /** Another journal, or none, was used at this place before. */
  isNewPlace: boolean;
}

/**
 * Remembers the last event of a run in the state folder, after something was recorded in it. Only files that show the
 * record are followed by this, so that the hook of a tool call writes none. Says whether a loss was noticed.
 */
export async function rememberHead(context: Context, { run }: State, events: readonly Event[]): Promise<boolean> {
  try {
    const looked = await lookUp(context, 'if new');
    if (!looked || !run) return false;
    const { known } = looked;
    const before = known.lost.length;
    await moveHead(context, looked, run, events);
    if (looked.isChanged) save(looked, context);
    if (known.before && !known.before.isRecorded) await recordFormer(context, looked, run.id);
    return known.lost.length > before;
  } catch (thrown) {
    context.warn(`The state folder could not be updated: ${reasonOf(thrown)}. The journal has everything.`);
    return false;
  }
}

/** Compares all known heads with the journal. Null when nothing is amiss. */
export async function lookAtHistory(context: Context): Promise<History | null> {
  const looked = await lookUp(context, 'always');
  if (!looked) return null;
  await compare(context, looked);
  if (looked.isChanged) {
    try {
      save(looked, context);
    } catch {
      // The next look finds the same.
    }
  }
  return historyOf(context, looked.known);
}

/** What was noticed before, without a look at the journal. */
export async function knownHistory(context: Context): Promise<History | null> {
  const looked = await lookUp(context, 'never');
  return looked && historyOf(context, looked.known);
}

/** A person accepts what is gone: from now on the journal counts as it is. Returns what was accepted. */
export async function acceptHistory(context: Context): Promise<History | null> {
  mustBePerson(context.identity, 'accept that recorded events are gone', 'holdfast doctor --accept-history');
  const looked = await lookUp(context, 'always');
  if (!looked) return null;
  await compare(context, looked);
  const { known } = looked;
  const history = historyOf(context, known);
  const { actor, evidence } = context.identity;
  if (history) known.accepted = { by: actor.name, evidence, at: context.now() };
  known.lost = known.lost.filter((one) => !isSeen(context, one));
  delete known.before;
  save(looked, context);
  return history;
}

/** How many of these runs have a head that is known here. */
export async function comparedRuns(context: Context, runs: readonly string[]): Promise<number> {
  const looked = await lookUp(context, 'never');
  return runs.filter((run) => looked?.known.runs.has(run)).length;
}

/**
 * Which runs a session of this clone may be offered. The id of a workspace follows from the root commit, which anyone can
 * copy; so runs of a shared store that were recorded elsewhere need a person's `holdfast trust`. Null where all may be.
 */
export async function runsOfThisClone(context: Context): Promise<ReadonlySet<string> | null> {
  const workspace = context.workspace();
  const engine = await context.engine();
  if (!workspace?.state || workspace.trust || engine.place === join(workspace.folder, 'journal.db')) return null;
  const { id } = await engine.identity();
  const runs = readKnownStore(workspace.state, id)?.runs ?? new Map<string, KnownHead>();
  return new Set([...runs].filter(([, { clone }]) => clone === workspace.clone.clone).map(([run]) => run));
}

/**
 * Finds what is known of the journal in use. With `place`, a journal that took the place of another one is noticed.
 * Null without a state folder, and for a copy of a journal that is still where it was: a backup that someone looks at.
 */
async function lookUp(context: Context, place: 'always' | 'if new' | 'never'): Promise<Looked | null> {
  const state = context.workspace()?.state;
  if (!state) return null;
  const engine = await context.engine();
  const { id, epoch } = await engine.identity();
  const now = context.now();
  const found = readKnownStore(state, id);
  if (found && found.place !== engine.place && isFile(found.place)) return null;
  if (found === null && place === 'never') return null;
  const isAtHome = found?.place === engine.place;
  const known: KnownStore = found ?? { store: id, epoch, place: engine.place, usedAt: now, runs: new Map(), lost: [] };
  const looked: Looked = { state, known, isChanged: !isAtHome || known.epoch !== epoch, isNewPlace: !isAtHome };
  Object.assign(known, { place: engine.place, epoch });
  if (place === 'never' || (place === 'if new' && isAtHome)) return looked;
  const formerId = storeAt(state, engine.place);
  if (formerId === id) return looked;
  const former = formerId === null ? null : readKnownStore(state, formerId);
  if (former && former.runs.size > 0) {
    const runs = [...former.runs.keys()];
    known.before = { store: former.store, runs, usedAt: former.usedAt, noticedAt: now, isRecorded: false };
  }
  looked.isChanged = true;
  looked.isNewPlace = true;
  return looked;
}

/** The event that was known must still be there: usually the first new one continues it. */
async function moveHead(
  context: Context,
  looked: Looked,
  { id, workspace }: Run,
  events: readonly Event[],
): Promise<void> {
  const { runs } = looked.known;
  const [first, last] = [events[0], events.at(-1)];
  const before = runs.get(id);
  if (!first || !last || before?.hash === last.hash) return;
  if (before && !events.some(({ previous }) => previous === before.hash)) {
    await compare(context, looked, [id]);
    // The new events took the place of lost ones.
    for (const lost of looked.known.lost) {
      if (lost.run === id && lost.last === before.version) lost.first = Math.min(lost.first, first.version);
    }
  }
  // Another process may have remembered a later one.
  if ((runs.get(id)?.version ?? 0) >= last.version) return;
  runs.delete(id);
  const clone = context.workspace()?.clone.clone;
  runs.set(id, { version: last.version, hash: last.hash, at: last.at, workspace, clone });
  looked.isChanged = true;
}

/** Compares known heads with the journal and takes over the present ones. */
async function compare(context: Context, looked: Looked, only?: readonly string[]): Promise<void> {
  const { known } = looked;
  const isAsked = (one: { run: string; workspace: string }): boolean =>
    isSeen(context, one) && (only?.includes(one.run) ?? true);
  const heads = [...known.runs].map(([run, head]) => ({ run, ...head })).filter(isAsked);
  const lost = known.lost.filter(isAsked);
  const asKnown = ({ run, last, hash, at }: LostEvents): KnownEvent => ({ run, version: last, hash, at });
  const engine = await context.engine();
  const [now, still] = await Promise.all([
    engine.compareKnown(heads),
    lost.length > 0 ? engine.compareKnown(lost.map(asKnown)) : null,
  ]);
  // Events that an import brought back are no longer lost.
  const isGone = (one: LostEvents): boolean =>
    !lost.includes(one) || (still?.rewound.some(({ run, last }) => run === one.run && last === one.last) ?? true);
  const kept = known.lost.filter(isGone);
  const gone = now.rewound.map(({ run, first, last, at }): LostEvents => {
    const { hash = '', workspace = '' } = known.runs.get(run) ?? {};
    return { run, workspace, first, last, hash, at, noticedAt: context.now() };
  });
  looked.isChanged ||= kept.length < known.lost.length || gone.length + now.dropped.length > 0;
  known.lost = [...kept, ...gone];
  const cloneOf = new Map(gone.map(({ run }) => [run, known.runs.get(run)?.clone]));
  for (const run of [...gone.map((one) => one.run), ...now.dropped]) known.runs.delete(run);
  for (const { run, version, hash, updatedAt, workspace } of now.heads) {
    const before = known.runs.get(run);
    if (before?.version === version && before.hash === hash) continue;
    known.runs.set(run, { version, hash, at: updatedAt, workspace, clone: before?.clone ?? cloneOf.get(run) });
    looked.isChanged = true;
  }
}

/** A database may hold other workspaces, and a token may reach only some runs. */
function isSeen(context: Context, { run, workspace }: { run: string; workspace: string }): boolean {
  const { runs = null } = context.token ?? {};
  return (context.workspace()?.ids.includes(workspace) ?? false) && (runs?.includes(run) ?? true);
}

function historyOf(context: Context, { lost: all, before }: KnownStore): History | null {
  const lost = all.filter((one) => isSeen(context, one));
  const last = lost.at(-1);
  if (!last && !before) return null;
  return {
    lost: last
      ? {
          runs: [...new Set(lost.map(({ run }) => run))],
          events: lost.reduce((sum, one) => sum + one.last - one.first + 1, 0),
          at:
            lost
              .map(({ at }) => at)
              .sort()
              .at(-1) ?? last.at,
          noticedAt: lost[0]?.noticedAt ?? last.noticedAt,
        }
      : null,
    before: before ?? null,
  };
}

/** Of the new journal the first run says what was there before. */
async function recordFormer(context: Context, looked: Looked, run: string): Promise<void> {
  const { known } = looked;
  if (!known.before) return;
  known.before.isRecorded = true;
  save(looked, context);
  const findings = historyLines({ lost: null, before: known.before }, context.now());
  const identity = { ...context.identity, key: null };
  const engine = await context.engine();
  await engine.execute(run, { type: 'recovery.make', from: 'the journal before', findings }, identity);
}

function save({ state, known, isNewPlace }: Looked, context: Context): void {
  known.usedAt = context.now();
  saveKnownStore(state, known);
  if (isNewPlace) takePlace(state, known.place, known.store);
}
