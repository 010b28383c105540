import { dirname, join, posix, resolve } from 'node:path';
import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import type { FileRow } from '../../core/fold/state.ts';
import type { ModelFile, RunModel } from '../../core/model/run-model.ts';
import { oneLine } from '../../core/text.ts';
import type { Engine } from '../../engine/engine.ts';
import { formatNames } from '../../formats/index.ts';
import { hashArtifact, recordedPath } from '../../workspace/files.ts';
import { isFile } from '../../workspace/read.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { execute, forPart } from '../act.ts';
import type { Context } from '../context.ts';
import { defineOperation, described, type Pen } from '../operation.ts';
import { chooseForTree } from '../run/parts/choose-run.ts';
import { absorbEdit } from './parts/absorb.ts';
import { takenOver } from './parts/adopted-words.ts';
import { findForeign } from './parts/find-foreign.ts';
import { type ForeignFile, freeRunId, type KnownFiles, knownFiles } from './parts/foreign-file.ts';
import { claimMirror, readBase, readMemory, saveBase } from './parts/mirror-base.ts';
import { mustBeMirrorable } from './parts/mirror-paths.ts';
import { syncMirrors } from './parts/mirrors.ts';
import { readWholeRun } from './parts/run-model.ts';

export const ProblemShape = v.object({
  code: v.string(),
  level: v.picklist(['error', 'warning']),
  path: v.string(),
  line: v.nullable(v.number()),
  message: v.string(),
});

const Adopted = v.object({
  format: v.picklist(formatNames),
  version: v.nullable(v.string()),
  path: v.string(),
  /** The run it became; null if nothing was adopted. */
  run: v.nullable(v.string()),
  outcome: v.picklist(['adopted', 'changed', 'known', 'unreadable', 'found']),
  steps: v.number(),
  decisions: v.number(),
  items: v.number(),
  /** What was taken over, in words. */
  taken: v.string(),
  position: v.nullable(v.string()),
  next: v.nullable(v.string()),
  /** Keys and sections that stay in the file only. */
  left: v.array(v.string()),
  mirrored: v.boolean(),
  problems: v.array(ProblemShape),
});
type Adopted = v.InferOutput<typeof Adopted>;

export const adopt = defineOperation({
  name: 'adopt',
  summary: "Adopt other tools' state files (apex, snap, codewalk, gsd, maestro), each as a run.",
  scope: 'write',
  local: true,
  counts: true,
  words: ['path'],
  flags: { dryRun: 'dry-run' },
  examples: ['holdfast adopt --dry-run', 'holdfast adopt --mirror'],
  input: v.object({
    path: v.optional(described(v.string(), 'The folder or file to look at; by default the workspace.')),
    dryRun: v.optional(described(v.boolean(), 'Show what would be adopted and change nothing.')),
    mirror: v.optional(described(v.boolean(), 'Mirror the runs in these files from now on.')),
  }),
  output: v.object({ found: v.array(Adopted), dryRun: v.boolean(), mirrored: v.boolean() }),
  async run(context, { path, dryRun = false, mirror = false }) {
    const root = resolve(context.workspace()?.tree ?? context.dir);
    const wanted = path === undefined ? undefined : resolve(context.dir, path);
    const stateFiles = await findForeign(root, wanted, context.progress);
    const runs = await knownFiles(context);
    const found: Adopted[] = [];
    for (const [done, file] of stateFiles.entries()) {
      context.progress?.({ doing: 'Adopting', done, total: stateFiles.length, at: file.found.main });
      if (dryRun) found.push(reportOf(file, 'found', null));
      else found.push(await adoptOne(context, file, mirror, runs));
    }
    return { data: { found, dryRun, mirrored: mirror && !dryRun } };
  },
  say({ found, dryRun }, pen) {
    if (found.length === 0) return 'There is no state file of another tool here.';
    return [
      ...found.map((one) => adoptedWords(one, pen)),
      ...(dryRun ? ['Nothing was changed. `holdfast adopt` adopts these files.'] : []),
    ].join('\n');
  },
  verdict: ({ found, dryRun }) => (!dryRun && found.length > 0 && found.every(({ run }) => run === null) ? 1 : 0),
});

function adoptedWords(one: Adopted, pen: Pen): string {
  const path = oneLine(one.path, 120);
  const name = `${path} (${one.format}${one.version ? ` ${one.version}` : ''})`;
  const run = pen.bold(one.run ?? '');
  const first: Record<Adopted['outcome'], string> = {
    adopted: `Adopted ${name} as run ${run}${one.mirrored ? '; the file is kept in sync.' : '.'}`,
    changed: `${name} was edited since; run ${run} has the changes.`,
    known: `${name} is known as run ${run} and unchanged.`,
    found: `Found ${name}.`,
    unreadable: `${name} cannot be adopted; \`holdfast doctor PATH\` shows what can be repaired.`,
  };
  const { taken, position, next, left } = one;
  const more = left.length - LEFT_SHOWN;
  const isNew = one.outcome === 'adopted' || one.outcome === 'found';
  return [
    first[one.outcome],
    ...(isNew && taken !== '' ? [`  ${one.outcome === 'found' ? 'Has' : 'Taken over'}: ${taken}.`] : []),
    ...(isNew && position ? [`  Position: ${position}.${next ? ` Next: ${next}` : ''}`] : []),
    ...(isNew && !position && next ? [`  Next: ${next}`] : []),
    ...(isNew && left.length > 0
      ? [
          `  Left in the file, searchable: ${left.slice(0, LEFT_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
        ]
      : []),
    ...problemLines(one, pen),
  ].join('\n');
}

const LEFT_SHOWN = 6;

/** `doctor` lists all problems of a file. */
const PROBLEMS_SHOWN = 5;

function problemLines({ problems: all, path, version, format, mirrored, outcome }: Adopted, pen: Pen): string[] {
  const isLeft = outcome === 'adopted' && !mirrored;
  const problems = all.map((problem) =>
    isLeft && problem.code === 'old_version'
      ? {
          ...problem,
          message: `The file stays ${version}; \`holdfast mirror add ${format}\` migrates it and keeps it in sync.`,
        }
      : problem,
  );
  const more = problems.length - PROBLEMS_SHOWN;
  return [
    ...problems.slice(0, PROBLEMS_SHOWN).map(({ level, path: file, line, message }) => {
      const at = `${oneLine(file, 100)}${line === null ? '' : `:${line}`}`;
      return level === 'error' ? `  ${pen.warn(at)} ${oneLine(message)}` : pen.dim(`  ${at} ${oneLine(message)}`);
    }),
    ...(more > 0 ? [pen.dim(`  and ${more} more: \`holdfast doctor ${oneLine(path, 100)}\``)] : []),
  ];
}

async function adoptOne(context: Context, file: ForeignFile, mirror: boolean, runs: KnownFiles): Promise<Adopted> {
  const { format, base, name, found, files, parsed } = file;
  const mirrored = runs.mirrorOf({ format: format.name, path: name });
  const known = mirrored ?? runs.adoptedAs(format.name, name);
  const { model } = parsed;
  if (!model) return reportOf(file, 'unreadable', known);
  const isOutside = name !== found.main;
  if (mirror && isOutside) throw outside(name);
  const workspace = context.workspace() ?? context.createWorkspace();
  const engine = await context.engine();
  const source = { format: format.name, path: name, ...(parsed.version ? { dialect: parsed.version } : {}) };
  let run = known;
  let outcome: Adopted['outcome'] = 'known';
  if (run === null) {
    run = await freeRunId(engine, found, model);
    const title = model.run.title.trim() || run;
    const located = withPaths(model, base, dirname(found.main));
    const opening = { title, workspace: workspace?.id ?? 'none', account: { ...source, account: located } };
    await execute(context, run, { type: 'run.open', ...opening });
    await chooseForTree(context, run);
    outcome = 'adopted';
  } else if (workspace && (await absorbChange(context, workspace, run, file)) > 0) outcome = 'changed';
  // Also for a known run: its adoption may have been cut off before the files were hashed.
  if (!isOutside) await seeFiles(context, engine, run, base, withPaths(model, base, dirname(found.main)));
  if (!isOutside && model.run.plan) await seePlan(context, engine, run, base, model.run.plan);
  if (workspace) saveBase(workspace, { format: format.name, path: name }, files);
  const isMirrored = mirror && mayMirror(context, file);
  if (isMirrored) {
    if (workspace) claimMirror(workspace, { format: format.name, path: name });
    const identity = forPart(context.identity, `mirror ${found.main}`);
    await engine.execute(run, { type: 'mirror.add', format: format.name, path: found.main }, identity);
    await syncMirrors(context, await engine.load(run));
  }
  return { ...reportOf(file, outcome, run), mirrored: isMirrored || mirrored !== null };
}

function mayMirror(context: Context, { format, base, name, parsed }: ForeignFile): boolean {
  try {
    if (!parsed.writable) throw new Error('It must not be written.');
    mustBeMirrorable(base, format, name);
    return true;
  } catch (thrown) {
    context.warn(`${name} was adopted but is not mirrored: ${(thrown as Error).message}`);
    return false;
  }
}

function outside(path: string): Fault {
  return new Fault('not_allowed', `${path} is outside this workspace: it can be adopted but not mirrored.`, {
    hints: ['Adopt it without `--mirror`, or run `holdfast adopt --mirror` in the folder it belongs to.'],
    data: { path },
  });
}

/** Paths are relative to the root or to the folder of the state file; each file is looked up once. */
function withPaths(model: RunModel, root: string, folder: string): RunModel {
  const locate = (file: ModelFile): ModelFile => {
    const beside = posix.join(folder, file.path);
    if (isInside(root, file.path) || !isInside(root, beside)) return file;
    return { ...file, place: beside };
  };
  return {
    ...model,
    files: model.files.map(locate),
    steps: model.steps.map((step) => (step.artifacts ? { ...step, artifacts: step.artifacts.map(locate) } : step)),
  };
}

function isInside(root: string, path: string): boolean {
  try {
    return isFile(join(root, recordedPath(root, root, path)));
  } catch {
    return false;
  }
}

/** Hashes the existing files once, so that later changes are noticed. */
async function seeFiles(context: Context, engine: Engine, run: string, root: string, model: RunModel): Promise<void> {
  const owners = new Map(
    model.steps.flatMap(({ key, artifacts = [] }) => artifacts.map((file) => [file.place ?? file.path, key] as const)),
  );
  const named = [...model.files.map((file) => file.place ?? file.path), ...owners.keys()];
  const known = await engine.rows(run, { kind: 'file', limit: Number.MAX_SAFE_INTEGER });
  const seen = new Set(
    known.filter(({ doc }) => typeof (doc as FileRow).sha256 === 'string').map(({ doc }) => (doc as FileRow).path),
  );
  const there = [...new Set(named)].filter((path) => !seen.has(path) && isInside(root, path));
  const byStep = new Map<string | undefined, string[]>();
  for (const path of there) byStep.set(owners.get(path), [...(byStep.get(owners.get(path)) ?? []), path]);
  const identity = { ...context.identity, key: null };
  for (const [step, paths] of byStep) {
    const artifacts = await Promise.all(paths.map((path) => hashArtifact(root, path)));
    await engine.execute(run, { type: 'files.see', artifacts, ...(step ? { step } : {}) }, identity);
  }
}

/** The plan as it was when the file was adopted: a change of it since is a conflict. */
async function seePlan(context: Context, engine: Engine, run: string, root: string, path: string): Promise<void> {
  if (!isInside(root, path) || (await engine.load(run)).run?.plan?.sha256) return;
  const { sha256 } = await hashArtifact(root, path);
  await engine.execute(run, { type: 'run.amend', plan: { path, sha256 } }, { ...context.identity, key: null });
}

/** Absorbs what was edited since the file was adopted and returns the number of events. */
async function absorbChange(context: Context, workspace: Workspace, run: string, file: ForeignFile): Promise<number> {
  const { format, found, name, parsed, files } = file;
  const base = readBase(workspace, { format: format.name, path: name }, files);
  const before = base && format.parse({ ...found, files: [...base.keys()] }, base).model;
  if (!before || !parsed.model) return 0;
  const engine = await context.engine();
  const mirror = { format: format.name, path: name };
  const journal = await readWholeRun(engine, await engine.load(run), format);
  const sides = { before, after: parsed.model, journal };
  return (await absorbEdit(engine, run, mirror, format, sides, readMemory(workspace, mirror))).events;
}

function reportOf(
  { format, name, found, files, parsed }: ForeignFile,
  outcome: Adopted['outcome'],
  run: string | null,
): Adopted {
  const { model, version, problems } = parsed;
  const open = model?.items.filter(({ status }) => status === 'open' || status === 'active' || status === 'bypassed');
  return {
    format: format.name,
    version,
    path: name,
    run,
    outcome,
    steps: model?.steps.length ?? 0,
    decisions: model?.decisions.length ?? 0,
    items: open?.length ?? 0,
    ...(model
      ? takenOver(model, parsed.unknown, { path: found.main, text: files.get(found.main) ?? '' })
      : { taken: '', position: null, next: null, left: [] }),
    mirrored: false,
    problems,
  };
}
