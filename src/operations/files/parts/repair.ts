import { join } from 'node:path';
import type { Repaired } from '../../../formats/format.ts';
import { keepCopy, lastCopy } from '../../../workspace/guarded/copies.ts';
import { openGuarded } from '../../../workspace/guarded/tree-files.ts';
import { type FileTree, openTree } from '../../../workspace/tree.ts';
import { shownPath, type Workspace } from '../../../workspace/workspace.ts';
import { execute, forPart } from '../../act.ts';
import type { Context } from '../../context.ts';
import { findForeign } from './find-foreign.ts';
import { type ForeignFile, freeRunId, knownFiles } from './foreign-file.ts';
import { claimMirror, saveBase } from './mirror-base.ts';
import { mustBeMirrorable } from './mirror-paths.ts';
import { syncMirrors } from './mirrors.ts';
import { readWholeRun } from './run-model.ts';

/** A problem in another tool's file, or what was or can be done about it. */
export interface Examined {
  code: string;
  level: 'error' | 'warning';
  at: string;
  message: string;
}

/** Examines the state files below a path. With `repair`, adopts and rewrites damaged ones as far as possible. */
export async function examineFiles(context: Context, path: string, repair: boolean): Promise<Examined[]> {
  const root = context.workspace()?.tree ?? context.dir;
  const examined: Examined[] = [];
  for (const file of await findForeign(root, path)) {
    const repairs = file.parsed.model === null ? await repairFile(context, file, repair) : [];
    // A repaired problem is still reported, as a warning.
    const isRepaired = repairs.some(({ code }) => code === 'repaired');
    const problems = file.parsed.problems.map(
      ({ code, level, path: at, line, message }): Examined => ({
        code,
        level: isRepaired ? 'warning' : level,
        at: line === null ? at : `${at}:${line}`,
        message,
      }),
    );
    examined.push(...problems, ...repairs);
  }
  return examined;
}

async function repairFile(context: Context, file: ForeignFile, repair: boolean): Promise<Examined[]> {
  const { format, base: root, found } = file;
  const repaired = format.repair(found, withBackup(openTree(root), context.workspace(), found.main));
  if (!repaired) {
    const message =
      'Nothing around it shows the state of the work. `holdfast init` starts a new run; the file stays as it is.';
    return [{ code: 'nothing_left', level: 'error', at: found.main, message }];
  }
  const findings = wordsOf(repaired);
  const from = repaired.sources.join(', ') || 'the template: nothing around it shows the state of the work';
  const shown = findings.map((message): Examined => ({ code: 'salvage', level: 'warning', at: found.main, message }));
  if (!repair) {
    const message = `It can be repaired from ${from}, as a run and as a file: \`holdfast doctor ${found.main} --repair\`. The damaged file is kept.`;
    return [...shown, { code: 'salvageable', level: 'error', at: found.main, message }];
  }
  mustBeMirrorable(root, format, found.main);
  const run = await adoptRepaired(context, file, repaired, findings);
  const { now } = await context.engine();
  const kept = keepDamaged(context.workspace(), file, now());
  await rewrite(context, file, run);
  const isMirrored = await mirrorAgain(context, file, run);
  const message = `Run ${run} was repaired from ${from}, and the file was rewritten and is ${isMirrored ? 'kept in sync' : 'not mirrored'}.${kept ? ` The damaged one is kept as ${kept}.` : ''} Check each step before you rely on it.`;
  return [...shown, { code: 'repaired', level: 'warning', at: found.main, message }];
}

/** A file that was repaired is written by us from now on. */
async function mirrorAgain(context: Context, { format, name, found }: ForeignFile, run: string): Promise<boolean> {
  const workspace = context.workspace();
  if (!workspace || name !== found.main) return false;
  const engine = await context.engine();
  const mirror = { format: format.name, path: found.main };
  claimMirror(workspace, mirror);
  const identity = forPart(context.identity, `mirror ${found.main}`);
  await engine.execute(run, { type: 'mirror.add', ...mirror }, identity);
  await syncMirrors(context, await engine.load(run));
  return true;
}

/** The last backup in the data folder, under the name that backups beside a file have. */
function withBackup(tree: FileTree, workspace: Workspace | null, main: string): FileTree {
  const path = `${main}.bak`;
  const backup = workspace && !tree.paths.includes(path) ? lastCopy(workspace.files, 'backups', main) : null;
  if (backup === null) return tree;
  return { ...tree, paths: [...tree.paths, path].sort(), read: (one) => (one === path ? backup : tree.read(one)) };
}

function keepDamaged(workspace: Workspace | null, { base: root, found }: ForeignFile, now: string): string | null {
  const bytes = openGuarded(root).bytes(found.main);
  if (!workspace || bytes === null) return null;
  const copy = keepCopy(workspace.files, 'rejected', found.main, bytes, now);
  return shownPath(workspace, join(workspace.folder, copy));
}

/** Replaces the damaged file only: its backup beside it may be the only good copy. */
async function rewrite(context: Context, file: ForeignFile, run: string): Promise<void> {
  const { format, base: root, name, found, files } = file;
  const engine = await context.engine();
  const beside = new Map([...files].filter(([path]) => path !== found.main));
  const model = await readWholeRun(engine, await engine.load(run), format);
  const text = format.render(model, found, beside, engine.now()).get(found.main);
  if (text === undefined) return;
  openGuarded(root).overwrite(found.main, text);
  const workspace = context.workspace();
  if (workspace) saveBase(workspace, { format: format.name, path: name }, new Map([...beside, [found.main, text]]));
}

async function adoptRepaired(
  context: Context,
  { format, name, found }: ForeignFile,
  repaired: Repaired,
  findings: string[],
): Promise<string> {
  const known = (await knownFiles(context)).adoptedAs(format.name, name);
  const workspace = context.workspace() ?? context.createWorkspace();
  const engine = await context.engine();
  const { model } = repaired;
  const source = { format: format.name, path: name };
  const run = known ?? (await freeRunId(engine, found, model));
  // The journal is better than anything that can be repaired from files.
  if (known === null) {
    const title = model.run.title.trim() || run;
    const opening = { title, workspace: workspace?.id ?? 'none', account: { ...source, account: model } };
    await execute(context, run, { type: 'run.open', ...opening });
  }
  const from = known === null ? repaired.sources.join(', ') || 'the template' : 'the journal';
  const identity = forPart(context.identity, `recovery of ${name}`);
  await execute(context, run, { type: 'recovery.make', from, findings }, { identity, mirrors: false });
  return run;
}

function wordsOf({ confidence }: Repaired): string[] {
  return confidence.map(({ step, confidence: how, from }) => `Step ${step}: ${how} confidence, from ${from}.`);
}
