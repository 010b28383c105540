import { dirname, join } from 'node:path';
import type { Mirror, State } from '../../../core/fold/state.ts';
import { archivePlan } from '../../../formats/maestro/archive-plan.ts';
import { maestro } from '../../../formats/maestro/format.ts';
import { recordedPath } from '../../../workspace/files.ts';
import { pathExists, readText } from '../../../workspace/read.ts';
import { openTree } from '../../../workspace/tree.ts';
import type { Workspace } from '../../../workspace/workspace.ts';
import { makeOwnFolder, moveFile, removeFile, writeAtomically } from '../../../workspace/write.ts';
import type { Context } from '../../context.ts';
import { readBase, saveBase } from '../../files/parts/mirror-base.ts';
import { readMirror, syncMirrors } from '../../files/parts/mirrors.ts';
import { readWholeRun } from '../../files/parts/run-model.ts';

/** A file that was archived or restored. */
export interface Moved {
  what: string;
  from: string;
  to: string;
}

/**
 * What archiving a run does to the files of its mirrors. Saved before anything is moved, so that archiving again completes
 * what was cut off; afterwards it is used to restore the files.
 */
interface Intent {
  mirror: Mirror;
  archivedAs: string;
  moves: Moved[];
  removes: string[];
  writes: [path: string, text: string][];
  done: boolean;
}

const intentFile = ({ folder }: Workspace, run: string): string => join(folder, 'archives', `${run}.json`);

/** Plans the moves. Only Maestro has an archive folder; files of other formats stay. */
export async function planArchive(context: Context, state: State): Promise<void> {
  const workspace = context.workspace();
  const run = state.run?.id;
  if (!workspace || run === undefined) return;
  // An unfinished plan counts only for an archived run; for any other run the archiving was refused.
  const isStarted = state.run?.status === 'archived' && readIntents(workspace, run).some((intent) => !intent.done);
  if (isStarted) return;
  const engine = await context.engine();
  const intents: Intent[] = [];
  for (const mirror of state.mirrors.values()) {
    if (mirror.format !== maestro.name) continue;
    const { found, files } = readMirror(workspace.tree, maestro, mirror.path);
    const model = await readWholeRun(engine, state);
    const plan = archivePlan(model, found, files, openTree(workspace.tree), engine.now());
    if (!plan) continue;
    intents.push({
      mirror: { ...mirror },
      archivedAs: plan.place.main,
      moves: [...plan.moves],
      removes: [...plan.removes],
      writes: [...plan.writes],
      done: false,
    });
  }
  if (intents.length > 0) saveIntents(workspace, run, intents);
}

/** Carries out the plan from where it was cut off. Each move is made once; nothing is overwritten. */
export async function carryOutArchive(context: Context, run: string): Promise<Moved[]> {
  const workspace = context.workspace();
  const intents = workspace ? readIntents(workspace, run) : [];
  if (!workspace || intents.every((intent) => intent.done)) return [];
  const engine = await context.engine();
  const { tree } = workspace;
  for (const intent of intents) {
    if (intent.done) continue;
    for (const [path, text] of intent.writes) {
      const file = inside(tree, path);
      if (pathExists(file)) writeAtomically(file, text);
    }
    for (const one of intent.moves) {
      if (pathExists(inside(tree, one.from)) && pathExists(inside(tree, one.to))) {
        // Another file took the name meanwhile and is never overwritten.
        one.to = freeName(tree, one.to);
        saveIntents(workspace, run, intents);
      }
      moveFile(inside(tree, one.from), inside(tree, one.to));
    }
    for (const path of intent.removes) removeFile(inside(tree, path));
    const state = await engine.load(run);
    if (state.mirrors.has(`${intent.mirror.format}:${intent.mirror.path}`))
      await engine.execute(run, { type: 'mirror.remove', ...intent.mirror }, { ...context.identity, key: null });
    intent.done = true;
    saveIntents(workspace, run, intents);
  }
  const moves = intents.flatMap((intent) => intent.moves);
  for (const { from, to } of moves) {
    if (pathExists(inside(tree, from))) context.warn(`${from} is still there.`);
    if (!pathExists(inside(tree, to))) context.warn(`${to} is missing.`);
  }
  return moves;
}

/** Moves the files of a run back where the path is free, and mirrors them again. */
export async function undoArchive(context: Context, run: string): Promise<Moved[]> {
  const workspace = context.workspace();
  const intents = workspace ? readIntents(workspace, run) : [];
  if (!workspace || intents.length === 0) return [];
  const engine = await context.engine();
  const back: Moved[] = [];
  for (const { mirror, moves } of intents) {
    for (const { what, from, to } of [...moves].reverse()) {
      if (!pathExists(inside(workspace.tree, to))) continue;
      if (pathExists(inside(workspace.tree, from))) {
        context.warn(`${from} already exists; the archived file stays at ${to}.`);
        continue;
      }
      moveFile(inside(workspace.tree, to), inside(workspace.tree, from));
      back.push({ what, from: to, to: from });
    }
    const { files } = readMirror(workspace.tree, maestro, mirror.path);
    const base = readBase(workspace, mirror, files);
    if (!files.has(mirror.path)) continue;
    if (base === null || base.get(mirror.path) !== files.get(mirror.path)) saveBase(workspace, mirror, files);
    await engine.execute(run, { type: 'mirror.add', ...mirror }, { ...context.identity, key: null });
  }
  removeFile(intentFile(workspace, run));
  // The state file still names the paths in the archive.
  await syncMirrors(context, await engine.load(run));
  return back;
}

function readIntents(workspace: Workspace, run: string): Intent[] {
  try {
    return JSON.parse(readText(intentFile(workspace, run)) ?? '[]') as Intent[];
  } catch {
    return [];
  }
}

function saveIntents(workspace: Workspace, run: string, intents: readonly Intent[]): void {
  const file = intentFile(workspace, run);
  makeOwnFolder(dirname(file));
  writeAtomically(file, JSON.stringify(intents));
}

const inside = (tree: string, path: string): string => join(tree, recordedPath(tree, tree, path));

function freeName(tree: string, path: string): string {
  const [, stem = path, ending = ''] = /^(.*?)(\.[^./]+)?$/.exec(path) ?? [];
  for (let number = 2; ; number++) {
    const name = `${stem}-${number}${ending}`;
    if (!pathExists(inside(tree, name))) return name;
  }
}
