import type { Mirror, State } from '../../../core/fold/state.ts';
import { archivePlan } from '../../../formats/maestro/archive-plan.ts';
import { maestro } from '../../../formats/maestro/format.ts';
import { type GuardedTree, openGuarded } from '../../../workspace/guarded/tree-files.ts';
import { forgetArchive, readArchive, saveArchive } from '../../../workspace/state/archives.ts';
import { openTree } from '../../../workspace/tree.ts';
import type { Context } from '../../context.ts';
import { claimMirror, isOwnMirror, readBase, saveBase } from '../../files/parts/mirror-base.ts';
import { mustBeMirrorable } from '../../files/parts/mirror-paths.ts';
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

/** Plans the moves. Only Maestro has an archive folder; files of other formats stay. */
export async function planArchive(context: Context, state: State): Promise<void> {
  const workspace = context.workspace();
  const run = state.run?.id;
  if (!workspace || run === undefined) return;
  // An unfinished plan counts only for an archived run; for any other run the archiving was refused.
  const isStarted =
    state.run?.status === 'archived' && readArchive<Intent>(workspace, run).some((intent) => !intent.done);
  if (isStarted) return;
  const engine = await context.engine();
  const intents: Intent[] = [];
  for (const mirror of state.mirrors.values()) {
    if (mirror.format !== maestro.name || !isOwnMirror(workspace, mirror)) continue;
    mustBeMirrorable(workspace.tree, maestro, mirror.path);
    const { found, files } = readMirror(workspace.tree, maestro, mirror.path);
    const model = await readWholeRun(engine, state);
    const plan = archivePlan(model, found, files, openTree(workspace.tree), engine.now());
    if (!plan) continue;
    for (const { what, path } of plan.missing) context.warn(`The ${what} ${path} is not there and was not archived.`);
    intents.push({
      mirror: { ...mirror },
      archivedAs: plan.place.main,
      moves: [...plan.moves],
      removes: [...plan.removes],
      writes: [...plan.writes],
      done: false,
    });
  }
  if (intents.length > 0) saveArchive(workspace, run, intents);
}

/** Carries out the plan from where it was cut off. Each move is made once; nothing is overwritten. */
export async function carryOutArchive(context: Context, run: string): Promise<Moved[]> {
  const workspace = context.workspace();
  const intents = workspace ? readArchive<Intent>(workspace, run) : [];
  if (!workspace || intents.every((intent) => intent.done)) return [];
  const engine = await context.engine();
  const tree = openGuarded(workspace.tree);
  for (const intent of intents) {
    if (intent.done) continue;
    mustBeAllowed(workspace.tree, intent);
    for (const [path, text] of intent.writes) if (tree.exists(path)) tree.overwrite(path, text);
    for (const one of intent.moves) {
      if (tree.exists(one.from) && tree.exists(one.to)) {
        // Another file took the name meanwhile and is never overwritten.
        one.to = freeName(tree, one.to);
        saveArchive(workspace, run, intents);
      }
      tree.move(one.from, one.to);
    }
    for (const path of intent.removes) tree.remove(path);
    const state = await engine.load(run);
    if (state.mirrors.has(`${intent.mirror.format}:${intent.mirror.path}`))
      await engine.execute(run, { type: 'mirror.remove', ...intent.mirror }, { ...context.identity, key: null });
    intent.done = true;
    saveArchive(workspace, run, intents);
  }
  const moves = intents.flatMap((intent) => intent.moves);
  for (const { from, to } of moves) {
    if (tree.exists(from)) context.warn(`${from} is still there.`);
    if (!tree.exists(to)) context.warn(`${to} is missing.`);
  }
  return moves;
}

/** Moves the files of a run back where the path is free, and mirrors them again. */
export async function undoArchive(context: Context, run: string): Promise<Moved[]> {
  const workspace = context.workspace();
  const intents = workspace ? readArchive<Intent>(workspace, run) : [];
  if (!workspace || intents.length === 0) return [];
  const engine = await context.engine();
  const tree = openGuarded(workspace.tree);
  const back: Moved[] = [];
  for (const intent of intents) {
    const { mirror, moves } = intent;
    mustBeAllowed(workspace.tree, intent);
    for (const { what, from, to } of [...moves].reverse()) {
      if (!tree.exists(to)) continue;
      if (tree.exists(from)) {
        context.warn(`${from} already exists; the archived file stays at ${to}.`);
        continue;
      }
      tree.move(to, from);
      back.push({ what, from: to, to: from });
    }
    const { files } = readMirror(workspace.tree, maestro, mirror.path);
    const base = readBase(workspace, mirror, files);
    if (!files.has(mirror.path)) continue;
    if (base === null || base.get(mirror.path) !== files.get(mirror.path)) saveBase(workspace, mirror, files);
    claimMirror(workspace, mirror);
    await engine.execute(run, { type: 'mirror.add', ...mirror }, { ...context.identity, key: null });
  }
  forgetArchive(workspace, run);
  // The state file still names the paths in the archive.
  await syncMirrors(context, await engine.load(run));
  return back;
}

/** At the moment of use: what a plan names may be a link by now. */
function mustBeAllowed(tree: string, { writes, moves, removes }: Intent): void {
  const paths = [...writes.map(([path]) => path), ...moves.flatMap(({ from, to }) => [from, to]), ...removes];
  for (const path of paths) mustBeMirrorable(tree, maestro, path);
}

function freeName(tree: GuardedTree, path: string): string {
  const [, stem = path, ending = ''] = /^(.*?)(\.[^./]+)?$/.exec(path) ?? [];
  for (let number = 2; ; number++) {
    const name = `${stem}-${number}${ending}`;
    if (!tree.exists(name)) return name;
  }
}
