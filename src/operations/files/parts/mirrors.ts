import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault, quoted } from '../../../core/fault.ts';
import type { Mirror, State } from '../../../core/fold/state.ts';
import { aliasesIn, type Dropped, diffModels } from '../../../core/model/diff.ts';
import type { RunModel } from '../../../core/model/run-model.ts';
import { writableBy } from '../../../core/rules/claims.ts';
import { sha256 } from '../../../core/sha256.ts';
import { oneLine } from '../../../core/text.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { Files, Format, FormatName, Found, Parsed, Problem } from '../../../formats/format.ts';
import { formatNames, formats } from '../../../formats/index.ts';
import { makeOwnFolder, recordedPath, removeLitter, writeAtomically } from '../../../workspace/files.ts';
import { withFileLock } from '../../../workspace/lock.ts';
import { openTree } from '../../../workspace/tree.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import type { Context } from '../../context.ts';
import { readWholeRun } from './run-model.ts';

/** What keeping one mirror did. */
export interface Synced extends Mirror {
  /** Events that somebody's edit of the file became. */
  absorbed: number;
  /** What the edit took out; the journal keeps it. */
  dropped: Dropped[];
  /** Where an edit that could not be understood was put. */
  rejected: string | null;
  written: string[];
  problems: Problem[];
}

/** An edit of a mirrored file is recorded under this name. */
export const FILE_ACTOR = { kind: 'agent', name: 'file' } as const;
const LOCK_WAIT_MS = 10_000;

/**
 * Brings the mirrors of a run and the journal together: what others wrote into the files becomes events first, then the
 * files are written anew where they say something else than the journal. One process at a time.
 */
export async function syncMirrors(context: Context, state: State): Promise<Synced[]> {
  const workspace = context.workspace();
  const run = state.run?.id;
  if (!workspace || run === undefined || state.mirrors.size === 0) return [];
  const engine = await context.engine();
  makeOwnFolder(join(workspace.folder, 'mirrors'));
  const synced = await withFileLock(join(workspace.folder, 'mirrors', 'lock'), LOCK_WAIT_MS, async () => {
    const done: Synced[] = [];
    for (const mirror of state.mirrors.values()) done.push(await syncMirror(context, engine, workspace, run, mirror));
    return done;
  });
  if (synced) return synced;
  context.warn('The mirrors were not written: another process holds them. `holdfast mirror sync` writes them.');
  return [];
}

/** What others did to mirrors, in words. */
export function editsOf(synced: readonly Synced[]): { path: string; found: string }[] {
  return synced.flatMap(({ path, absorbed, dropped, rejected }) => {
    const changes = [
      ...(absorbed > 0 ? [`edited, ${absorbed} changes taken in`] : []),
      ...dropped.map(({ kind, name }) => `${kind} ${quoted(name)} taken out, which stays here`),
      ...(rejected ? [`edited and not understood, the edit is in ${rejected}`] : []),
    ];
    return changes.length > 0 ? [{ path, found: changes.join('; ') }] : [];
  });
}

/** The same, for a command that has recorded something: nothing that goes wrong here undoes it. */
export async function keepMirrors(context: Context, state: State): Promise<void> {
  try {
    for (const { path, found } of editsOf(await syncMirrors(context, state))) context.warn(`${path}: ${found}.`);
  } catch (thrown) {
    context.warn(`The mirrors were not written: ${(thrown as Error).message} \`holdfast mirror sync\` tries again.`);
  }
}

async function syncMirror(
  context: Context,
  engine: Engine,
  workspace: Workspace,
  run: string,
  mirror: Mirror,
): Promise<Synced> {
  const format = await formatNamed(mirror.format);
  const { found, files } = readPlace(workspace.tree, format, mirror.path);
  const base = readBase(workspace, mirror, files);
  const result: Synced = { ...mirror, absorbed: 0, dropped: [], rejected: null, written: [], problems: [] };
  let previous = files;
  if (files.has(mirror.path)) {
    const parsed = format.parse(found, files);
    result.problems = parsed.problems;
    const edited = base === null || !isSame(base, files);
    if (edited && parsed.model === null) {
      result.rejected = setAside(workspace.tree, mirror.path, engine.now());
      // What lies beside it was not rejected: only this file goes back to what it last said.
      const last = base?.get(mirror.path);
      previous = new Map([...files].filter(([path]) => path !== mirror.path));
      if (last !== undefined) previous = new Map([...previous, [mirror.path, last]]);
    } else if (!parsed.writable) {
      throw unwritable(mirror, parsed);
    } else if (edited && base !== null) {
      await absorb(engine, run, mirror, format.parse({ ...found, files: [...base.keys()] }, base), parsed, result);
    }
  }
  previous = new Map([...previous, ...leftUndone(workspace, mirror, files)]);
  const state = await engine.load(run);
  const model = await readWholeRun(engine, state, format.name);
  const rendered = format.render(model, found, previous, engine.now());
  // Nobody knows what of it is an edit: it is kept as it was.
  if (base === null && rendered.has(mirror.path) && files.has(mirror.path))
    result.rejected ??= setAside(workspace.tree, mirror.path, engine.now());
  const wanted = new Map([...previous, ...rendered]);
  const writing = new Map([...wanted].filter(([path, text]) => files.get(path) !== text));
  await mustBeFree(context, engine, state, writing.keys());
  // Said before it is done: what a crash leaves half written is then known for our own, and is nobody's edit.
  if (writing.size > 0) saveBase(workspace, mirror, files, writing);
  for (const [path, text] of writing) {
    // What was put aside as unreadable must not take the place of a good backup.
    writeMirrored(workspace.tree, path, files.get(path), text, !(result.rejected && path === mirror.path));
    result.written.push(path);
  }
  // Before it is said to be done: what a crash comes before is made up for by the next one.
  if (result.written.length > 0 || wasCutOff(workspace, mirror))
    await learnAliases(engine, run, mirror, format, model, wanted);
  saveBase(workspace, mirror, wanted);
  return result;
}

/** Nobody writes under another's claim; the files are written when it is given up. */
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

/** What the file calls a thing is what people will call it: it is recorded once, with the first writing. */
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
  const identity = { actor: FILE_ACTOR, session: null, key: null };
  await engine.execute(run, { type: 'account.read', format: name, path, account: learned }, identity);
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
  result.dropped = dropped;
  const identity = { actor: FILE_ACTOR, session: null, key: null };
  if (dropped.length > 0) {
    const gone = dropped.map(({ kind, name, words }) => `${kind} ${name} (${oneLine(words, 80)})`).join(', ');
    const text = `${path} was edited and no longer has ${gone}. It stays here, and was written back.`;
    await engine.execute(run, { type: 'note.add', text, kind: 'deviation' }, identity);
  }
  if (Object.keys(changed).length === 0) return;
  const { events } = await engine.execute(run, { type: 'account.read', format, path, account: changed }, identity);
  result.absorbed = events.length;
}

/** The run whose mirror a file is. Two runs in one file would undo each other. */
export async function mirrorOwner(context: Context, { format, path }: Mirror): Promise<string | null> {
  const workspace = context.workspace();
  if (!workspace) return null;
  const engine = await context.engine();
  for (const { run } of await engine.heads({ workspace: workspace.id })) {
    if ((await engine.load(run)).mirrors.has(`${format}:${path}`)) return run;
  }
  return null;
}

/** A run's files as they stand, found by the one that is mirrored. */
export function readPlace(root: string, format: Format, main: string): { found: Found; files: Files } {
  const top = main.split('/')[0] ?? '';
  const tree = openTree(root, top === main ? [main, ...neighbours] : [top, ...neighbours]);
  const found = format.detect(tree).find((one) => one.main === main) ?? { format: format.name, main, files: [main] };
  return { found, files: readFiles(tree, found) };
}

/** Folders in which the formats keep what belongs to a state file elsewhere. */
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
  const place = worst ? ` Line ${worst.line ?? '?'}: ${worst.message}` : '';
  return new Fault('conflict', `${path} (${format}${version ? ` ${version}` : ''}) must not be written.${place}`, {
    hints: ['The journal has everything. Mend the file, or take the mirror away with `holdfast mirror remove`.'],
    data: { path, problems },
  });
}

/** Compared once more before it is put in place: an edit since the reading is not overwritten, the next turn absorbs it. */
function writeMirrored(root: string, path: string, before: string | undefined, text: string, backup: boolean): void {
  const inside = recordedPath(root, root, path);
  const file = join(root, inside);
  mkdirSync(dirname(file), { recursive: true });
  const now = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (now !== before) {
    throw new Fault('conflict', `${path} was changed while it was being written.`, {
      hints: ['Nothing was overwritten. `holdfast mirror sync` takes the change in and writes the file.'],
    });
  }
  if (now !== undefined && backup) copyFileSync(file, `${file}.bak`);
  removeLitter(file);
  writeAtomically(file, text);
}

function setAside(root: string, path: string, now: string): string {
  const aside = `${path}.rejected-${now.replace(/[-:]/g, '').slice(0, 15)}Z`;
  copyFileSync(join(root, path), join(root, aside));
  return aside;
}

/** The files as they were written or read last, to tell what others did since. Without it nothing is known of that. */
function baseFile(workspace: Workspace, { format, path }: Mirror): string {
  return join(workspace.folder, 'mirrors', `${sha256(`${format}:${path}`).slice(0, 16)}.json`);
}

/** Of files that were to be written when the process died, each is known both as it was and as it was to be. */
export function readBase(workspace: Workspace, mirror: Mirror, present: Files): Files | null {
  const saved = readSavedBase(workspace, mirror);
  if (saved === null) return null;
  const base = new Map(saved.files);
  for (const [path, text] of saved.writing ?? []) {
    if (present.get(path) !== base.get(path)) base.set(path, text);
  }
  return base;
}

/**
 * What a process that died had still to write. It is written now: with the first file of several in place, the format may
 * see no reason to write the others.
 */
function leftUndone(workspace: Workspace, mirror: Mirror, present: Files): Files {
  const saved = readSavedBase(workspace, mirror);
  const before = new Map(saved?.files);
  return new Map((saved?.writing ?? []).filter(([path]) => present.get(path) === before.get(path)));
}

const wasCutOff = (workspace: Workspace, mirror: Mirror): boolean =>
  readSavedBase(workspace, mirror)?.writing !== undefined;

function readSavedBase(workspace: Workspace, mirror: Mirror): SavedBase | null {
  try {
    return JSON.parse(readFileSync(baseFile(workspace, mirror), 'utf8')) as SavedBase;
  } catch {
    return null;
  }
}

export function saveBase(workspace: Workspace, mirror: Mirror, files: Files, writing?: Files): void {
  const file = baseFile(workspace, mirror);
  makeOwnFolder(dirname(file));
  const saved: SavedBase = { files: [...files], ...(writing ? { writing: [...writing] } : {}) };
  writeAtomically(file, JSON.stringify({ ...mirror, ...saved }));
}

/** The changed files without those that we write ourselves: nobody worked on them. */
export function withoutMirrors(workspace: Workspace, { mirrors }: State, dirty: ReadonlyMap<string, string>) {
  const own = new Set<string>();
  for (const mirror of mirrors.values()) {
    for (const path of [mirror.path, ...(readBase(workspace, mirror, new Map())?.keys() ?? [])]) {
      own.add(path).add(`${path}.bak`);
      // Of a folder that git has never seen it names the folder alone.
      for (let end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1))
        own.add(path.slice(0, end + 1));
    }
  }
  return new Map([...dirty].filter(([path]) => !own.has(path)));
}

interface SavedBase {
  files: [path: string, text: string][];
  /** What is being put in their place. */
  writing?: [path: string, text: string][];
}

function isSame(base: Files, files: Files): boolean {
  return base.size === files.size && [...base].every(([path, text]) => files.get(path) === text);
}
