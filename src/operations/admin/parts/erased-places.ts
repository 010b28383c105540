import { basename, dirname, join, relative } from 'node:path';
import * as v from 'valibot';
import { reasonOf } from '../../../core/fault.ts';
import type { Mirror, State } from '../../../core/fold/state.ts';
import { realPathOf } from '../../../workspace/files.ts';
import { openGuarded } from '../../../workspace/guarded/tree-files.ts';
import type { OwnFiles } from '../../../workspace/own-files.ts';
import { fileSize, isFolder, listFolder, readDamaged } from '../../../workspace/read.ts';
import { archivesOf } from '../../../workspace/state/archives.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import type { Context } from '../../context.ts';
import { formatNamed, readMirror, syncMirrors } from '../../files/parts/mirrors.ts';
import { isResumeCopy } from '../../files/parts/resume-copy.ts';
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
  const { state: authority, clone } = workspace;
  const look = lookIn(workspace.files, holds);
  const inState = authority && lookIn(authority, holds);
  return [
    ...journal,
    ...rewritten(look, 'RESUME.md', ['RESUME.md']),
    ...rewritten(look, 'worklog and its archives', filesBelow(look, 'worklog')),
    ...rewritten(look, 'snapshots', filesBelow(look, 'snapshots')),
    ...(await mirrorPlaces(context, workspace, state, look)),
    ...removed(look, 'backups and rejected edits', [...filesBelow(look, 'backups'), ...filesBelow(look, 'rejected')]),
    ...removed(look, 'hook inbox', filesBelow(look, 'inbox')),
    ...removed(look, 'hook memory', filesBelow(look, 'hooks')),
    ...removed(look, 'exports in the data folder', filesBelow(look, 'export')),
    ...(inState
      ? [
          ...cutLines(inState, 'hook log', ['log/hook.log', 'log/hook.old.log']),
          ...change(inState, 'archive records', filesBelow(inState, archivesOf(workspace)), forgetWrittenTexts),
          ...named(
            inState,
            'backups of client settings',
            ['user', clone.clone].flatMap((name) => filesBelow(inState, `installed/${name}/installed`)),
            '`holdfast uninstall` restores the settings from it: edit both yourself.',
          ),
        ]
      : []),
    ...oldFolders(workspace, look),
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

/** A folder in which files are looked through and changed. No link is followed to change anything. */
interface Look {
  root: string;
  holds: HoldsWords;
  remove(path: string): boolean;
  replace(path: string, text: string): void;
}

const lookIn = ({ root, remove, replace }: OwnFiles, holds: HoldsWords): Look => ({ root, holds, remove, replace });

function lookInTree(root: string, holds: HoldsWords): Look {
  const { remove, overwrite } = openGuarded(root);
  return { root, holds, remove, replace: overwrite };
}

/** Files that were written again from the journal: none should have the text. */
const rewritten = (look: Look, place: string, files: readonly string[]): ErasedPlace[] =>
  named(look, place, files, 'It may still have the text: edit or delete it.', 'done');

/** Files that are only looked at; those with the text are named. */
function named(
  { root, holds }: Look,
  place: string,
  files: readonly string[],
  note: string,
  without: ErasedPlace['state'] = 'not there',
): ErasedPlace[] {
  const present = files.map((path) => join(root, path)).filter((path) => fileSize(path) !== null);
  const left = present.filter((path) => mayHold(path, holds));
  if (left.length === 0) return [{ place, state: present.length > 0 ? without : 'not there' }];
  return left.map((path) => ({ place, state: 'cannot', path, note }));
}

/** A file that is too large to be read counts as one with the text. */
function mayHold(path: string, holds: HoldsWords): boolean {
  const text = readDamaged(path);
  return text === null ? fileSize(path) !== null : holds(text);
}

/** Copies that are only there in case something is lost: one with the text is deleted. */
function removed(look: Look, place: string, files: readonly string[]): ErasedPlace[] {
  return change(look, place, files, ({ remove }, path) => remove(path));
}

function cutLines(look: Look, place: string, files: readonly string[]): ErasedPlace[] {
  return change(look, place, files, ({ holds, replace }, path, text) => {
    const lines = text.split('\n').filter((line) => !holds(line));
    // A text that goes over several lines: then none of them is kept.
    replace(path, holds(lines.join('\n')) ? '' : lines.join('\n'));
  });
}

function change(
  look: Look,
  place: string,
  files: readonly string[],
  take: (look: Look, path: string, text: string) => void,
): ErasedPlace[] {
  const places: ErasedPlace[] = [];
  for (const name of files) {
    const path = join(look.root, name);
    if (!mayHold(path, look.holds)) continue;
    try {
      if (isBehindLink(look.root, path))
        throw new Error('It is a link or behind one, and nothing is changed through links');
      take(look, name, readDamaged(path) ?? '');
      if (mayHold(path, look.holds)) throw new Error('It may still have the text');
      places.push({ place, state: 'done', path });
    } catch (thrown) {
      places.push({ place, state: 'cannot', path, note: `${reasonOf(thrown)}. Delete it yourself.` });
    }
  }
  return places.length > 0 ? places : [{ place, state: 'not there' }];
}

/** The record of a finished archiving restores files by moving them; the texts it wrote are not needed again. */
function forgetWrittenTexts({ replace }: Look, path: string, text: string): void {
  const record = JSON.parse(text) as { intents: { done?: boolean; writes?: unknown }[] };
  const intents = record.intents.map((one) => (one.done === true ? { ...one, writes: [] } : one));
  replace(path, JSON.stringify({ ...record, intents }));
}

function isBehindLink(root: string, path: string): boolean {
  return realPathOf(path) !== join(realPathOf(root), relative(root, path));
}

/** What version 0.1 kept in the working tree, there or where `init --move-old` put it. */
function oldFolders({ root }: Workspace, look: Look): ErasedPlace[] {
  const tree = lookInTree(root, look.holds);
  const note = 'It is of version 0.1 and no longer used: delete it yourself.';
  const places = [
    ...named(tree, 'folder of version 0.1', filesBelow(tree, '.holdfast'), note),
    ...named(look, 'folder of version 0.1', filesBelow(look, 'from-0.1'), note),
  ];
  const left = places.filter(({ state }) => state === 'cannot');
  return left.length > 0 ? left : places.slice(0, 1);
}

/** Mirrored files follow the journal; what was kept of their earlier text is deleted. */
async function mirrorPlaces(context: Context, workspace: Workspace, state: State, look: Look): Promise<ErasedPlace[]> {
  const { tree } = workspace;
  const files: string[] = [];
  for (const mirror of state.mirrors.values()) {
    const { format, path } = mirror;
    files.push(path, ...(isResumeCopy(mirror) ? [] : readMirror(tree, await formatNamed(format), path).files.keys()));
  }
  // Some formats count the backup among their files.
  const mirrored = [...new Set(files)].filter((path) => !isCopy(basename(path)));
  const inTree = lookInTree(tree, look.holds);
  const copies = mirrored.flatMap((path) => copiesOf(tree, path));
  const beside = removed(inTree, 'copies beside mirrored files', copies);
  // Some formats read such a copy, and then the base has it too.
  if (beside.some((one) => one.state === 'done')) await syncMirrors(context, state);
  return [...rewritten(inTree, 'mirrored files', mirrored), ...baseFiles(state, look), ...beside];
}

/** `STATE.md.bak`, and `STATE.md.rejected-20260131T120000Z` of version 0.1. */
const isCopy = (name: string): boolean => /\.bak$|\.(?:rejected|corrupt)-\d{8}T\d{6}Z(?:-\d+)?$/.test(name);

function copiesOf(tree: string, path: string): string[] {
  const [name, folder] = [basename(path), dirname(path)];
  return listFolder(join(tree, folder))
    .filter((entry) => entry.startsWith(`${name}.`) && isCopy(entry))
    .map((entry) => join(folder, entry));
}

/** The base of a mirror in use shows what others edited and is kept; that of a former mirror is not needed. */
function baseFiles(state: State, look: Look): ErasedPlace[] {
  const files = filesBelow(look, 'mirrors');
  const inUse = files.filter((file) => {
    const { format, path } = parseMirror(readDamaged(join(look.root, file)));
    return state.mirrors.has(`${format}:${path}`);
  });
  const former = files.filter((file) => !inUse.includes(file));
  const stale = rewritten(look, 'mirror bases', inUse).map((one) =>
    one.state === 'cannot' ? { ...one, note: 'Run `holdfast mirror sync`, then erase again.' } : one,
  );
  return [...stale, ...removed(look, 'bases of former mirrors', former)];
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
    { place: 'data of other users of this repository', state: 'cannot', note: 'Each user erases their own.' },
  ];
}

const DEPTH = 4;

/** The files below a folder, as paths from the root, without following links to folders out of it. */
function filesBelow(look: Pick<Look, 'root'>, folder: string, depth = DEPTH): string[] {
  if (depth === 0) return [];
  return listFolder(join(look.root, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (!isFolder(join(look.root, path))) return [path];
    return isBehindLink(join(look.root, folder), join(look.root, path)) ? [] : filesBelow(look, path, depth - 1);
  });
}
