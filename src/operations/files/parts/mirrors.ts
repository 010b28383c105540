import { join } from 'node:path';
import { Fault, quoted } from '../../../core/fault.ts';
import type { Mirror, State } from '../../../core/fold/state.ts';
import { aliasesIn, type Bindings, bindModel, toldOf, withAsks } from '../../../core/model/merge.ts';
import type { RunModel } from '../../../core/model/run-model.ts';
import { writableBy } from '../../../core/rules/claim.ts';
import { sha256 } from '../../../core/sha256.ts';
import { planView } from '../../../core/views/plan.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Files, Format, FormatName, Found, Parsed } from '../../../formats/format.ts';
import { formatNames, formats } from '../../../formats/index.ts';
import { keepCopy } from '../../../workspace/guarded/copies.ts';
import { openGuarded } from '../../../workspace/guarded/tree-files.ts';
import { withFileLock } from '../../../workspace/lock.ts';
import { openTree } from '../../../workspace/tree.ts';
import { shownPath, type Workspace } from '../../../workspace/workspace.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';
import { absorbEdit, FILE_IDENTITY, takeFileSide } from './absorb.ts';
import {
  isOwnMirror,
  type MirrorMemory,
  type Paused,
  readBase,
  readMemory,
  saveBase,
  saveMemory,
  type Version,
  wasCutOff,
  withoutCutOff,
  withVersion,
} from './mirror-base.ts';
import { mustBeMirrorable } from './mirror-paths.ts';
import { goneFile, otherBranch, pauseFor, staleCopy } from './mirror-pause.ts';
import { editsOf, type Synced } from './mirror-words.ts';
import { readWholeRun } from './run-model.ts';

const LOCK_WAIT_MS = 10_000;

export interface SyncOptions {
  /** False where a command only looks: edits are recorded, and no file is written. */
  write?: boolean;
  /** Ends pauses and answers what was asked, for one side. */
  keep?: 'journal' | 'file' | undefined;
}

/**
 * Syncs the mirrors of a run with the journal: edits of the files become events first, then files that differ from the
 * journal are written. One process at a time.
 */
export async function syncMirrors(context: Context, state: State, options: SyncOptions = {}): Promise<Synced[]> {
  const workspace = context.workspace();
  const run = state.run?.id;
  if (!workspace || run === undefined || state.mirrors.size === 0) return [];
  const engine = await context.engine();
  const own = [...state.mirrors.values()].filter(
    (mirror) => formatNames.includes(mirror.format as FormatName) && isOwnMirror(workspace, mirror),
  );
  if (own.length === 0) return [];
  const synced = await withFileLock(join(workspace.files.folder('mirrors'), 'lock'), LOCK_WAIT_MS, async () => {
    const done: Synced[] = [];
    for (const mirror of own) {
      context.progress?.({ doing: 'Syncing', done: done.length, total: own.length, at: mirror.path });
      const format = await formatNamed(mirror.format);
      done.push(await syncMirror({ context, engine, workspace, run, mirror, format, ...options }));
    }
    return done;
  });
  if (synced) return synced;
  context.warn('The mirrors were not written: another process holds them. `holdfast mirror sync` writes them.');
  return [];
}

/** Syncs after a command has recorded something: an error here is only a warning. */
export async function keepMirrors(context: Context, state: State): Promise<void> {
  try {
    for (const { path, found } of editsOf(await syncMirrors(context, state))) context.warn(`${path}: ${found}`);
  } catch (thrown) {
    context.warn(`The mirrors were not written: ${(thrown as Error).message} \`holdfast mirror sync\` tries again.`);
  }
}

interface Sync extends SyncOptions {
  context: Context;
  engine: Engine;
  workspace: Workspace;
  run: string;
  mirror: Mirror;
  format: Format;
}

/** An edit made while a mirror is being written is absorbed, and the mirror rendered again, this many times at most. */
const ATTEMPTS = 5;

export const unsynced = (mirror: Mirror): Synced => ({
  ...mirror,
  ...{ absorbed: 0, news: [], asks: [], paused: null, rejected: null, written: [], problems: [] },
});

async function syncMirror(sync: Sync): Promise<Synced> {
  const { context, mirror } = sync;
  const result = unsynced(mirror);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (await syncOnce(sync, result)) return result;
    await new Promise((resolve) => setTimeout(resolve, attempt * 20));
  }
  context.warn(`${mirror.path} keeps changing and was left as it is. \`holdfast mirror sync\` tries again.`);
  return result;
}

/** Returns false, and has overwritten nothing, if a file was edited after it was read. */
async function syncOnce(sync: Sync, result: Synced): Promise<boolean> {
  const { context, engine, workspace, run, mirror, format, write = true, keep } = sync;
  mustBeMirrorable(workspace.tree, format, mirror.path);
  const { found, files } = readMirror(workspace.tree, format, mirror.path);
  const base = readBase(workspace, mirror, files);
  const memory = readMemory(workspace, mirror);
  const isTheirs = base !== null && !isSame(base, files);
  const mark = treeMark(context);
  const paused = await pausedNow(sync, files, base, memory);
  result.paused = paused?.words ?? null;
  if (paused?.why === 'gone' && (await followArchive(sync, base?.get(mirror.path) ?? '', result))) return true;
  if (paused) {
    if (memory.paused?.words !== paused.words) saveMemory(workspace, mirror, { paused });
    return true;
  }
  const { version: before } = await engine.load(run);
  const isQuiet = base !== null && !isTheirs && !keep && !memory.paused && memory.bindings !== undefined;
  if (isQuiet && memory.journal === before && !wasCutOff(workspace, mirror)) {
    result.asks = memory.asks ?? [];
    return true;
  }
  const journalOf = journalReader(sync, files);
  const read = await readEdit(sync, found, files, base, memory, result, journalOf);
  if (read === 'paused') return true;
  const { absorbed, isRejected, parsed } = read;
  let { state, model } = await journalOf();
  const bindings = parsed ? bindModel(model, parsed) : {};
  if (keep === 'file' && parsed && result.asks.length > 0) {
    await takeFileSide(engine, run, mirror, result.asks, parsed, bindings);
    ({ state, model } = await journalOf());
  }
  if (keep) result.asks = [];
  const now = { at: engine.now(), version: state.version };
  const theirs = new Map(isTheirs && !isRejected ? [...files].filter(([path, text]) => base.get(path) !== text) : []);
  const seen = withTexts(memory.versions, mirror.path, theirs, { ...now, ours: () => false });
  const remembered = { hidden: [...read.hidden], asks: result.asks, paused: null };
  if (!write) {
    const known = { ...remembered, versions: seen, bindings, told: toldOf(model, bindings) };
    if (isTheirs && !isRejected) saveBase(workspace, mirror, absorbed, undefined, known);
    return true;
  }
  const shown = withAsks(onBranch(context, model), parsed, bindings, new Set(read.hidden), result.asks);
  const rendered = format.render(shown, found, withoutCutOff(workspace, mirror, absorbed), engine.now());
  // A file without a base may hold anything, so the whole of it is kept.
  const isUnknown = files.has(mirror.path) && !base?.has(mirror.path);
  if (isUnknown && rendered.has(mirror.path)) result.rejected ??= reject(sync, files);
  const wanted = new Map([...absorbed, ...rendered]);
  const writing = new Map([...wanted].filter(([path, text]) => files.get(path) !== text));
  for (const path of writing.keys()) mustBeMirrorable(workspace.tree, format, path);
  await mustBeFree(context, engine, state, writing.keys());
  // Saved first: what a crash leaves half written is then known as our own text, not taken for an edit.
  if (writing.size > 0) saveBase(workspace, mirror, absorbed, writing, remembered);
  if (!writeAll(sync, files, writing, absorbed, isRejected || isUnknown, remembered, result)) return false;
  if (writing.size === 0 && isQuiet) {
    saveMemory(workspace, mirror, { journal: state.version });
    return true;
  }
  const written = format.parse({ ...found, files: [...wanted.keys()] }, wanted).model;
  const bound = written ? bindModel(model, written) : {};
  // Before the base is final: after a crash in between, the next sync does it.
  if (written && (writing.size > 0 || wasCutOff(workspace, mirror)))
    await learnAliases(engine, run, mirror, model, written, bound);
  saveBase(workspace, mirror, wanted, undefined, {
    ...remembered,
    versions: withTexts(seen, mirror.path, wanted, { ...now, ours: (path) => writing.has(path) }),
    bindings: bound,
    told: toldOf(model, bound),
    journal: (await engine.load(run)).version,
    ...(mark ? { branch: mark.branch, head: mark.head } : {}),
  });
  return true;
}

/** Replaces the files one by one; false if one was edited since it was read. */
function writeAll(
  sync: Sync,
  files: Files,
  writing: Files,
  absorbed: Map<string, string>,
  isLost: boolean,
  remembered: MirrorMemory,
  result: Synced,
): boolean {
  const { workspace, mirror } = sync;
  const unwritten = new Map(writing);
  const tree = openGuarded(workspace.tree);
  for (const [path, text] of writing) {
    // A rejected text must not replace a good backup.
    if (!(path === mirror.path && isLost)) keepBackup(sync, path, files.get(path));
    unwritten.delete(path);
    if (!tree.replace(path, files.get(path) ?? null, text)) {
      saveBase(workspace, mirror, absorbed, unwritten, remembered);
      return false;
    }
    absorbed.set(path, text);
    result.written.push(path);
  }
  return true;
}

/** The branch that git is on, which a file may name. */
function onBranch(context: Context, model: RunModel): RunModel {
  const branch = treeMark(context)?.branch;
  return branch ? { ...model, run: { ...model.run, branch } } : model;
}

interface Journal {
  state: State;
  model: RunModel;
}

/** Reads the run again only if something was recorded since. */
function journalReader({ engine, run, format }: Sync, files: Files): () => Promise<Journal> {
  let last: Journal | null = null;
  return async () => {
    const state = await engine.load(run);
    if (last?.state.version !== state.version)
      last = { state, model: await readWholeRun(engine, state, format, files) };
    return last;
  };
}

/** The known versions with these texts; those of the main file have no path. */
const withTexts = (
  known: readonly Version[] | undefined,
  main: string,
  texts: Files,
  { at, version, ours }: { at: string; version: number; ours: (path: string) => boolean },
): Version[] =>
  [...texts].reduce(
    (all, [path, text]) =>
      withVersion(all, { sha256: sha256(text), at, version, ours: ours(path), ...(path === main ? {} : { path }) }),
    [...(known ?? [])],
  );

/** A finished file that someone moved to the archive of its tool: the run is archived, and the mirror ends. */
async function followArchive(sync: Sync, text: string, result: Synced): Promise<boolean> {
  const { engine, workspace, run, mirror, format } = sync;
  const archive = format.archivedAs?.(mirror.path, text) ?? null;
  if (archive === null || openGuarded(workspace.tree).read(archive) === null) return false;
  const { done, total } = planView(await engine.load(run)).progress;
  if (total === 0 || done < total) return false;
  await engine.execute(run, { type: 'mirror.remove', ...mirror }, FILE_IDENTITY);
  await engine.execute(run, { type: 'run.archive' }, FILE_IDENTITY);
  result.paused = null;
  result.news.push(`the run was archived, because the file was moved to ${archive}`);
  return true;
}

/** Whether the mirror is paused, or must be now. */
async function pausedNow(sync: Sync, files: Files, base: Files | null, memory: MirrorMemory): Promise<Paused | null> {
  const { context, engine, workspace, run, mirror, keep } = sync;
  if (keep || base === null || !base.has(mirror.path)) return null;
  if (!files.has(mirror.path)) return goneFile(mirror);
  const elsewhere = await otherBranch(workspace, mirror, memory, treeMark(context));
  if (elsewhere) return elsewhere;
  if (isSame(base, files)) return null;
  const { version } = await engine.load(run);
  for (const [path, text] of files) {
    if (text === base.get(path)) continue;
    const paused = await pauseFor(workspace, mirror, path, text, memory, version);
    if (paused) return paused;
  }
  return memory.paused?.why === 'stale' && files.get(mirror.path) !== base.get(mirror.path) ? memory.paused : null;
}

interface ReadEdit {
  /** The files without what was rejected. */
  absorbed: Map<string, string>;
  isRejected: boolean;
  parsed: RunModel | null;
  hidden: readonly string[];
}

/** Records what others edited. */
async function readEdit(
  sync: Sync,
  found: Found,
  files: Files,
  base: Files | null,
  memory: MirrorMemory,
  result: Synced,
  journalOf: () => Promise<Journal>,
): Promise<ReadEdit | 'paused'> {
  const { engine, run, workspace, mirror, format, keep } = sync;
  const { hidden = [] } = memory;
  result.asks = memory.asks ?? [];
  const absorbed = new Map(files);
  if (!files.has(mirror.path)) return { absorbed, isRejected: false, parsed: null, hidden };
  const parsed = format.parse(found, files);
  result.problems = parsed.problems;
  const isEdited = base === null || !isSame(base, files);
  if (isEdited && parsed.model === null) {
    result.rejected = reject(sync, files);
    // Only the main file goes back to its last text; the files beside it were not rejected.
    absorbed.delete(mirror.path);
    const last = base?.get(mirror.path);
    if (last !== undefined) absorbed.set(mirror.path, last);
    return { absorbed, isRejected: true, parsed: null, hidden };
  }
  if (!parsed.writable) throw unwritable(mirror, parsed);
  const unchanged = { absorbed, isRejected: false, parsed: parsed.model, hidden };
  if (!isEdited || parsed.model === null || keep === 'journal') return unchanged;
  const before = base && format.parse({ ...found, files: [...base.keys()] }, base);
  if (before?.model === null) return unchanged;
  const stale = keep || !before ? null : staleCopy(mirror, before, parsed);
  if (stale) {
    saveMemory(workspace, mirror, { paused: stale });
    result.paused = stale.words;
    return 'paused';
  }
  const { model: journal } = await journalOf();
  const sides = { before: before?.model ?? null, after: parsed.model, journal };
  const done = await absorbEdit(engine, run, mirror, format, sides, memory);
  result.absorbed += done.events;
  result.news.push(...done.news);
  result.asks = done.asks;
  return { ...unchanged, hidden: done.hidden };
}

/** Keeps the text of a file that goes, and returns where. */
function reject({ workspace, mirror, engine }: Sync, files: Files): string {
  const text = files.get(mirror.path) ?? '';
  const copy = keepCopy(workspace.files, 'rejected', mirror.path, text, engine.now());
  return shownPath(workspace, join(workspace.folder, copy));
}

function keepBackup({ workspace, mirror, engine, format }: Sync, path: string, text: string | undefined): void {
  if (text === undefined) return;
  keepCopy(workspace.files, 'backups', path, text, engine.now());
  const beside = path === mirror.path ? format.backupOf?.(path) : undefined;
  if (beside !== undefined) openGuarded(workspace.tree).overwrite(beside, text);
}

/** Refuses to write under another session's claim; the files are written after it is released. */
export async function mustBeFree(
  context: Context,
  engine: Engine,
  state: State,
  paths: Iterable<string>,
): Promise<void> {
  if (state.claims.size === 0) return;
  const { actor, session } = context.identity;
  const mine = [...state.sessions.values()].find((one) => one.id === session || one.agent === actor.name)?.id ?? null;
  const liveness = await engine.liveness(state);
  for (const path of paths) {
    const held = writableBy(state, liveness, mine, path);
    if (held) throw held;
  }
}

/** Records the file's own names of things as aliases, because people will use them. */
async function learnAliases(
  engine: Engine,
  run: string,
  { format, path }: Mirror,
  journal: RunModel,
  file: RunModel,
  bindings: Bindings,
): Promise<void> {
  const learned = aliasesIn(journal, file, bindings);
  if (Object.keys(learned).length === 0) return;
  await engine.execute(run, { type: 'account.read', format, path, account: learned }, FILE_IDENTITY);
}

/** The current files of a mirror, found by its main file. */
export function readMirror(root: string, format: Format, main: string): { found: Found; files: Files } {
  const top = main.split('/')[0] ?? '';
  const tree = openTree(root, top === main ? [main, ...neighbours] : [top, ...neighbours]);
  const found = format.detect(tree).find((one) => one.main === main) ?? { format: format.name, main, files: [main] };
  return { found, files: readFiles(tree, found) };
}

/** Folders where formats keep files that belong to a state file elsewhere. */
const neighbours: readonly string[] = ['.planning', '.gemini', 'docs/maestro'];

export function readFiles(tree: { read(path: string): string | null }, found: Found): Files {
  const files = new Map<string, string>();
  for (const path of found.files) {
    const text = tree.read(path);
    if (text !== null) files.set(path, text);
  }
  return files;
}

export async function formatNamed(name: string): Promise<Format> {
  if (formatNames.includes(name as FormatName)) return formats[name as FormatName]();
  throw new Fault('usage', `There is no format ${quoted(name)}.`, {
    hints: [`There are: ${formatNames.join(', ')}.`],
    data: { formats: formatNames },
  });
}

function unwritable({ format, path }: Mirror, { version, problems }: Parsed): Fault {
  const [worst] = problems.filter((problem) => problem.level === 'error');
  const where = worst ? ` Line ${worst.line ?? '?'}: ${worst.message}` : '';
  return new Fault('conflict', `${path} (${format}${version ? ` ${version}` : ''}) must not be written.${where}`, {
    hints: ['The journal has everything. Repair the file, or stop mirroring it with `holdfast mirror remove`.'],
    data: { path, problems },
  });
}

/** The changed files without our own mirrors. */
export function withoutMirrors(workspace: Workspace, { mirrors }: State, dirty: ReadonlyMap<string, string>) {
  const own = new Set<string>();
  for (const mirror of mirrors.values()) {
    if (!isOwnMirror(workspace, mirror)) continue;
    for (const path of [mirror.path, ...(readBase(workspace, mirror, new Map())?.keys() ?? [])]) {
      own.add(path).add(`${path}.bak`);
      // Git names an untracked folder instead of its files.
      for (let end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1))
        own.add(path.slice(0, end + 1));
    }
  }
  return new Map([...dirty].filter(([path]) => !own.has(path)));
}

function isSame(base: Files, files: Files): boolean {
  return base.size === files.size && [...base].every(([path, text]) => files.get(path) === text);
}
