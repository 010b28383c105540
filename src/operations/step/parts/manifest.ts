import { join } from 'node:path';
import type { State, Step } from '../../../core/fold/state.ts';
import type { Artifact, TreeMark } from '../../../core/journal/event.ts';
import { hashArtifact } from '../../../workspace/files.ts';
import { readChangesSince } from '../../../workspace/git/changes.ts';
import { bornAt } from '../../../workspace/read.ts';
import { currentState } from '../../act.ts';
import { beginGitStatus, fullTreeMark } from '../../brief/parts/evidence.ts';
import type { Context } from '../../context.ts';
import { treeMark } from '../../working-tree.ts';

/** More files than that are a generated tree, not the work of a phase. */
const FILES_LIMIT = 300;

/** The state of the working tree at the start of a step; with its changed files where the end compares with them. */
export async function startMark(context: Context): Promise<TreeMark | undefined> {
  return keepsManifests(await currentState(context))
    ? fullTreeMark(context, beginGitStatus(context))
    : treeMark(context);
}

/**
 * The files that a step created, modified and deleted: those that differ from the commit at its start and were not
 * changed then, and those that were named. Without git a named file is new if it did not exist at the start.
 */
export async function manifestOf(
  context: Context,
  key: string | undefined,
  named: Artifact[] | undefined,
): Promise<Artifact[] | undefined> {
  const state = await currentState(context);
  const step = heldStep(state, key, context.identity.actor.name);
  const workspace = context.workspace();
  if (!step || !workspace || !keepsManifests(state)) return named;
  const engine = await context.engine();
  const event = await engine.event(state.run?.id ?? '', step.startedVersion);
  const mark = event && 'mark' in event.body ? event.body.mark : undefined;
  const changes = mark?.head ? await readChangesSince(workspace.tree, mark.head) : null;
  const before = new Set(mark?.dirty ?? []);
  const own = [...state.mirrors.values()].map(({ path }) => path);
  const isWork = (path: string): boolean =>
    !own.some((mirror) => path === mirror || path.startsWith(`${mirror}.`)) &&
    ![...before].some((one) => one === path || (one.endsWith('/') && path.startsWith(one)));
  const found = [...(changes ?? [])].filter(([path]) => isWork(path)).slice(0, FILES_LIMIT);
  const artifacts = new Map(
    (named ?? []).map((one) => [one.path, { ...one, change: one.change ?? changeOf(workspace.tree, one.path, step) }]),
  );
  for (const [path, change] of found)
    artifacts.set(path, { ...(artifacts.get(path) ?? (await hashArtifact(workspace.tree, path))), change });
  return artifacts.size > 0 ? [...artifacts.values()] : named;
}

/** Only Maestro's session lists the files of a phase by what happened to them. */
const keepsManifests = ({ mirrors }: State): boolean =>
  [...mirrors.values()].some(({ format }) => format === 'maestro');

function heldStep({ steps }: State, key: string | undefined, agent: string): Step | undefined {
  if (key !== undefined) return steps.get(key);
  return [...steps.values()].find(({ holder }) => holder?.agent === agent);
}

function changeOf(tree: string, path: string, { startedAt }: Step): 'created' | 'modified' | 'deleted' {
  const at = bornAt(join(tree, path));
  if (at === null) return 'deleted';
  return at >= Date.parse(startedAt ?? '') ? 'created' : 'modified';
}
