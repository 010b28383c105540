import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import type { PlannedStep } from '../core/command.ts';
import { Fault, quoted } from '../core/fault.ts';
import { ActorName, isName, Sentence, Text } from '../core/text.ts';
import type { Engine } from '../engine/engine.ts';
import { hashArtifact, recordedPath } from '../workspace/files.ts';
import type { Context } from './context.ts';
import { defineOperation, described } from './operation.ts';
import { readPlanFile } from './plan-import.ts';
import { writeResumeFile } from './resume-file.ts';

const RunId = v.pipe(
  v.string(),
  v.check(
    (text) => isName(text, '._-', 96),
    'must be letters, digits, dots, dashes or underscores, at most 96 of them',
  ),
);

export const init = defineOperation({
  name: 'init',
  summary: 'Create .holdfast/ here and open a run.',
  scope: 'write',
  flags: { approvedBy: 'approved-by' },
  examples: ['holdfast init --title "User authentication" --plan plan.md'],
  input: v.object({
    title: v.optional(described(Sentence, 'What the work is called.')),
    id: v.optional(described(RunId, 'The id of the run; made from the date and the title when left out.')),
    goal: v.optional(described(Text, 'What it is for, in the words of the one who asked.')),
    design: v.optional(described(v.string(), 'The design document.')),
    approvedBy: v.optional(described(ActorName, 'Who approved the design document.')),
    plan: v.optional(described(v.string(), 'A plan file (YAML or Markdown).')),
  }),
  output: v.object({
    run: v.looseObject({ id: v.string(), title: v.string(), status: v.string() }),
    workspace: v.string(),
    steps: v.number(),
    version: v.number(),
  }),
  async run(context, input) {
    // The plan is read before anything is made: a plan that cannot be read leaves nothing behind.
    const steps: PlannedStep[] = input.plan === undefined ? [] : await readPlanFile(context, input.plan);
    const workspace = context.createWorkspace();
    const engine = await context.engine();
    const title = input.title ?? input.id ?? workspace.root.split(/[\\/]/).at(-1) ?? 'work';
    const named = async (path: string) => hashArtifact(workspace.tree, recordedPath(workspace.tree, context.dir, path));
    const plan = input.plan === undefined ? undefined : await named(input.plan);
    const design =
      input.design === undefined ? undefined : { path: (await named(input.design)).path, approvedBy: input.approvedBy };
    if (input.design !== undefined) mustBeReadable(context, input.design);
    const run = await openRun(engine, context, input.id, title, {
      goal: input.goal,
      design,
      plan: plan && { path: plan.path, sha256: plan.sha256 },
      workspace: workspace.id,
    });
    const planned =
      steps.length > 0
        ? await engine.execute(run, { type: 'plan.add', steps }, { ...context.caller, key: null })
        : null;
    const state = planned?.state ?? (await engine.load(run));
    await writeResumeFile(context, state);
    return {
      data: {
        run: { ...state.run, id: run, title, status: 'active' },
        workspace: workspace.root,
        steps: state.steps.size,
        version: state.version,
      },
      changed: [{ path: `run.${run}`, before: null, after: 'active' }],
    };
  },
  say: ({ run, workspace, steps }, pen) =>
    [
      `Opened run ${pen.bold(run.id)} in ${workspace}${steps > 0 ? ` with ${steps} steps` : ''}.`,
      steps > 0
        ? `Next: ${pen.bold('holdfast status')} shows the plan, ${pen.bold('holdfast start KEY')} takes a step.`
        : `Next: ${pen.bold('holdfast plan add KEY TITLE')} adds a step, ${pen.bold('holdfast plan import FILE')} many.`,
    ].join('\n'),
});

function mustBeReadable(context: Context, path: string): void {
  try {
    readFileSync(resolve(context.dir, path));
  } catch (thrown) {
    throw new Fault('not_found', `The file ${quoted(path)} cannot be read: ${(thrown as Error).message}.`, {
      hints: ['Paths are meant from the folder you are in, or from `--dir`.'],
    });
  }
}

interface RunDetails {
  workspace: string;
  goal?: string | undefined;
  design?: { path: string; approvedBy?: string | undefined } | undefined;
  plan?: { path: string; sha256?: string | null | undefined } | undefined;
}

/** An id that was given is taken or refused; one that is made goes on counting until it is free. */
async function openRun(
  engine: Engine,
  context: Context,
  id: string | undefined,
  title: string,
  details: RunDetails,
): Promise<string> {
  const base = id ?? `${engine.now().slice(0, 10)}-${slug(title)}`;
  for (let number = 1; ; number++) {
    const run = number === 1 ? base : `${base}-${number}`;
    try {
      await engine.execute(run, { type: 'run.open', title, ...details }, context.caller);
      return run;
    } catch (thrown) {
      const taken = thrown instanceof Fault && thrown.code === 'illegal';
      if (!taken || id !== undefined || number > 999) throw thrown;
    }
  }
}

function slug(title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  return words.slice(0, 48).replace(/-+$/, '') || 'run';
}
