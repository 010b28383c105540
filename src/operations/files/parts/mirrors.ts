import { join } from 'node:path';
import { Fault, quoted } from '../../../core/fault.ts';
import type { Mirror, State } from '../../../core/fold/state.ts';
import { aliasesIn, type Dropped, diffModels } from '../../../core/model/diff.ts';
import type { RunModel } from '../../../core/model/run-model.ts';
import { writableBy } from '../../../core/rules/claim.ts';
import { oneLine } from '../../../core/text.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Files, Format, FormatName, Found, Parsed, Problem } from '../../../formats/format.ts';
import { formatNames, formats } from '../../../formats/index.ts';
import { recordedPath } from '../../../workspace/files.ts';
import { withFileLock } from '../../../workspace/lock.ts';
import { openTree } from '../../../workspace/tree.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import { keepCopy, replaceText } from '../../../workspace/write.ts';
import type { Context } from '../../context.ts';
import { readBase, saveBase, unwrittenFiles, wasCutOff } from './mirror-base.ts';
import { readWholeRun } from './run-model.ts';

/** What syncing one mirror did. */
export interface Synced extends Mirror {
  /** Events recorded from an edit of the file. */
  absorbed: number;
  /** What the edit removed; the journal keeps it. */
  dropped: Dropped[];
  /** The copy of an edit that could not be read. */
  rejected: string | null;
  written: string[];
  problems: Problem[];
}

/** An edit of a mirrored file is recorded under this name. */
export const FILE_IDENTITY = {
  actor: { kind: 'agent', name: 'file' },
  evidence: 'file',
  session: null,
  key: null,
} as const;
const LOCK_WAIT_MS = 10_000;

/**
 * Syncs the mirrors of a run with the journal: edits of the files become events first, then files that differ from the
 * journal are written. One process at a time.
 */
export async function syncMirrors(context: Context, state: State): Promise<Synced[]> {
  const workspace = context.workspace();
  const run = state.run?.id;
  if (!workspace || run === undefined || state.mirrors.size === 0) return [];
  const engine = await context.engine();
  const synced = await withFileLock(join(workspace.files.folder('mirrors'), 'lock'), LOCK_WAIT_MS, async () => {
    const done: Synced[] = [];
    for (const mirror of state.mirrors.values()) {
      const format = await formatNamed(mirror.format);
      done.push(await syncMirror({ context, engine, workspace, run, mirror, format }));
    }
    return done;
  });
  if (synced) return synced;
  context.warn('The mirrors were not written: another process holds them. `holdfast mirror sync` writes them.');
  return [];
}

/** The edits of mirrors, as text. */
export function editsOf(synced: readonly Synced[]): { path: string; found: string }[] {
  return synced.flatMap(({ path, absorbed, dropped, rejected }) => {
    const changes = [
      ...(absorbed > 0 ? [`edited, ${absorbed} changes absorbed`] : []),
      ...dropped.map(({ kind, name }) => `${kind} ${quoted(name)} removed there, kept here`),
      ...(rejected ? [`edited but not readable, the edit was kept as ${rejected}`] : []),
    ];
    return changes.length > 0 ? [{ path, found: changes.join('; ') }] : [];
  });
}

/** Syncs after a command has recorded something: an error here is only a warning. */
export async function keepMirrors(context: Context, state: State): Promise<void> {
  try {
    for (const { path, found } of editsOf(await syncMirrors(context, state))) context.warn(`${path}: ${found}.`);
  } catch (thrown) {
    context.warn(`The mirrors were not written: ${(thrown as Error).message} \`holdfast mirror sync\` tries again.`);
  }
}

interface Sync {
  context: Context;
  engine: Engine;
  workspace: Workspace;
  run: string;
  mirror: Mirror;
  format: Format;
}

/** An edit made while a mirror is being written is absorbed, and the mirror rendered again, this many times at most. */
const ATTEMPTS = 5;

async function syncMirror(sync: Sync): Promise<Synced> {
  const { context, mirror } = sync;
  const result: Synced = { ...mirror, absorbed: 0, dropped: [], rejected: null, written: [], problems: [] };
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (await syncOnce(sync, result)) return result;
    await new Promise((resolve) => setTimeout(resolve, attempt * 20));
  }
  context.warn(`${mirror.path} keeps changing and was left as it is. \`holdfast mirror sync\` tries again.`);
  return result;
}

/** Returns false, and has overwritten nothing, if a file was edited after it was read. */
async function syncOnce(sync: Sync, result: Synced): Promise<boolean> {
  const { context, engine, workspace, run, mirror, format } = sync;
  const { found, files } = readMirror(workspace.tree, format, mirror.path);
  const base = readBase(workspace, mirror, files);
  const { absorbed, isRejected } = await absorbEdit(sync, found, files, base, result);
  const previous = new Map([...absorbed, ...unwrittenFiles(workspace, mirror, files)]);
  const state = await engine.load(run);
  const model = await readWholeRun(engine, state, format.name);
  const rendered = format.render(model, found, previous, engine.now());
  // A file without a base may hold anything, so the whole of it is kept.
  const isUnknown = files.has(mirror.path) && !base?.has(mirror.path);
  if (isUnknown && rendered.has(mirror.path)) result.rejected ??= reject(sync);
  const wanted = new Map([...previous, ...rendered]);
  const writing = new Map([...wanted].filter(([path, text]) => files.get(path) !== text));
  await mustBeFree(context, engine, state, writing.keys());
  // Saved first: what a crash leaves half written is then known as our own text, not taken for an edit.
  if (writing.size > 0) saveBase(workspace, mirror, absorbed, writing);
  const unwritten = new Map(writing);
  for (const [path, text] of writing) {
    const file = join(workspace.tree, recordedPath(workspace.tree, workspace.tree, path));
    // A rejected text must not replace a good backup.
    const backup = !(path === mirror.path && (isRejected || isUnknown));
    unwritten.delete(path);
    if (!replaceText(file, files.get(path) ?? null, text, backup)) {
      saveBase(workspace, mirror, absorbed, unwritten);
      return false;
    }
    absorbed.set(path, text);
    result.written.push(path);
  }
  // Before the base is final: after a crash in between, the next sync does it.
  if (writing.size > 0 || wasCutOff(workspace, mirror)) await learnAliases(engine, run, mirror, format, model, wanted);
  saveBase(workspace, mirror, wanted);
  return true;
}

/** Records what others edited, and returns the files without what was rejected. */
async function absorbEdit(
  sync: Sync,
  found: Found,
  files: Files,
  base: Files | null,
  result: Synced,
): Promise<{ absorbed: Map<string, string>; isRejected: boolean }> {
  const { engine, run, mirror, format } = sync;
  if (!files.has(mirror.path)) return { absorbed: new Map(files), isRejected: false };
  const parsed = format.parse(found, files);
  result.problems = parsed.problems;
  const isEdited = base === null || !isSame(base, files);
  if (isEdited && parsed.model === null) {
    result.rejected = reject(sync);
    // Only the main file goes back to its last text; the files beside it were not rejected.
    const absorbed = new Map([...files].filter(([path]) => path !== mirror.path));
    const last = base?.get(mirror.path);
    if (last !== undefined) absorbed.set(mirror.path, last);
    return { absorbed, isRejected: true };
  }
  if (!parsed.writable) throw unwritable(mirror, parsed);
  if (isEdited && base !== null)
    await absorb(engine, run, mirror, format.parse({ ...found, files: [...base.keys()] }, base), parsed, result);
  return { absorbed: new Map(files), isRejected: false };
}

const reject = ({ workspace, mirror, engine }: Sync): string =>
  keepCopy(workspace.tree, mirror.path, 'rejected', engine.now());

/** Refuses to write under another session's claim; the files are written after it is released. */
async function mustBeFree(context: Context, engine: Engine, state: State, paths: Iterable<string>): Promise<void> {
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
  { format: name, path }: Mirror,
  format: Format,
  model: RunModel,
  files: Files,
): Promise<void> {
  const written = format.parse({ format: format.name, main: path, files: [...files.keys()] }, files).model;
  const learned = written ? aliasesIn(model, written) : {};
  if (Object.keys(learned).length === 0) return;
  await engine.execute(run, { type: 'account.read', format: name, path, account: learned }, FILE_IDENTITY);
}

async function absorb(
  engine: Engine,
  run: string,
  { format, path }: Mirror,
  before: Parsed,
  after: Parsed,
  result: Synced,
): Promise<void> {
  if (!before.model || !after.model) return;
  const { changed, dropped } = diffModels(before.model, after.model);
  result.dropped.push(...dropped);
  if (dropped.length > 0) {
    const gone = dropped.map(({ kind, name, words }) => `${kind} ${name} (${oneLine(words, 80)})`).join(', ');
    const text = `${path} was edited and no longer has ${gone}. It is kept here and was written back.`;
    await engine.execute(run, { type: 'note.add', text, kind: 'deviation' }, FILE_IDENTITY);
  }
  if (Object.keys(changed).length === 0) return;
  const { events } = await engine.execute(run, { type: 'account.read', format, path, account: changed }, FILE_IDENTITY);
  result.absorbed += events.length;
}

/** The run that a file mirrors. Two runs in one file would overwrite each other. */
export async function mirrorOwner(context: Context, { format, path }: Mirror): Promise<string | null> {
  const workspace = context.workspace();
  if (!workspace) return null;
  const engine = await context.engine();
  for (const { run } of await engine.heads({ workspace: workspace.ids })) {
    if ((await engine.load(run)).mirrors.has(`${format}:${path}`)) return run;
  }
  return null;
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
