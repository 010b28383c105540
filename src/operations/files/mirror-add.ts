import { join, posix } from 'node:path';
import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import type { State } from '../../core/fold/state.ts';
import type { Foreign } from '../../core/fold/touch.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Format, FormatName } from '../../formats/format.ts';
import { formatNames } from '../../formats/index.ts';
import { lossWords } from '../../formats/losses.ts';
import { recordedPath } from '../../workspace/files.ts';
import { findForeignState } from '../../workspace/foreign.ts';
import { openGuarded } from '../../workspace/guarded/tree-files.ts';
import { isFolder, pathExists } from '../../workspace/read.ts';
import { openTree } from '../../workspace/tree.ts';
import { act, currentState } from '../act.ts';
import type { Context } from '../context.ts';
import { defineOperation, described } from '../operation.ts';
import { MirrorShape } from './mirror-sync.ts';
import { type KnownFiles, knownFiles } from './parts/foreign-file.ts';
import { claimMirror, isOwnMirror, readBase, saveBase } from './parts/mirror-base.ts';
import { mustBeMirrorable } from './parts/mirror-paths.ts';
import { formatNamed, readMirror, syncMirrors, unsynced } from './parts/mirrors.ts';
import { isResumeCopy, RESUME, writeResumeCopies } from './parts/resume-copy.ts';
import { readWholeRun } from './parts/run-model.ts';

export const mirrorAdd = defineOperation({
  name: 'mirror.add',
  summary: "Mirror this run in another tool's file, or its brief in a file of the working tree (resume).",
  scope: 'write',
  local: true,
  words: ['format', 'path'],
  examples: ['holdfast mirror add gsd', 'holdfast mirror add codewalk --folders', 'holdfast mirror add resume'],
  input: v.object({
    format: described(
      v.picklist([...formatNames, RESUME.name]),
      'The format of the file; `resume` is the brief, which is written and never read.',
    ),
    path: v.optional(
      described(
        v.string(),
        'The file or its folder; by default the one the format prescribes, and RESUME.md for the brief.',
      ),
    ),
    folders: v.optional(
      described(v.boolean(), 'A file for each decision, blocker and session, in `.planning/` (codewalk).'),
    ),
  }),
  output: v.object({
    run: v.string(),
    mirror: MirrorShape,
    loses: v.array(v.string()),
    without: v.nullable(v.string()),
  }),
  async run(context, input) {
    if (input.format === RESUME.name) return addResumeCopy(context, input.path ?? RESUME.home);
    const format = await formatNamed(input.format);
    if (input.folders) mustHaveFolders(format, input.path);
    const workspace = context.workspace() ?? context.createWorkspace();
    if (!workspace) throw noWorkspace();
    const state = await currentState(context);
    const engine = await context.engine();
    const isThere = (folder: string): boolean => pathExists(join(workspace.tree, folder));
    const home = format.home(await readWholeRun(engine, state), isThere, input.folders).main;
    const path =
      input.path === undefined
        ? ((await adoptedFrom(engine, state, format.name)) ?? home)
        : inFolder(workspace.tree, format, input.path, home);
    const mirror = { format: format.name, path: recordedPath(workspace.tree, workspace.tree, path) };
    mustBeMirrorable(workspace.tree, format, mirror.path);
    const { found, files } = readMirror(workspace.tree, format, mirror.path);
    const self = state.run?.id;
    const refusal = format.oneAtATime ? 'usage' : 'illegal';
    const known = await knownFiles(context);
    if (format.oneAtATime && input.path === undefined) mustBeOnly(workspace.tree, known, format.name, mirror.path);
    const other = known.mirrorOf(mirror);
    if (other !== null && other !== self) throw alreadyThere(refusal, mirror.path, other);
    if (files.has(mirror.path) && other === null) {
      const owner = known.adoptedAs(format.name, found.main);
      const isOurs = owner === self || (owner === null && readBase(workspace, mirror, files) !== null);
      if (!isOurs) throw alreadyThere(refusal, mirror.path, owner, format.parse(found, files).model === null);
      if (readBase(workspace, mirror, files) === null) saveBase(workspace, mirror, files);
    }
    claimMirror(workspace, mirror);
    const done = await act(context, { type: 'mirror.add', ...mirror });
    const [synced] = (await syncMirrors(context, done.state)).filter((one) => one.path === mirror.path);
    if (!synced)
      throw new Fault('unavailable', 'The mirror was not written.', { hints: ['Try `holdfast mirror sync`.'] });
    const without = lossWords(await readWholeRun(engine, done.state, format), format.loses);
    return { data: { run: done.run, mirror: synced, loses: [...format.loses], without }, changed: done.changed };
  },
  say: ({ mirror, without }, pen) =>
    [
      isResumeCopy(mirror)
        ? `${pen.bold(mirror.path)} shows the brief of this run. It is written and never read.`
        : `${pen.bold(mirror.path)} mirrors this run.`,
      ...(without ? [pen.dim(`There is no place for ${without} in it; they stay in the journal.`)] : []),
    ].join('\n'),
});

/** The file that the run was adopted from. */
async function adoptedFrom(engine: Engine, { run }: State, format: string): Promise<string | undefined> {
  const rows = await engine.rows(run?.id ?? '', { kind: 'foreign', limit: 100 });
  const paths = rows.map(({ doc }) => doc as unknown as Foreign).filter((one) => one.format === format);
  return paths.length === 1 ? paths[0]?.path : undefined;
}

function mustHaveFolders(format: Format, path: string | undefined): void {
  if (!format.hasFolders)
    throw new Fault('usage', `Only codewalk has a form with folders; ${format.name} is one file.`, {
      hints: [`\`holdfast mirror add ${format.name}\``],
    });
  if (path !== undefined && !/(?:^|\/)\.planning\/STATE\.md$/.test(path))
    throw new Fault('usage', 'The form with folders lies in `.planning/`.', {
      hints: ['`holdfast mirror add codewalk --folders`, or a path that ends in `.planning/STATE.md`.'],
    });
}

/** The state file of a given folder: the one that is there, or a new one under the usual name. */
function inFolder(tree: string, format: Format, path: string, home: string): string {
  const isFolderName = path.endsWith('/') || isFolder(join(tree, path)) || posix.extname(path) === '';
  if (!isFolderName) return path;
  const folder = path.replace(/\/+$/, '');
  const [found] = format.detect(openTree(tree, [folder])).filter(({ main }) => posix.dirname(main) === folder);
  return found?.main ?? posix.join(folder, posix.basename(home));
}

async function addResumeCopy(context: Context, input: string) {
  const workspace = context.workspace() ?? context.createWorkspace();
  if (!workspace) throw noWorkspace();
  const path = recordedPath(workspace.tree, workspace.tree, input);
  const mirror = { format: RESUME.name, path };
  mustBeMirrorable(workspace.tree, RESUME, path);
  const self = (await currentState(context)).run?.id;
  const other = (await knownFiles(context)).mirrorOf(mirror);
  if (other !== null && other !== self) throw alreadyThere('illegal', path, other);
  if (openGuarded(workspace.tree).exists(path) && !isOwnMirror(workspace, mirror)) throw taken(path);
  claimMirror(workspace, mirror);
  const done = await act(context, { type: 'mirror.add', ...mirror });
  const { writeResumeFile } = await import('../brief/parts/resume-file.ts');
  await writeResumeFile(context, done.state, false);
  const [written] = (await writeResumeCopies(context, done.state)).filter((one) => one.path === path);
  const data = { run: done.run, mirror: written ?? unsynced(mirror), loses: [], without: null };
  return { data, changed: done.changed };
}

const noWorkspace = (): Fault => new Fault('usage', 'A mirror needs a workspace; there is only a store here.');

const taken = (path: string): Fault =>
  new Fault('illegal', `The file ${quoted(path)} already exists, and the brief would replace it.`, {
    hints: ['Choose another path: `holdfast mirror add resume notes/RESUME.md`.'],
    data: { path },
  });
/** Beside an unfinished session of a tool that knows only one there is no second one. */
function mustBeOnly(tree: string, known: KnownFiles, format: FormatName, path: string): void {
  const other = findForeignState(tree).find((one) => one.format === format && one.path !== path);
  if (!other) return;
  const owner = known.mirrorOf({ format, path: other.path }) ?? known.adoptedAs(format, other.path);
  throw alreadyThere('usage', other.path, owner);
}

const sessionHints = (run: string): string[] => [
  `Continue it: \`holdfast resume --run ${run}\``,
  `Or archive it first: \`holdfast archive --run ${run}\``,
];

/** A second run on the same file would overwrite the first. */
function alreadyThere(code: 'usage' | 'illegal', path: string, owner: string | null, isDamaged = false): Fault {
  if (isDamaged && owner === null)
    return new Fault(code, `The file ${quoted(path)} is there and cannot be read.`, {
      hints: [`Repair it: \`holdfast doctor ${path} --repair\``, 'Or choose another path.'],
      data: { path, run: owner },
    });
  return new Fault(
    code,
    `The file ${quoted(path)} already exists${owner ? ` and belongs to run ${quoted(owner)}` : ''}.`,
    {
      hints: owner
        ? sessionHints(owner)
        : [`Adopt it as its own run: \`holdfast adopt ${path} --mirror\`; or choose another path.`],
      data: { path, run: owner },
    },
  );
}
