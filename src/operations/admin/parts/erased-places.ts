import { basename, dirname, join, relative } from 'node:path';
import * as v from 'valibot';
import type { Mirror, State } from '../../../core/fold/state.ts';
import { realPathOf } from '../../../workspace/files.ts';
import { fileSize, isFolder, listFolder, readDamaged } from '../../../workspace/read.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import { removeFile, writeAtomically } from '../../../workspace/write.ts';
import type { Context } from '../../context.ts';
import { formatNamed, readMirror } from '../../files/parts/mirrors.ts';
import type { HoldsWords } from './erased-words.ts';

/** Where erased text may have been, and what became of it there. */
export const ErasedPlace = v.object({
  place: v.string(),
  /** `not there`: looked at, and it does not have the text, or does not exist. */
  state: v.picklist(['done', 'not there', 'cannot']),
  path: v.optional(v.string()),
  note: v.optional(v.string()),
});
export type ErasedPlace = v.InferOutput<typeof ErasedPlace>;

/** Looks at each place after the journal was erased, and takes the text out where it still is. */
export async function erasePlaces(context: Context, state: State, holds: HoldsWords): Promise<ErasedPlace[]> {
  const workspace = context.workspace();
  const journal = journalPlaces(context);
  if (!workspace) return [...journal, ...beyondReach(state)];
  const { folder } = workspace;
  const look = { root: folder, holds };
  return [
    ...journal,
    ...rewritten(look, 'RESUME.md', [join(folder, 'RESUME.md')]),
    ...rewritten(look, 'worklog and its archives', filesBelow(join(folder, 'worklog'))),
    ...rewritten(look, 'snapshots', filesBelow(join(folder, 'snapshots'))),
    ...(await mirrorPlaces(workspace, state, holds)),
    ...removed(look, 'backups and rejected edits', [
      ...filesBelow(join(folder, 'backups')),
      ...filesBelow(join(folder, 'rejected')),
    ]),
    ...removed(look, 'hook inbox', filesBelow(join(folder, 'inbox'))),
    ...removed(look, 'hook memory', filesBelow(join(folder, 'hooks'))),
    ...cutLines(look, 'hook log', [join(folder, 'hook.log'), join(folder, 'hook.old.log')]),
    ...change(look, 'archive records', filesBelow(join(folder, 'archives')), forgetWrittenTexts),
    { place: 'known heads', state: 'not there', note: 'They are versions and hashes, without text.' },
    ...beyondReach(state),
  ];
}

/** The engine has rewritten these in the transaction of the erasure, or the command would have failed. */
function journalPlaces(context: Context): ErasedPlace[] {
  const file = context.journalFile();
  const path = file === null ? {} : { path: file };
  return [
    { place: 'journal', state: 'done', ...path },
    { place: 'search rows', state: 'done' },
    file === null
      ? {
          place: 'write-ahead log',
          state: 'cannot',
          note: 'A database server keeps its own log until it recycles it, and its backups.',
        }
      : { place: 'write-ahead log', state: 'done', path: `${file}-wal` },
  ];
}

interface Look {
  /** Nothing is changed through a link that leads out of this folder. */
  root: string;
  holds: HoldsWords;
}

/** Files that were written again from the journal: none should have the text. */
function rewritten({ holds }: Look, place: string, files: readonly string[]): ErasedPlace[] {
  const present = files.filter((path) => fileSize(path) !== null);
  const left = present.filter((path) => mayHold(path, holds));
  if (left.length === 0) return [{ place, state: present.length > 0 ? 'done' : 'not there' }];
  return left.map((path) => ({ place, state: 'cannot', path, note: 'It may still have the text: edit or delete it.' }));
}

/** A file that is too large to be read counts as one with the text. */
function mayHold(path: string, holds: HoldsWords): boolean {
  const text = readDamaged(path);
  return text === null ? fileSize(path) !== null : holds(text);
}

/** Copies that are only there in case something is lost: one with the text is deleted. */
function removed(look: Look, place: string, files: readonly string[]): ErasedPlace[] {
  return change(look, place, files, (path) => removeFile(path));
}

function cutLines(look: Look, place: string, files: readonly string[]): ErasedPlace[] {
  return change(look, place, files, (path, text) => {
    const lines = text.split('\n').filter((line) => !look.holds(line));
    // A text that goes over several lines: then none of them is kept.
    writeAtomically(path, look.holds(lines.join('\n')) ? '' : lines.join('\n'), true, 0o600);
  });
}

function change(
  { root, holds }: Look,
  place: string,
  files: readonly string[],
  take: (path: string, text: string) => void,
): ErasedPlace[] {
  const places: ErasedPlace[] = [];
  for (const path of files) {
    if (!mayHold(path, holds)) continue;
    try {
      if (isBehindLink(root, path)) throw new Error('It is a link or behind one, and nothing is changed through links');
      take(path, readDamaged(path) ?? '');
      if (mayHold(path, holds)) throw new Error('It may still have the text');
      places.push({ place, state: 'done', path });
    } catch (thrown) {
      places.push({ place, state: 'cannot', path, note: `${(thrown as Error).message}. Delete it yourself.` });
    }
  }
  return places.length > 0 ? places : [{ place, state: 'not there' }];
}

/** The record of a finished archiving restores files by moving them; the texts it wrote are not needed again. */
function forgetWrittenTexts(path: string, text: string): void {
  const moves = JSON.parse(text) as { done?: boolean; writes?: unknown }[];
  writeAtomically(path, JSON.stringify(moves.map((one) => (one.done === true ? { ...one, writes: [] } : one))));
}

function isBehindLink(root: string, path: string): boolean {
  return realPathOf(path) !== join(realPathOf(root), relative(root, path));
}

/** Mirrored files follow the journal; what was kept of their earlier text is deleted. */
async function mirrorPlaces(workspace: Workspace, state: State, holds: HoldsWords): Promise<ErasedPlace[]> {
  const { tree, folder } = workspace;
  const files: string[] = [];
  for (const { format, path } of state.mirrors.values()) {
    const { files: present } = readMirror(tree, await formatNamed(format), path);
    files.push(...[path, ...present.keys()].map((one) => join(tree, one)));
  }
  // Some formats count the backup among their files.
  const mirrored = [...new Set(files)].filter((path) => !isCopy(basename(path)));
  const beside = mirrored.flatMap(copiesOf);
  return [
    ...rewritten({ root: tree, holds }, 'mirrored files', mirrored),
    ...baseFiles(state, join(folder, 'mirrors'), holds),
    ...removed({ root: tree, holds }, 'copies beside mirrored files', beside),
  ];
}

/** `STATE.md.bak` and `STATE.md.rejected-20260131T120000Z`. */
const isCopy = (name: string): boolean => /\.bak$|\.rejected-\d{8}T\d{6}Z(?:-\d+)?$/.test(name);

function copiesOf(file: string): string[] {
  const name = basename(file);
  return listFolder(dirname(file))
    .filter((entry) => entry.startsWith(`${name}.`) && isCopy(entry))
    .map((entry) => join(dirname(file), entry));
}

/** The base of a mirror in use shows what others edited and is kept; that of a former mirror is not needed. */
function baseFiles(state: State, folder: string, holds: HoldsWords): ErasedPlace[] {
  const files = filesBelow(folder);
  const inUse = files.filter((file) => {
    const { format, path } = parseMirror(readDamaged(file));
    return state.mirrors.has(`${format}:${path}`);
  });
  const former = files.filter((file) => !inUse.includes(file));
  const stale = rewritten({ root: folder, holds }, 'mirror bases', inUse).map((one) =>
    one.state === 'cannot' ? { ...one, note: 'Run `holdfast mirror sync`, then erase again.' } : one,
  );
  return [...stale, ...removed({ root: folder, holds }, 'bases of former mirrors', former)];
}

function parseMirror(text: string | null): Partial<Mirror> {
  try {
    return (JSON.parse(text ?? '{}') as Partial<Mirror> | null) ?? {};
  } catch {
    return {};
  }
}

/** What no command here can change. */
function beyondReach(state: State): ErasedPlace[] {
  const mirrored = [...state.mirrors.values()].map(({ path }) => path);
  return [
    {
      place: 'git history of mirrored files',
      state: mirrored.length > 0 ? 'cannot' : 'not there',
      ...(mirrored.length > 0 ? { note: `Commits may have the text: \`git log -p -- ${mirrored.join(' ')}\`.` } : {}),
    },
    { place: 'exports', state: 'cannot', note: 'Files written with `--out` are not known: delete them yourself.' },
    { place: 'copies and backups of this folder', state: 'cannot', note: 'They are not known here.' },
  ];
}

const DEPTH = 4;

/** The files below a folder, without following links to folders out of it. */
function filesBelow(folder: string, depth = DEPTH): string[] {
  if (depth === 0) return [];
  return listFolder(folder).flatMap((name) => {
    const path = join(folder, name);
    if (!isFolder(path)) return [path];
    return isBehindLink(folder, path) ? [] : filesBelow(path, depth - 1);
  });
}
