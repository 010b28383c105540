import { join } from 'node:path';
import * as v from 'valibot';
import { Fault, nearest, quoted } from '../core/fault.ts';
import { namedPaths } from '../core/fold/last-work.ts';
import type { State, Step } from '../core/fold/state.ts';
import type { Command } from '../core/journal/command.ts';
import type { Artifact, TreeMark } from '../core/journal/event.ts';
import type { Change } from '../core/views/change.ts';
import { planView, type StepView } from '../core/views/plan.ts';
import type { Done } from '../engine/execute.ts';
import { hashArtifact, recordedPath } from '../workspace/files.ts';
import { readTreeMark } from '../workspace/git.ts';
import { isFile } from '../workspace/read.ts';
import type { Context } from './context.ts';
import { shaped } from './operation.ts';

/** Runs a command on the run that is meant. */
export async function act(context: Context, command: Command): Promise<Done & { run: string }> {
  const run = await currentRun(context);
  const engine = await context.engine();
  const done = await engine.execute(run, command, context.identity);
  await followUp(context, done);
  return { run, ...done };
}

/** The files that tell of what was recorded. What they need is loaded when it is needed: few commands write any. */
export async function followUp(context: Context, { events, state }: Done): Promise<void> {
  if (events.some((event) => event.type === 'snapshot.taken')) {
    const { saveSnapshots } = await import('./snapshot/parts/file.ts');
    saveSnapshots(context, events);
  }
  if (state.mirrors.size > 0 && events.length > 0) {
    const { keepMirrors } = await import('./files/parts/mirrors.ts');
    await keepMirrors(context, state);
  }
}

/** One of several commands that an operation gives: each is recorded under a key of its own. */
export function actPart(context: Context, part: string, command: Command): Promise<Done & { run: string }> {
  const { key } = context.identity;
  return act({ ...context, identity: { ...context.identity, key: key === null ? null : `${key}:${part}` } }, command);
}

/** The folded state of the run that is meant. */
export async function currentState(context: Context, at?: number): Promise<State> {
  const run = await currentRun(context);
  const engine = await context.engine();
  return engine.load(run, at);
}

/** The run that was named; else the session's; else the only active one; else the only one that is not put away. */
export async function currentRun(context: Context): Promise<string> {
  const engine = await context.engine();
  const workspace = context.workspace()?.id;
  const mine = workspace === undefined ? {} : { workspace };
  if (context.run !== undefined) {
    const [named] = await engine.heads({ run: context.run });
    if (named) return named.run;
    const heads = await engine.heads(mine);
    throw new Fault('not_found', `There is no run ${quoted(context.run)}.`, {
      hints: [
        ...nearest(
          context.run,
          heads.map((head) => head.run),
        ).map((name) => `Did you mean \`${name}\`?`),
        'See the runs with `holdfast runs`.',
      ],
      data: { run: context.run },
    });
  }
  const active = await engine.heads({ ...mine, status: 'active', limit: 50 });
  const candidates = active.length > 0 ? active : await engine.heads({ ...mine, status: 'completed', limit: 50 });
  const [first, second] = candidates;
  if (first && !second) return first.run;
  if (!first) {
    throw new Fault('not_found', 'There is no run in this workspace that is not put away.', {
      hints: ['Open one with `holdfast init --title … --plan FILE`; `holdfast runs` shows what was archived.'],
    });
  }
  const ofSession: string[] = [];
  if (context.identity.session !== null) {
    for (const { run } of candidates) {
      const found = await engine.recall(run, [context.identity.session]);
      if (found.some((record) => record.kind === 'session')) ofSession.push(run);
    }
  }
  if (ofSession.length === 1 && ofSession[0] !== undefined) return ofSession[0];
  const names = candidates.map((head) => head.run);
  throw new Fault(
    'usage',
    `There are ${names.length} runs here: ${names.slice(0, 10).map(quoted).join(', ')}. Say which one is meant.`,
    {
      hints: ['Name it with `--run ID` or `HOLDFAST_RUN`.'],
      data: { runs: candidates.map(({ run, title, status }) => ({ id: run, title, status })) },
    },
  );
}

/** Files as they are now, by their paths as the caller gave them, and those that the sentence on what was built names. */
export async function artifactsOf(
  context: Context,
  paths: readonly string[] | undefined,
  built?: string | undefined,
): Promise<Artifact[] | undefined> {
  if ((!paths || paths.length === 0) && !built) return undefined;
  const tree = context.workspace()?.tree ?? context.dir;
  const given = (paths ?? []).map((path) => recordedPath(tree, context.dir, path));
  const named = built ? filesNamed(tree, context.dir, built) : [];
  const artifacts = await Promise.all([...new Set([...given, ...named])].map((path) => hashArtifact(tree, path)));
  return artifacts.length > 0 ? artifacts : undefined;
}

/** What was built is tied to the files its sentence names, as far as there are such files: it may speak of removed ones. */
function filesNamed(tree: string, dir: string, built: string): string[] {
  return namedPaths(built).flatMap((path) => {
    try {
      const from = isFile(join(tree, path)) ? tree : dir;
      return isFile(join(from, path)) ? [recordedPath(tree, from, path)] : [];
    } catch {
      // It leads out of the workspace.
      return [];
    }
  });
}

export function treeMark(context: Context): TreeMark | undefined {
  return readTreeMark(context.workspace()?.tree ?? context.dir);
}

/** A step with what follows from the rest of the plan. */
export type StepNow = Step & Pick<StepView, 'interrupted' | 'blocked' | 'stale'>;

/** What every command on a step answers. */
export const StepOutcome = v.object({
  step: shaped<StepNow>({ key: v.string(), title: v.string(), status: v.string() }),
  run: v.string(),
  session: v.nullable(v.string()),
  version: v.number(),
});
export type StepOutcome = v.InferOutput<typeof StepOutcome>;

export function stepOutcome(done: Done & { run: string }, key: string): { data: StepOutcome; changed: Change[] } {
  const view = planView(done.state).byKey.get(key);
  if (!view) throw new Fault('internal', `Step ${quoted(key)} is gone.`);
  const { step, status, interrupted, blocked, stale } = view;
  return {
    data: {
      step: { ...step, status, interrupted, blocked, stale },
      run: done.run,
      session: done.session,
      version: done.state.version,
    },
    changed: done.changed,
  };
}

/** The key of the step that an event of the batch is about: the caller may have left it out. */
export function stepInEvents(done: Done, fallback: string | undefined): string {
  for (const event of [...done.events].reverse()) {
    if (event.type.startsWith('step.') && 'step' in event.body) return event.body.step as string;
  }
  if (fallback !== undefined) return fallback;
  throw new Fault('internal', 'No step was touched.');
}

/** The id of what a command made. */
export function idInEvents(done: Done): string | null {
  for (const event of [...done.events].reverse()) if ('id' in event.body) return event.body.id;
  return null;
}
